//! What is large is held by one worker at a time.
//!
//! Every worker may hold its share of memory. A unit that needs more waits until it is the first that
//! is not finished yet, so that all workers together stay within one limit. The first never waits,
//! whatever the others wait for, also where batches are consumed in order.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

/// Whose turn this thread waits for.
#[derive(Clone)]
enum Mine {
    Nothing,
    /// Work of this number.
    Numbered(Arc<MemoryTurns>, usize),
    /// Work in any order, and whether it has the turn.
    Unordered(Arc<OneAtATime>, bool),
}

thread_local! {
    static MINE: RefCell<Mine> = const { RefCell::new(Mine::Nothing) };
}

/// Which pieces of work are finished.
#[derive(Default)]
pub struct MemoryTurns {
    finished: Mutex<Finished>,
    changed: Condvar,
}

#[derive(Default)]
struct Finished {
    /// Everything before is finished.
    first_open: usize,
    /// Finished behind that.
    later: BTreeSet<usize>,
}

/// The same for work that waits for nothing else: any order will do.
#[derive(Default)]
pub struct OneAtATime {
    taken: Mutex<bool>,
    free: Condvar,
}

impl OneAtATime {
    /// Work on this thread, which gives its turn back when it is done, however it ends.
    pub fn with<T>(self: &Arc<Self>, work: impl FnOnce() -> T) -> T {
        MINE.set(Mine::Unordered(Arc::clone(self), false));
        let _gives_back = GivesBack;
        work()
    }

    fn lock(&self) -> MutexGuard<'_, bool> {
        self.taken.lock().unwrap_or_else(|e| e.into_inner())
    }
}

struct GivesBack;

impl Drop for GivesBack {
    fn drop(&mut self) {
        if let Mine::Unordered(turns, true) = MINE.replace(Mine::Nothing) {
            *turns.lock() = false;
            turns.free.notify_one();
        }
    }
}

impl MemoryTurns {
    /// Work number `number`, on this thread; it is finished when `work` is, however it ends.
    pub fn with<T>(self: &Arc<Self>, number: usize, work: impl FnOnce() -> T) -> T {
        MINE.set(Mine::Numbered(Arc::clone(self), number));
        let _finishes = Finishes { turns: self, number };
        work()
    }

    /// Notes that a piece of work is finished, or will not be done.
    pub fn finish(&self, number: usize) {
        let mut finished = self.lock();
        finished.later.insert(number);
        while let first = finished.first_open
            && finished.later.remove(&first)
        {
            finished.first_open += 1;
        }
        drop(finished);
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Finished> {
        self.finished.lock().unwrap_or_else(|e| e.into_inner())
    }
}

struct Finishes<'a> {
    turns: &'a MemoryTurns,
    number: usize,
}

impl Drop for Finishes<'_> {
    fn drop(&mut self) {
        MINE.set(Mine::Nothing);
        self.turns.finish(self.number);
    }
}

/// Waits until the work of this thread may hold more than its share.
pub fn wait_for_memory() {
    match MINE.with_borrow(Clone::clone) {
        Mine::Numbered(turns, number) => {
            let mut finished = turns.lock();
            while finished.first_open < number {
                finished = turns.changed.wait(finished).unwrap_or_else(|e| e.into_inner());
            }
        }
        Mine::Unordered(turns, false) => {
            let mut taken = turns.lock();
            while *taken {
                taken = turns.free.wait(taken).unwrap_or_else(|e| e.into_inner());
            }
            *taken = true;
            drop(taken);
            MINE.set(Mine::Unordered(turns, true));
        }
        Mine::Unordered(_, true) | Mine::Nothing => {}
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn large_work_is_done_one_at_a_time_and_in_order() {
        let (turns, next) = (Arc::new(MemoryTurns::default()), AtomicUsize::new(0));
        let (large, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let order = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        if number >= 40 {
                            return;
                        }
                        turns.with(number, || {
                            // Every third is large.
                            if number % 3 == 0 {
                                wait_for_memory();
                                most.fetch_max(large.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                                order.lock().unwrap_or_else(|e| e.into_inner()).push(number);
                                std::thread::yield_now();
                                large.fetch_sub(1, Ordering::SeqCst);
                            }
                        });
                    }
                });
            }
        });
        assert_eq!(most.into_inner(), 1);
        let order = order.into_inner().unwrap_or_else(|e| e.into_inner());
        assert_eq!(order, (0..40).step_by(3).collect::<Vec<_>>());
    }

    #[test]
    fn large_work_in_any_order_is_done_one_at_a_time() {
        let turns = Arc::new(OneAtATime::default());
        let (large, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    turns.with(|| {
                        wait_for_memory();
                        wait_for_memory();
                        most.fetch_max(large.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        std::thread::yield_now();
                        large.fetch_sub(1, Ordering::SeqCst);
                    });
                });
            }
        });
        assert_eq!(most.into_inner(), 1);
    }

    #[test]
    fn work_that_panics_is_finished_and_work_of_no_scan_never_waits() {
        let turns = Arc::new(MemoryTurns::default());
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            turns.with(0, || std::panic::resume_unwind(Box::new("a defect")))
        }));
        assert!(panicked.is_err());
        turns.with(1, wait_for_memory);
        wait_for_memory();
    }
}
