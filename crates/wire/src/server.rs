//! A server: the doors that are open, and their end.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use isonomy_sql::Engine;

use crate::clients::Counts;
use crate::config::Config;
use crate::door::Door;
use crate::http::Http;
use crate::mysql::Mysql;
use crate::postgres::Postgres;

/// How long the end waits for statements that are under way.
const PATIENCE: Duration = Duration::from_secs(5);

/// A running server. It stops when it is dropped.
#[derive(Debug)]
pub struct Server {
    postgres: Option<Door>,
    mysql: Option<Door>,
    http: Option<Http>,
}

/// Where a server listens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addresses {
    /// For clients of PostgreSQL.
    pub postgres: Option<SocketAddr>,
    /// For clients of MySQL.
    pub mysql: Option<SocketAddr>,
    /// For HTTP.
    pub http: Option<SocketAddr>,
}

/// Why a server cannot start.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen at {address}: {source}")]
pub struct StartError {
    /// Where it should have listened.
    pub address: SocketAddr,
    /// What the system says.
    #[source]
    pub source: io::Error,
}

impl Server {
    /// Starts to listen, wherever it is asked for.
    pub fn start(engine: Engine, config: &Config) -> Result<Self, StartError> {
        let limit = config.limits.connections;
        let open = |address: Option<SocketAddr>, door: &dyn Fn(SocketAddr) -> io::Result<Door>| {
            address.map(|address| door(address).map_err(|source| StartError { address, source })).transpose()
        };
        let postgres = open(config.postgres, &|address| {
            Door::open(address, limit, Postgres::new(engine.clone(), config.password.as_ref(), config.limits))
        })?;
        let mysql = open(config.mysql, &|address| {
            Door::open(address, limit, Mysql::new(engine.clone(), config.password.clone(), config.limits))
        })?;
        let http = config
            .http
            .map(|address| Http::open(address, &engine, config).map_err(|source| StartError { address, source }))
            .transpose()?;
        Ok(Server { postgres, mysql, http })
    }

    /// Where it listens.
    pub fn addresses(&self) -> Addresses {
        Addresses {
            postgres: self.postgres.as_ref().map(Door::address),
            mysql: self.mysql.as_ref().map(Door::address),
            http: self.http.as_ref().map(Http::address),
        }
    }

    /// How many clients there are and were, of all protocols together.
    pub fn counts(&self) -> Counts {
        let doors = [&self.postgres, &self.mysql].into_iter().flatten().map(|door| door.clients().counts());
        let all = doors.chain(self.http.as_ref().map(Http::counts));
        all.fold(Counts::default(), |sum, one| Counts {
            open: sum.open + one.open,
            total: sum.total + one.total,
            refused: sum.refused + one.refused,
        })
    }

    /// Ends all connections and stops to listen. Transactions that are open are rolled back.
    pub fn stop(&mut self) {
        for door in [&mut self.postgres, &mut self.mysql].into_iter().flatten() {
            door.close(PATIENCE);
        }
        if let Some(http) = &mut self.http {
            http.close(PATIENCE);
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}
