//! A server: what it holds, and its end.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tempfile::TempDir;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Semaphore;
use tokio::time::sleep;

use crate::config::Config;
use crate::gate::Gate;
use crate::jobs::Jobs;
use crate::library::Library;
use crate::routes;
use crate::shelf::Shelf;
use crate::upload::Uploads;

/// How long the end waits for answers that are under way.
const PATIENCE: Duration = Duration::from_secs(2);

/// How long a client may take for the head of a request.
const HEAD: Duration = Duration::from_secs(30);

/// What all requests share.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) config: Config,
    pub(crate) gate: Gate,
    pub(crate) library: Library,
    pub(crate) shelf: Shelf,
    pub(crate) jobs: Jobs,
    pub(crate) uploads: Uploads,
    /// Removed at the end, with all uploads and all that jobs left.
    _home: TempDir,
}

/// A running server. It stops when it is dropped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    runtime: Option<Runtime>,
    app: Arc<App>,
}

/// Why a server did not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The address is taken, or not ours.
    #[error("{address}: {source}")]
    Listen {
        /// Where it was to listen.
        address: SocketAddr,
        /// Why it cannot.
        source: io::Error,
    },
    /// An address that other machines reach, without a token.
    #[error("other machines could reach {0}, and there is no token that they would have to know")]
    NoToken(SocketAddr),
    /// There is no place for uploads and results, or there are no threads.
    #[error("{0}")]
    Io(#[from] io::Error),
}

impl Server {
    /// Starts to serve.
    pub fn start(config: Config) -> Result<Self, StartError> {
        if !config.address.ip().is_loopback() && config.token.is_none() {
            return Err(StartError::NoToken(config.address));
        }
        let listen = |source| StartError::Listen { address: config.address, source };
        let listener = std::net::TcpListener::bind(config.address).map_err(listen)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let home = tempfile::Builder::new().prefix("isonomy-serve-").tempdir()?;
        let (uploads, jobs) = (home.path().join("uploads"), home.path().join("jobs"));
        std::fs::create_dir(&uploads)?;
        std::fs::create_dir(&jobs)?;
        let limits = config.limits;
        let folders = config.folders.iter().chain([&config.runs, &uploads]).cloned().collect();
        let app = Arc::new(App {
            gate: Gate::new(config.token.clone(), address.ip()),
            library: Library::new(folders, limits.listed),
            shelf: Shelf::new(limits),
            jobs: Jobs::new(config.program.clone(), jobs, limits),
            uploads: Uploads::new(uploads, limits),
            _home: home,
            config,
        });
        let runtime = Builder::new_multi_thread().worker_threads(2).thread_name("web").enable_all().build()?;
        let listener = {
            let _inside = runtime.enter();
            TcpListener::from_std(listener)?
        };
        runtime.spawn(accept(listener, routes::router(Arc::clone(&app)), limits.connections));
        Ok(Server { address, runtime: Some(runtime), app })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Ends all jobs and connections.
    pub fn stop(&mut self) {
        let Some(runtime) = self.runtime.take() else { return };
        self.app.jobs.close();
        runtime.shutdown_timeout(PATIENCE);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Lets clients in; more than the limit wait until others leave.
async fn accept(listener: TcpListener, router: Router, connections: usize) {
    let places = Arc::new(Semaphore::new(connections.clamp(1, Semaphore::MAX_PERMITS)));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((socket, _)) => {
                let router = router.clone();
                tokio::spawn(async move {
                    serve(socket, router).await;
                    drop(place);
                });
            }
            // No more files may be open, as a rule: that passes when clients leave.
            Err(_) => sleep(Duration::from_millis(10)).await,
        }
    }
}

/// Answers the requests of a connection.
async fn serve(socket: TcpStream, router: Router) {
    let _ = socket.set_nodelay(true);
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEAD);
    // A client that went away, or that speaks another protocol, is no news.
    let _ = builder.serve_connection(TokioIo::new(socket), TowerToHyperService::new(router)).await;
}
