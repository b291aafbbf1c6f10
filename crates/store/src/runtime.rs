//! One thread that waits for the network; everyone else blocks on what it brings.

use std::future::Future;
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, sync_channel};

use tokio::runtime::{Builder, Handle};
use tokio::task::AbortHandle;

use stapo_base::error::{Error, Result};

fn handle() -> Result<&'static Handle> {
    static HANDLE: OnceLock<Option<Handle>> = OnceLock::new();
    let started = HANDLE.get_or_init(|| {
        let runtime = Builder::new_current_thread().enable_all().build().ok()?;
        let handle = runtime.handle().clone();
        let wait = move || runtime.block_on(std::future::pending::<()>());
        std::thread::Builder::new().name("remote".into()).spawn(wait).ok()?;
        Some(handle)
    });
    started.as_ref().ok_or_else(|| Error::Internal { message: "no thread for the network".into() })
}

/// Something under way; dropped, it is given up.
pub struct Pending<T> {
    receiver: Receiver<T>,
    task: AbortHandle,
}

/// Begins something.
pub fn start<F>(future: F) -> Result<Pending<F::Output>>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let (sender, receiver) = sync_channel(1);
    let task = handle()?.spawn(async move {
        // A receiver that is gone does not want it any more.
        let _ = sender.send(future.await);
    });
    Ok(Pending { receiver, task: task.abort_handle() })
}

/// Does something and waits for it.
pub fn block<F, T>(future: F) -> Result<T>
where
    F: Future<Output = Result<T>> + Send + 'static,
    T: Send + 'static,
{
    start(future)?.wait()?
}

impl<T> Pending<T> {
    /// Waits for it.
    pub fn wait(self) -> Result<T> {
        let gone = |_| Error::Internal { message: "the thread of the network is gone".into() };
        self.receiver.recv().map_err(gone)
    }
}

impl<T> Drop for Pending<T> {
    fn drop(&mut self) {
        self.task.abort();
    }
}
