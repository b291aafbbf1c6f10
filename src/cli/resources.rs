//! What the program may take of the machine: threads, and memory where the shell limits it.

use super::args::{Cli, Command};
use crate::cli::args::ReadingArgs;
use crate::cli::args::{CollectArgs, MergeArgs};
use stapo_batch::limits::Limits;

/// A thread of work takes this much of the address space: its stack and its part of the heap.
const THREAD_BYTES: u64 = 96 << 20;
/// Threads beyond any machine's cores wait for each other: 2,000 on two cores do not end.
const MOST_THREADS: usize = 256;

/// Keeps to `--threads` and to `ulimit -v`, everywhere in the program.
pub fn keep_to_limits(cli: &mut Cli) {
    if let Some(Command::Collect(CollectArgs { threads, .. }) | Command::Merge(MergeArgs { threads, .. })) =
        cli.command
    {
        return bind_threads(threads);
    }
    let Some(reading) = reading(cli) else { return };
    if let Some(left) = address_space_left() {
        let fit = usize::try_from(left / 2 / THREAD_BYTES).unwrap_or(usize::MAX).max(1);
        let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
        reading.threads = if reading.threads == 0 { cores } else { reading.threads }.min(fit);
        let usual = Limits::DEFAULT + Limits::SHARE * reading.threads as u64;
        if usual > left / 2 || reading.max_memory.is_some() {
            reading.max_memory = Some(reading.max_memory.unwrap_or(usual).min(left / 2));
        }
    }
    bind_threads(reading.threads);
}

/// Keeps the pool that all parallel work shares to a number of threads; 0 is one a core.
pub fn bind_threads(threads: usize) {
    if threads > 0 {
        // Fails only where the pool is in use already, which it is not before the command starts.
        let _ = rayon::ThreadPoolBuilder::new().num_threads(threads.min(MOST_THREADS)).build_global();
    }
}

fn reading(cli: &mut Cli) -> Option<&mut ReadingArgs> {
    match &mut cli.command {
        None => Some(&mut cli.analyze.input.reading),
        Some(Command::Check(arguments)) => Some(&mut arguments.input.reading),
        Some(Command::Compare(arguments)) => Some(&mut arguments.reading),
        Some(Command::Convert(arguments)) => Some(&mut arguments.input.reading),
        #[cfg(feature = "replay")]
        Some(Command::Replay(arguments)) => Some(&mut arguments.input.reading),
        Some(Command::Show(arguments)) => Some(&mut arguments.input.reading),
        Some(Command::Watch(arguments)) => Some(&mut arguments.input.reading),
        Some(Command::Plan(arguments)) => Some(&mut arguments.input.reading),
        #[cfg(feature = "replay")]
        Some(Command::Devices) => None,
        Some(
            Command::Demo(_)
            | Command::Explain(_)
            | Command::Completions(_)
            | Command::Man(_)
            | Command::Collect(_)
            | Command::Merge(_),
        ) => None,
    }
}

/// Bytes that may still be asked for where the shell limits them (`ulimit -v`).
fn address_space_left() -> Option<u64> {
    let limits = std::fs::read_to_string("/proc/self/limits").ok()?;
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    left(&limits, &status)
}

fn left(limits: &str, status: &str) -> Option<u64> {
    let limit = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    let limit: u64 = limit.split_whitespace().next()?.parse().ok()?;
    let used = status.lines().find_map(|line| line.strip_prefix("VmSize:"))?;
    let used: u64 = used.split_whitespace().next()?.parse().ok()?;
    Some(limit.saturating_sub(used * 1024))
}

#[cfg(test)]
mod tests {
    use super::left;

    #[test]
    fn what_is_left_of_the_address_space() {
        let status = "Name:\tx\nVmSize:\t  1000 kB\n";
        let limits = "Max open files  1024 4096 files\nMax address space         2048000  unlimited  bytes\n";
        assert_eq!(left(limits, status), Some(1_024_000));
        assert_eq!(left("Max address space  unlimited  unlimited  bytes\n", status), None);
    }
}
