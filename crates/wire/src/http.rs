//! Keys and values over HTTP/1.1 with JSON.
//!
//! | request | body | answer |
//! | --- | --- | --- |
//! | `POST /sessions` | | `{"session":"…"}` |
//! | `DELETE /sessions/{id}` | | `{}` |
//! | `POST /sessions/{id}/begin` | none, or `{"level":"causal","choice":"latest"}` | `{}` |
//! | `POST /sessions/{id}/read` | `{"key":"x"}` | `{"value":3}` |
//! | `POST /sessions/{id}/write` | `{"key":"x","value":3}`; `null` deletes | `{}` |
//! | `POST /sessions/{id}/commit`, `…/rollback` | | `{}` |
//! | `POST /transactions` | `{"session":"…","operations":[["read","x"],["write","y",3]]}` | `{"values":[2,null]}` |
//! | `POST /settle` | | `{}` |
//! | `GET /history` | | what happened so far, as jsonl |
//!
//! Reads and writes outside of a transaction are one of their own. Keys live in the same store as the tables of SQL, under `kv/`, and values
//! are kept as the text of the JSON that came, to the letter.
//!
//! Errors are `{"error":"…"}`: 400 for what cannot be understood, 401 without the password, 404, 405, 409 if the transaction could not go on
//! and may be tried again, 413 for what is too large, 423 while another request of the session is under way, 503 if it was not the
//! transaction's turn in time, or if there are too many sessions.
//!
//! Nobody can tell whether the client of a session is still there. So a transaction that is left alone for too long is rolled back, and
//! a session that is left alone for longer is removed.

mod problem;
mod requests;
mod routes;
mod sessions;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use isonomy_sql::Engine;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Semaphore;
use tokio::time::sleep;

use crate::clients::Counts;
use crate::config::{Config, Limits};
use crate::door;
use sessions::Sessions;

/// The server's side: a runtime with its tasks.
#[derive(Debug)]
pub(crate) struct Http {
    address: SocketAddr,
    runtime: Option<Runtime>,
    sessions: Arc<Sessions>,
}

impl Http {
    pub(crate) fn open(address: SocketAddr, engine: &Engine, config: &Config) -> io::Result<Self> {
        let limits = config.limits;
        let listener = std::net::TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        // Requests wait for the turn of their transaction in threads; there may be one for each connection.
        let runtime = Builder::new_multi_thread()
            .worker_threads(2)
            .max_blocking_threads(limits.connections.max(1) + 2)
            .thread_name("http")
            .enable_all()
            .build()?;
        let sessions = Arc::new(Sessions::new(engine.store().clone(), limits));
        let router = routes::router(Arc::clone(&sessions), config.password.clone(), limits);
        let listener = {
            let _inside = runtime.enter();
            TcpListener::from_std(listener)?
        };
        runtime.spawn(accept(listener, router, limits));
        runtime.spawn(sweep(Arc::clone(&sessions), limits));
        Ok(Http { address, runtime: Some(runtime), sessions })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn counts(&self) -> Counts {
        self.sessions.counts()
    }

    /// Ends all sessions and connections.
    pub(crate) fn close(&mut self, patience: Duration) {
        let Some(runtime) = self.runtime.take() else { return };
        self.sessions.close();
        runtime.shutdown_timeout(patience);
    }
}

/// Lets clients in; more than the limit wait until others leave.
async fn accept(listener: TcpListener, router: Router, limits: Limits) {
    let places = Arc::new(Semaphore::new(limits.connections.clamp(1, Semaphore::MAX_PERMITS)));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((socket, _)) => {
                let router = router.clone();
                tokio::spawn(async move {
                    serve(socket, router, limits).await;
                    drop(place);
                });
            }
            // No more files may be open, as a rule: that passes when clients leave.
            Err(_) => sleep(Duration::from_millis(10)).await,
        }
    }
}

/// Answers the requests of a connection.
async fn serve(socket: TcpStream, router: Router, limits: Limits) {
    if door::prepare(&socket).is_err() {
        return;
    }
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(limits.handshake);
    // A client that went away, or that speaks another protocol, is no news.
    let _ = builder.serve_connection(TokioIo::new(socket), TowerToHyperService::new(router)).await;
}

/// Looks for sessions that are left alone.
async fn sweep(sessions: Arc<Sessions>, limits: Limits) {
    let beat = (limits.abandoned.min(limits.forgotten) / 4).clamp(Duration::from_millis(10), Duration::from_secs(1));
    loop {
        sleep(beat).await;
        // Giving a transaction up takes the store's lock, for which others may have to wait.
        let sessions = Arc::clone(&sessions);
        let _ = tokio::task::spawn_blocking(move || sessions.sweep()).await;
    }
}
