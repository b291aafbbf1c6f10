//! Replay training: logged rollouts through a real model, with and without silencing.

pub mod device;
pub mod model;
