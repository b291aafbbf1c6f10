//! What is left of a scan is shared: a worker without a unit of its own takes batches from those that still decode.

use std::sync::{Condvar, Mutex, MutexGuard};

/// Batches on their way from workers that decode to workers that have nothing left to decode.
pub struct Handover<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

struct State<T> {
    /// Workers that may still offer something.
    decoding: usize,
    /// Workers that wait for a batch.
    waiting: usize,
    /// What none of them has taken yet; no more than there are of them.
    offered: Vec<T>,
}

/// Stands for a worker that decodes, until it is dropped, however its work ends.
pub struct Decodes<'a, T>(&'a Handover<T>);

impl<T> Handover<T> {
    /// Between so many workers, each of which stands for itself with [`Handover::decodes`] first.
    pub fn new(workers: usize) -> Self {
        let state = State { decoding: workers, waiting: 0, offered: Vec::new() };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// One of the workers.
    pub fn decodes(&self) -> Decodes<'_, T> {
        Decodes(self)
    }

    /// Gives a batch to a worker that waits for one; returns it where none does.
    pub fn offer(&self, batch: T) -> Option<T> {
        let mut state = self.lock();
        if state.offered.len() >= state.waiting {
            return Some(batch);
        }
        state.offered.push(batch);
        drop(state);
        self.changed.notify_one();
        None
    }

    /// Waits for a batch of another worker; none comes any more when no worker decodes.
    pub fn take(&self) -> Option<T> {
        let mut state = self.lock();
        state.waiting += 1;
        while state.offered.is_empty() && state.decoding > 0 {
            state = self.changed.wait(state).unwrap_or_else(|e| e.into_inner());
        }
        state.waiting -= 1;
        state.offered.pop()
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }
}

impl<T> Drop for Decodes<'_, T> {
    fn drop(&mut self) {
        self.0.lock().decoding -= 1;
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn every_batch_is_taken_once_and_nobody_waits_for_ever() {
        for workers in 1..6 {
            let handover = Handover::new(workers);
            let (kept, taken) = (AtomicUsize::new(0), AtomicUsize::new(0));
            std::thread::scope(|scope| {
                for worker in 0..workers {
                    let (handover, kept, taken) = (&handover, &kept, &taken);
                    scope.spawn(move || {
                        let decodes = handover.decodes();
                        for _ in 0..worker * 100 {
                            if handover.offer(()).is_some() {
                                kept.fetch_add(1, Ordering::Relaxed);
                            }
                            std::thread::yield_now();
                        }
                        drop(decodes);
                        while handover.take().is_some() {
                            taken.fetch_add(1, Ordering::Relaxed);
                        }
                    });
                }
            });
            let offered: usize = (0..workers).map(|worker| worker * 100).sum();
            assert_eq!(kept.into_inner() + taken.into_inner(), offered);
        }
    }

    #[test]
    fn a_worker_that_waits_is_given_what_the_other_decodes() {
        let handover = Handover::new(2);
        std::thread::scope(|scope| {
            let helper = scope.spawn(|| {
                drop(handover.decodes());
                std::iter::from_fn(|| handover.take()).count()
            });
            let decodes = handover.decodes();
            let mut given = 0;
            while given < 3 {
                given += usize::from(handover.offer(()).is_none());
                std::thread::yield_now();
            }
            drop(decodes);
            assert_eq!(helper.join().ok(), Some(3));
        });
    }
}
