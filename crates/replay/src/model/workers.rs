//! Packs side by side on threads. Every worker is a pool of one thread, so that what runs in it (the
//! products of matrices too) stays on it.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use rayon::{ThreadPool, ThreadPoolBuilder};

use stapo_base::error::{Error, Result};

/// Threads that work on packs.
#[derive(Debug)]
pub(super) struct Workers(Vec<ThreadPool>);

impl Workers {
    /// `count` workers of `threads` threads each.
    pub(super) fn new(count: usize, threads: usize) -> Result<Self> {
        let pool = |_| {
            ThreadPoolBuilder::new()
                .num_threads(threads)
                .thread_name(|i| format!("replay-{i}"))
                .build()
                .map_err(|e| Error::Usage {
                    message: format!("cannot start {count} × {threads} threads: {e}"),
                    hint: "give fewer --threads".into(),
                })
        };
        Ok(Self((0..count.max(1)).map(pool).collect::<Result<_>>()?))
    }

    /// How many.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Results of all items, in their order.
    pub(super) fn map<T: Send, R: Send>(&self, items: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
        let ordered = Mutex::new(BTreeMap::new());
        self.for_each(items, |index, item| {
            let result = work(item);
            lock(&ordered).insert(index, result);
        });
        ordered.into_inner().unwrap_or_else(PoisonError::into_inner).into_values().collect()
    }

    /// All results folded in the order of the items, whoever is ready first. At most one result per
    /// worker waits for its turn.
    pub(super) fn fold<T: Send, R: Send>(
        &self,
        items: Vec<T>,
        start: R,
        work: impl Fn(T) -> R + Sync,
        add: impl Fn(&mut R, R) + Sync,
    ) -> R {
        let state = Mutex::new((start, 0usize, BTreeMap::new()));
        self.for_each(items, |index, item| {
            let result = work(item);
            let mut state = lock(&state);
            let (sum, next, waiting) = &mut *state;
            waiting.insert(index, result);
            while let Some(result) = waiting.remove(next) {
                add(sum, result);
                *next += 1;
            }
        });
        state.into_inner().unwrap_or_else(PoisonError::into_inner).0
    }

    fn for_each<T: Send>(&self, items: Vec<T>, work: impl Fn(usize, T) + Sync) {
        let workers = self.0.len().min(items.len());
        let queue = Mutex::new(items.into_iter().enumerate());
        let turn = |pool: &ThreadPool| {
            pool.install(|| {
                loop {
                    let taken = lock(&queue).next();
                    let Some((index, item)) = taken else { break };
                    work(index, item);
                }
            });
        };
        std::thread::scope(|scope| {
            for pool in self.0.iter().take(workers) {
                scope.spawn(|| turn(pool));
            }
        });
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use burn::tensor::{Device, Tensor, TensorData};

    use super::*;

    #[test]
    fn results_come_in_order_from_any_number_of_workers() {
        for count in [1, 2, 5] {
            let workers = Workers::new(count, 1).unwrap();
            let squares = workers.map((0..50u64).collect(), |i| i * i);
            assert_eq!(squares, (0..50).map(|i| i * i).collect::<Vec<_>>());
            // Not commutative: only the order of the items gives this text.
            let text = workers.fold(
                (0..12).collect(),
                String::new(),
                |i: u64| {
                    std::thread::sleep(std::time::Duration::from_millis(12 - i));
                    i.to_string()
                },
                |all, part| all.push_str(&part),
            );
            assert_eq!(text, "01234567891011");
        }
        assert!(Workers::new(2, 1).unwrap().map(Vec::<u8>::new(), |i| i).is_empty());
    }

    /// Large models have all threads work on one pack: the products must not depend on how many.
    #[test]
    fn products_have_the_same_bits_on_any_number_of_threads() {
        let values = |n: usize| (0..n).map(|i| ((i * 7919) % 1013) as f32 / 500.0 - 1.0).collect::<Vec<_>>();
        let matrix = |rows: usize, columns: usize| {
            Tensor::<2>::from_data(TensorData::new(values(rows * columns), [rows, columns]), &Device::flex())
        };
        let product = |threads| {
            let workers = Workers::new(1, threads).unwrap();
            let work = vec![(matrix(317, 523), matrix(523, 411)), (matrix(640, 64), matrix(64, 1024))];
            workers.map(work, |(a, b)| a.matmul(b).into_data())
        };
        assert_eq!(product(1), product(2));
        assert_eq!(product(1), product(3));
    }
}
