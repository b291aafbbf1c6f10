//! Causes that another one makes doubtful.

use crate::analyze::result::{Cause, CauseCode, Confidence};

/// Where columns are shifted against each other, what holds them against each other tells of the shift.
pub fn doubt_what_is_misaligned(causes: &mut [Cause]) {
    let is_misaligned =
        |cause: &Cause| cause.code == CauseCode::MisalignedLog && cause.confidence == Confidence::Likely;
    if !causes.iter().any(is_misaligned) {
        return;
    }
    for cause in causes.iter_mut().filter(|cause| compares_columns(cause.code)) {
        cause.confidence = Confidence::Possible;
        cause.message = format!("{} (by columns that are misaligned: mend that first)", cause.message);
    }
}

/// Whether a cause is judged by log-probabilities and entropies of the same tokens.
fn compares_columns(code: CauseCode) -> bool {
    match code {
        CauseCode::EntropyOfAnotherPolicy
        | CauseCode::ObservationTrained
        | CauseCode::SamplerTemperature
        | CauseCode::SamplerTruncation
        | CauseCode::StaleSampler
        | CauseCode::LargeUpdates
        | CauseCode::UnboundedRatio
        | CauseCode::PrecisionGap
        | CauseCode::SpuriousTokens => true,
        CauseCode::MisalignedLog
        | CauseCode::AdvantageContradictsReward
        | CauseCode::RewardHacking
        | CauseCode::UninformativeReward
        | CauseCode::NoNegativeSignal
        | CauseCode::NoPositiveSignal
        | CauseCode::PhantomAdvantage
        | CauseCode::Truncation
        | CauseCode::DeadGroups => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cause(code: CauseCode, confidence: Confidence) -> Cause {
        let (message, hint) = ("it is so".into(), String::new());
        Cause { code, confidence, from_step: None, before_step: None, message, hint, evidence: Vec::new() }
    }

    #[test]
    fn a_shifted_log_makes_doubtful_what_compares_its_columns() {
        let told = |misaligned: Confidence| {
            let mut causes = [
                cause(CauseCode::MisalignedLog, misaligned),
                cause(CauseCode::LargeUpdates, Confidence::Likely),
                cause(CauseCode::DeadGroups, Confidence::Likely),
            ];
            doubt_what_is_misaligned(&mut causes);
            let [_, updates, groups] = causes;
            assert_eq!((groups.confidence, groups.message.as_str()), (Confidence::Likely, "it is so"));
            (updates.confidence, updates.message.contains("misaligned"))
        };
        assert_eq!(told(Confidence::Likely), (Confidence::Possible, true));
        assert_eq!(told(Confidence::Possible), (Confidence::Likely, false));
    }
}
