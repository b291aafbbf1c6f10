//! The rules of the literature on a log, held against their definitions computed token by token.

use std::path::{Path, PathBuf};

use stapo_analyze::analyze::AnalyzeSettings;
use stapo_analyze::analyze::result::RuleRow;
use stapo_analyze::framework::rules::{covariance_picks, high_entropy_count};
use stapo_analyze::framework::s2t::S2tSettings;
use stapo_analyze::ingest::{Column, IngestSettings, TokenBatch, read_all};

use super::analyzed;

/// A token of the log, computed here.
struct Token {
    step: i64,
    logprob: f32,
    entropy: f32,
    advantage: f64,
    ratio: f64,
    norm: f64,
}

impl Token {
    /// The base objective's clipping.
    fn clipped(&self) -> bool {
        (self.advantage > 0.0 && self.ratio > 1.28) || (self.advantage < 0.0 && self.ratio < 0.8)
    }

    fn learns(&self) -> bool {
        self.advantage != 0.0 && !self.clipped()
    }

    fn is_candidate(&self) -> bool {
        S2tSettings::v5().rule().is_candidate(self.logprob, self.advantage as f32)
    }
}

fn tokens(path: &Path) -> Vec<Token> {
    let batches = read_all(&[path.to_owned()], &IngestSettings::default()).unwrap();
    let of_batch = |batch: &TokenBatch| {
        let advantages = batch.advantages().unwrap();
        let column = |column| batch.floats(column).unwrap();
        let (logprob, new) = (column(Column::Logprob), column(Column::LogprobNew));
        let (entropy, norm) = (column(Column::Entropy), column(Column::GradNorm));
        let mut all = Vec::new();
        for response in 0..batch.len() {
            for t in batch.range(response) {
                all.push(Token {
                    step: batch.responses.step[response],
                    logprob: logprob[t],
                    entropy: entropy[t],
                    advantage: f64::from(advantages[t]),
                    ratio: (f64::from(new[t]) - f64::from(logprob[t])).exp(),
                    norm: f64::from(norm[t]),
                });
            }
        }
        all
    };
    batches.iter().flat_map(of_batch).collect()
}

fn log() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/repro/clip.parquet")
}

fn row<'a>(rules: &'a [RuleRow], name: &str) -> &'a RuleRow {
    rules.iter().find(|row| row.rule.name() == name).unwrap()
}

fn near(found: f64, expected: f64, what: &str) {
    assert!((found - expected).abs() <= 1e-5 * expected.abs().max(1.0), "{what}: {found}, not {expected}");
}

/// The tokens of each step.
fn steps(tokens: &[Token]) -> Vec<Vec<&Token>> {
    let mut numbers: Vec<i64> = tokens.iter().map(|t| t.step).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers.iter().map(|step| tokens.iter().filter(|t| t.step == *step).collect()).collect()
}

fn covariances(step: &[&Token]) -> Vec<f64> {
    let n = step.len() as f64;
    let mean = |of: fn(&Token) -> f64| step.iter().map(|t| of(t)).sum::<f64>() / n;
    let (advantage, logprob) = (mean(|t| t.advantage), mean(|t| f64::from(t.logprob)));
    step.iter().map(|t| (t.advantage - advantage) * (f64::from(t.logprob) - logprob)).collect()
}

#[test]
fn rules_see_every_trained_token() {
    let all = tokens(&log());
    let clipped = all.iter().filter(|t| t.clipped()).count();
    assert!(clipped > 0 && all.iter().any(|t| t.advantage == 0.0), "the log has what the test needs");
    let found = analyzed(&[log()], &AnalyzeSettings::default());
    assert_eq!(found.totals.clipped, Some(clipped as u64));
    assert!(found.rules.len() >= 10, "{} rules", found.rules.len());
    assert!(found.rules.iter().all(|row| row.exact && row.sampling_error == 0.0));

    // The mask of the run is the late preset's: the same thresholds, also over clipped candidates.
    let silenced = found.s2t.silenced as f64;
    let late = row(&found.rules, "stapo_v5");
    let cut = all.iter().filter(|t| t.is_candidate() && t.clipped()).count() as f64;
    assert!(cut > 0.0, "some candidates are clipped");
    assert!(late.silenced <= silenced && late.silenced >= silenced - cut, "{} of {silenced}", late.silenced);
    near(late.energy_kept.unwrap(), 1.0 - found.s2t.energy_share.unwrap(), "stapo_v5");
    let candidates = all.iter().filter(|t| t.is_candidate() && t.learns()).count() as f64;
    near(row(&found.rules, "fullmask").silenced, candidates, "fullmask");

    // Exactly ⌈0.2 n⌉ of all tokens learn, whatever ties.
    let mut low = 0.0;
    let mut picked = 0.0;
    for step in steps(&all) {
        let keeps = high_entropy_count(step.len());
        let mut entropies: Vec<f32> = step.iter().map(|t| t.entropy).collect();
        entropies.sort_by(|a, b| b.total_cmp(a));
        let cut = entropies[keeps - 1];
        let above = entropies.iter().filter(|h| **h > cut).count() as f64;
        let tied = entropies.iter().filter(|h| **h == cut).count() as f64;
        let kept_of_tied = (keeps as f64 - above) / tied;
        for token in step.iter().filter(|t| t.learns()) {
            low += if token.entropy < cut {
                1.0
            } else if token.entropy == cut {
                1.0 - kept_of_tied
            } else {
                0.0
            };
        }
        // The pool of clip_cov: not clipped, also without advantage.
        let covariances = covariances(&step);
        let eligible = |i: &usize| covariances[*i] > 1.0 && covariances[*i] < 5.0 && !step[*i].clipped();
        let pool: Vec<usize> = (0..step.len()).filter(eligible).collect();
        if !pool.is_empty() {
            let chance = (covariance_picks(step.len()) as f64 / pool.len() as f64).min(1.0);
            picked += chance * pool.iter().filter(|i| step[**i].learns()).count() as f64;
        }
    }
    near(row(&found.rules, "entropy20").silenced, low, "entropy20");
    near(row(&found.rules, "clip_cov").silenced, picked, "clip_cov");

    // Rules that do not clip give clipped tokens a gradient again.
    for name in ["kl_cov", "cispo", "sapo"] {
        assert!(row(&found.rules, name).amplified >= clipped as f64 * 0.99, "{name}");
    }
    let base: f64 = all.iter().filter(|t| t.learns()).map(|t| t.norm * t.norm).sum();
    near(found.totals.gradient_energy / base, 1.0, "the base's energy");
}

/// Where tokens were sampled, no number that rests on the sample is called exact.
#[test]
fn sampled_rows_are_not_called_exact() {
    let mut settings = AnalyzeSettings::default();
    settings.limits.common_tokens = 500;
    let found = analyzed(&[log()], &settings);
    let exact = analyzed(&[log()], &AnalyzeSettings::default());
    assert_eq!(found.rules.len(), exact.rules.len());
    for (sampled, whole) in found.rules.iter().zip(&exact.rules) {
        assert_eq!(sampled.rule, whole.rule);
        let rare_only = ["stapo_v5", "stapo_v1", "fullmask"].contains(&sampled.rule.name());
        assert_eq!(sampled.exact, rare_only, "{}", sampled.rule);
        if rare_only {
            near(sampled.energy_kept.unwrap(), whole.energy_kept.unwrap(), sampled.rule.name());
        }
    }
    settings.limits.common_tokens = 1 << 17;
    settings.limits.idle_tokens = 500;
    let found = analyzed(&[log()], &settings);
    for name in ["clip_cov", "kl_cov"] {
        assert!(!row(&found.rules, name).exact, "{name}");
    }
    assert!(row(&found.rules, "ar").exact);
}
