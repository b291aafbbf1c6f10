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
    /// Workers that take what the others offer.
    taking: usize,
    /// What none of them has taken yet; no more than there are of them, so that each finds the next batch when it is done
    /// with its own.
    offered: Vec<T>,
}

/// Stands for a worker that decodes, until it is dropped, however its work ends.
pub struct Decodes<'a, T>(&'a Handover<T>);

impl<T> Handover<T> {
    /// Between so many workers, each of which stands for itself with [`Handover::decodes`] first.
    pub fn new(workers: usize) -> Self {
        let state = State { decoding: workers, taking: 0, offered: Vec::new() };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// One of the workers.
    pub fn decodes(&self) -> Decodes<'_, T> {
        Decodes(self)
    }

    /// Gives a batch to the workers that take some; returns it where they have enough.
    pub fn offer(&self, batch: T) -> Option<T> {
        let mut state = self.lock();
        if state.offered.len() >= state.taking {
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
        while state.offered.is_empty() && state.decoding > 0 {
            state = self.changed.wait(state).unwrap_or_else(|e| e.into_inner());
        }
        state.offered.pop()
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }
}

impl<T> Drop for Decodes<'_, T> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.decoding -= 1;
        state.taking += 1;
        drop(state);
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
    fn the_next_batch_lies_ready_for_a_worker_that_is_not_done_with_its_last() {
        let handover = Handover::new(3);
        assert_eq!(handover.offer(0), Some(0), "all decode");
        let decodes = handover.decodes();
        drop(handover.decodes());
        assert_eq!(handover.offer(1), None, "it may come for it later");
        assert_eq!(handover.offer(2), Some(2), "one for each that takes some");
        drop(handover.decodes());
        assert_eq!(handover.offer(3), None);
        drop(decodes);
        let mut taken: Vec<i32> = std::iter::from_fn(|| handover.take()).collect();
        taken.sort_unstable();
        assert_eq!(taken, [1, 3]);
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
