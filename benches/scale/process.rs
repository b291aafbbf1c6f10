//! Processes of the program, and what they took.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::support;

/// What processes took.
#[derive(Clone, Copy, Default)]
pub struct Cost {
    pub seconds: f64,
    /// Processor time of all together.
    pub processor: f64,
    /// The largest memory of any.
    pub megabytes: f64,
}

impl Cost {
    /// One after another.
    pub fn sum(costs: &[Self]) -> Self {
        Self {
            seconds: costs.iter().map(|cost| cost.seconds).sum(),
            processor: costs.iter().map(|cost| cost.processor).sum(),
            megabytes: costs.iter().map(|cost| cost.megabytes).fold(0.0, f64::max),
        }
    }

    /// The one in the middle by time.
    pub fn median(costs: &[Self]) -> Self {
        let mut costs = costs.to_vec();
        costs.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
        costs[costs.len() / 2]
    }
}

pub fn start(program: &Path, arguments: &[&str]) -> Child {
    Command::new(program).args(arguments).stdout(Stdio::null()).spawn().unwrap()
}

/// Waits for processes that run side by side.
pub fn wait(mut children: Vec<Child>) -> Cost {
    let (began, before, mut peak) = (Instant::now(), support::children_seconds(), 0.0_f64);
    while !children.is_empty() {
        children.retain_mut(|child| {
            let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
            let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default();
            let kilobytes = line.split_whitespace().nth(1).and_then(|kb| kb.parse::<f64>().ok());
            peak = peak.max(kilobytes.unwrap_or(0.0) / 1024.0);
            match child.try_wait().unwrap() {
                None => true,
                Some(status) => {
                    assert!(status.success());
                    false
                }
            }
        });
        std::thread::sleep(Duration::from_millis(2));
    }
    let processor = support::children_seconds() - before;
    Cost { seconds: began.elapsed().as_secs_f64(), processor, megabytes: peak }
}

pub fn run(program: &Path, arguments: &[&str]) -> Cost {
    wait(vec![start(program, arguments)])
}

pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, |n| n.get())
}

/// A folder that is there and empty.
pub fn empty(folder: &Path) -> &Path {
    let _ = std::fs::remove_dir_all(folder);
    std::fs::create_dir_all(folder).unwrap();
    folder
}

pub fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Bytes of the files of a folder whose names end like this.
pub fn bytes_in(folder: &Path, ending: &str) -> f64 {
    let files = std::fs::read_dir(folder).unwrap().flatten();
    let named = files.filter(|file| file.path().extension().is_some_and(|e| e == ending));
    named.map(|file| file.metadata().unwrap().len() as f64).sum()
}

/// Fails where two folders do not hold the same bytes.
pub fn require_same(a: &Path, b: &Path) {
    let names = |folder: &Path| {
        let mut names: Vec<_> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name()).collect();
        names.sort();
        names
    };
    assert_eq!(names(a), names(b));
    for name in names(a) {
        let (a, b) = (a.join(&name), b.join(&name));
        match a.is_dir() {
            true => require_same(&a, &b),
            false => assert!(std::fs::read(&a).unwrap() == std::fs::read(&b).unwrap(), "{}", b.display()),
        }
    }
}
