//! What tests of the server share: a server of its own for each, and clients.

#![allow(dead_code, reason = "each test binary uses what it needs")]

pub(crate) mod raw;

use std::future::Future;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use isonomy_sql::Engine;
use isonomy_store::{Choice, Options, Store, StoreLevel};
use isonomy_wire::{Config, Limits, Password, Server};
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::{Client, NoTls};

/// A server with all protocols, on free ports.
pub(crate) struct Running {
    pub(crate) server: Server,
    pub(crate) engine: Engine,
}

/// How a server for tests behaves: as a good database does.
pub(crate) fn newest() -> Options {
    Options { level: StoreLevel::Serializable, choice: Choice::Newest, ..Options::default() }
}

pub(crate) fn start() -> Running {
    start_with(newest(), Limits::default(), None)
}

pub(crate) fn start_with(options: Options, limits: Limits, password: Option<&str>) -> Running {
    let engine = Engine::new(Store::new(options), isonomy_sql::Options::default());
    let any: SocketAddr = ([127, 0, 0, 1], 0).into();
    let password = password.map(Password::new);
    let config = Config { postgres: Some(any), mysql: Some(any), http: Some(any), password, limits };
    Running { server: Server::start(engine.clone(), &config).expect("there are free ports"), engine }
}

impl Running {
    pub(crate) fn postgres(&self) -> SocketAddr {
        self.server.addresses().postgres.expect("it was asked for")
    }

    pub(crate) fn mysql(&self) -> SocketAddr {
        self.server.addresses().mysql.expect("it was asked for")
    }

    pub(crate) fn http(&self) -> SocketAddr {
        self.server.addresses().http.expect("it was asked for")
    }

    /// Waits until so many clients are connected.
    #[track_caller]
    pub(crate) fn wait_for_clients(&self, number: usize) {
        let end = Instant::now() + Duration::from_secs(20);
        while self.server.counts().open != number {
            assert!(Instant::now() < end, "{:?}, expected {number}", self.server.counts());
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// A client of PostgreSQL for tests that do one thing after the other.
pub(crate) struct Pg {
    pub(crate) client: Client,
    runtime: Runtime,
}

impl Pg {
    pub(crate) fn connect(running: &Running) -> Self {
        Pg::try_connect(&format!("postgres://tester@{}/db", running.postgres())).expect("the server lets it in")
    }

    pub(crate) fn try_connect(url: &str) -> Result<Self, tokio_postgres::Error> {
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime can be had");
        let (client, connection) = runtime.block_on(tokio_postgres::connect(url, NoTls))?;
        runtime.spawn(connection);
        Ok(Pg { client, runtime })
    }

    /// Waits for what the client promises.
    pub(crate) fn wait<T>(&self, answer: impl Future<Output = T>) -> T {
        self.runtime.block_on(answer)
    }

    /// Runs statements without looking at the answers.
    #[track_caller]
    pub(crate) fn run(&self, sql: &str) {
        self.wait(self.client.batch_execute(sql)).unwrap_or_else(|error| panic!("{sql}: {error:?}"));
    }

    /// The SQLSTATE with which statements fail.
    #[track_caller]
    pub(crate) fn fails(&self, sql: &str) -> String {
        let failed = self.wait(self.client.batch_execute(sql));
        failed.expect_err(sql).code().unwrap_or_else(|| panic!("{sql}: the server does not answer")).code().to_owned()
    }

    /// The rows of a query as text.
    #[track_caller]
    pub(crate) fn rows(&self, sql: &str) -> Vec<Vec<Option<String>>> {
        let messages = self.wait(self.client.simple_query(sql)).unwrap_or_else(|error| panic!("{sql}: {error:?}"));
        let row = |message: &tokio_postgres::SimpleQueryMessage| match message {
            tokio_postgres::SimpleQueryMessage::Row(row) => {
                Some((0..row.len()).map(|index| row.get(index).map(str::to_owned)).collect())
            }
            _ => None,
        };
        messages.iter().filter_map(row).collect()
    }
}
