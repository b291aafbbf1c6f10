//! `--threads` binds everything that runs in parallel. Alone in its program: the pool is made once.

#[test]
fn threads_bind_all_parallel_work() {
    stapo_analyze::cli::bind_threads(1);
    assert_eq!(rayon::current_num_threads(), 1);
}
