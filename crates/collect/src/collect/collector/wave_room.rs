//! Room for the responses of a wave.

use super::picked::Picked;
use crate::collect::questions::OpenResponse;

/// Room for the responses of a wave; used again from wave to wave.
#[derive(Default)]
pub struct WaveRoom {
    picked: Vec<Picked>,
    open: Vec<OpenResponse>,
}

impl WaveRoom {
    /// Room for so many responses.
    pub fn of(&mut self, responses: usize) -> (&mut [Picked], &mut [OpenResponse]) {
        if self.picked.len() < responses {
            self.picked.resize_with(responses, Picked::default);
            self.open.resize_with(responses, OpenResponse::default);
        }
        (&mut self.picked[..responses], &mut self.open[..responses])
    }
}
