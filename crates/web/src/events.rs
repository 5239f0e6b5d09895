//! The progress of a job as server-sent events.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::Frame;
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

use crate::jobs::Job;

/// The least time between events, and the most: the clock goes on even if nothing else does, and whoever went away is noticed.
const LEAST: Duration = Duration::from_millis(150);
const MOST: Duration = Duration::from_secs(1);

/// A body of events, which ends when the job does.
pub(crate) fn body(job: Arc<Job>) -> Body {
    let (send, receive) = mpsc::channel(4);
    tokio::spawn(async move {
        let mut news = job.follow();
        loop {
            news.mark_unchanged();
            let progress = job.progress();
            let running = job.is_running();
            let text = serde_json::to_string(&progress).expect("progress has text for keys");
            // Whoever does not listen any more need not be told.
            if send.send(format!("data: {text}\n\n")).await.is_err() || !running {
                return;
            }
            sleep(LEAST).await;
            let _ = timeout(MOST, news.changed()).await;
        }
    });
    Body::new(Events(receive))
}

struct Events(mpsc::Receiver<String>);

impl HttpBody for Events {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(context).map(|text| text.map(|text| Ok(Frame::data(Bytes::from(text)))))
    }
}
