//! `--threads` binds everything that runs in parallel. The pool is made once a process, so one of its own is asked.

use std::process::Command;

#[test]
fn threads_bind_all_parallel_work() {
    let this = std::env::current_exe().unwrap();
    let asked = Command::new(this)
        .args(["--exact", "threads::in_a_process_of_its_own", "--ignored"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&asked.stdout);
    assert!(asked.status.success() && said.contains("1 passed"), "{said}");
}

#[test]
#[ignore = "the test above runs it"]
fn in_a_process_of_its_own() {
    stapo_analyze::cli::bind_threads(1);
    assert_eq!(rayon::current_num_threads(), 1);
}
