//! How the run stands (`state`, `stood_still`), and the answer in plain words (`sentence`).

pub mod sentence;
pub mod state;
pub mod stood_still;
