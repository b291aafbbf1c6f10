//! What a step of AdamW multiplies with.

/// The numbers of one step of AdamW.
#[derive(Debug, Clone, Copy)]
pub struct AdamRule {
    /// 1 − learning rate · decay.
    pub keep: f32,
    /// 1 − β₁.
    pub gain1: f32,
    /// β₂.
    pub beta2: f32,
    /// 1 − β₂.
    pub gain2: f32,
    /// Learning rate over the first moment's bias correction.
    pub step: f32,
    /// √ of the second moment's bias correction.
    pub root: f32,
    pub eps: f32,
}
