//! From what was collected to what is said: state, causes, signals, warnings and the verdict in plain words.

mod page;
mod sentence;
mod signals;
mod verdict;

pub use page::page;

use crate::warnings;
use crate::{Confidence, Measures, Outcome, Ranked, Spurious, examine_all, state};
use stapo_collect::collect::Collected;
use stapo_collect::plan::Plan;
use stapo_collect::token_text::TokenTexts;
use stapo_ingest::Run;
use stapo_result::{
    Cause, CauseCode, Damage, Diagnosis, Evidence, NotChecked, RewardCourse, RunCore, RunState, SignalName,
};

/// Fills diagnosis, warnings and verdict of an analysis.
pub fn diagnose(run: &Run, plan: &Plan, collected: &Collected, texts: &TokenTexts, analysis: &mut RunCore) {
    let found = &collected.diagnostics;
    let outcome = Outcome::default();
    let at_reference = Measures::new(&found.evidence, &outcome).starts_at_reference();
    let rules = state::Rules::default();
    let judged = state::judge(&found.trained, at_reference, &rules);
    let outcome = Outcome::of(&judged, spurious(analysis));
    let measures = Measures::new(&found.evidence, &outcome);
    let examined = examine_all(&measures);
    let state = shown_state(judged.state(&examined.circumstances(&measures)));
    let framework = run.mappings.iter().find_map(|mapping| mapping.dialect.framework());
    let causes: Vec<Cause> = examined.findings.iter().map(|ranked| cause(ranked, framework)).collect();
    let held_out = state::judge(&found.held_out, false, &rules);
    let (signals, onsets) = signals::signals(plan, &judged, &held_out, analysis);
    let mut diagnosis = Diagnosis {
        state,
        sentence: String::new(),
        reward: judged.gain.map(|gain| RewardCourse {
            start: gain.start,
            best: gain.best,
            end: gain.end,
            floor: gain.floor,
            top: gain.top,
        }),
        damage: damage(&judged),
        causes,
        onsets,
        not_checked: examined
            .not_checked
            .iter()
            .map(|(code, need)| NotChecked { code: CauseCode::new(code.as_str()), needs: need.to_string() })
            .collect(),
        statement: sentence::statement(&judged, found.trained.responses()),
        signals,
    };
    diagnosis.sentence = sentence::sentence(&diagnosis, &judged, analysis, plan);
    analysis.warnings = warnings::warnings(run, plan, collected, texts, (analysis, &diagnosis.causes));
    analysis.verdict = verdict::verdict(analysis, &diagnosis);
    analysis.diagnosis = diagnosis;
}

/// What is known of the mask's tokens, by the claims.
fn spurious(analysis: &RunCore) -> Option<Spurious> {
    let of = &analysis.spurious;
    Some(Spurious {
        rare_for_sampler: of.candidates_rare_for_sampler,
        energy_over_tokens: of.energy_over_tokens?,
        energy: of.energy_share?,
        first_step: of.first_step,
    })
}

fn shown_state(state: state::State) -> RunState {
    match state {
        state::State::NotFinite => RunState::NotFinite,
        state::State::Collapsed => RunState::Collapsed,
        state::State::Damaged => RunState::Damaged,
        state::State::NotLearning => RunState::NotLearning,
        state::State::Suspicious => RunState::Suspicious,
        state::State::Healthy => RunState::Healthy,
        state::State::Undecided => RunState::Undecided,
        state::State::Unknown => RunState::Unknown,
    }
}

/// A finding with its page's advice.
fn cause(ranked: &Ranked, framework: Option<&str>) -> Cause {
    let finding = &ranked.finding;
    let evidence = finding.why.iter().map(|proof| Evidence {
        step: None,
        what: proof.name.clone(),
        value: proof.value,
        healthy: Some(proof.healthy.to_owned()),
    });
    Cause {
        code: CauseCode::new(finding.code.as_str()),
        confidence: match finding.confidence {
            Confidence::Likely => stapo_result::Confidence::Likely,
            Confidence::Possible => stapo_result::Confidence::Possible,
            Confidence::Note => stapo_result::Confidence::Note,
        },
        from_step: finding.onset,
        slice: finding.slice.clone(),
        follows_from: ranked.consequence_of.map(|code| CauseCode::new(code.as_str())),
        message: finding.sentence.clone(),
        hint: page::advice(finding.code, framework),
        evidence: evidence.collect(),
    }
}

/// What was lost, the earliest first; a slice is named where the run as a whole lost nothing of that.
fn damage(judged: &state::Verdict) -> Vec<Damage> {
    let of_all = |series: &str| judged.damage.iter().any(|hit| hit.slice.is_none() && hit.series == series);
    let hits = judged.damage.iter().filter(|hit| hit.slice.is_none() || !of_all(&hit.series));
    let mut damage: Vec<Damage> = hits
        .map(|hit| Damage {
            signal: SignalName::of_series(&hit.series),
            slice: hit.slice.clone(),
            from_step: hit.since,
            before: hit.from,
            after: hit.to,
        })
        .collect();
    damage.sort_by(|a, b| (a.from_step, &a.slice).cmp(&(b.from_step, &b.slice)));
    damage
}
