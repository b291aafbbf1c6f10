//! The tables of the answers: each is there where the answer is.

use crate::Answers;
use crate::corrections::CorrectionRow;
use crate::groups::{ByOutcome, StepGroupOutcomes};
use crate::offpolicy::{Difference, DifferenceQuantiles};
use crate::slices::SliceRow;
use stapo_base::tables::{Columns, DataFrame};

impl Answers {
    /// The tables of the answers that the log gives, by the names of their files.
    #[must_use]
    pub fn frames(&self) -> Vec<(&'static str, DataFrame)> {
        let frames = [
            ("offpolicy", self.offpolicy_frame()),
            ("corrections", self.corrections_frame()),
            ("groups", self.groups_frame()),
            ("slices", self.slices_frame()),
        ];
        frames.into_iter().filter_map(|(name, frame)| Some((name, frame?))).collect()
    }

    /// A row for each difference of the run, of every step and of every lag.
    #[must_use]
    pub fn offpolicy_frame(&self) -> Option<DataFrame> {
        struct Row<'a> {
            difference: &'static str,
            step: Option<i64>,
            lag: Option<i64>,
            of: &'a Difference,
        }
        let ledger = self.offpolicy.as_ref()?;
        let mut rows = Vec::new();
        let whole = [(None, &ledger.run)];
        let steps = ledger.steps.iter().map(|row| (Some(row.step), &row.differences));
        for (step, of) in whole.into_iter().chain(steps) {
            let all = [("engine", &of.engine), ("update", &of.update), ("total", &of.total)];
            let known = all.into_iter().filter_map(|(difference, of)| Some((difference, of.as_ref()?)));
            rows.extend(known.map(|(difference, of)| Row { difference, step, lag: None, of }));
        }
        rows.extend(ledger.lags.iter().map(|row| Row {
            difference: "engine",
            step: None,
            lag: Some(row.lag),
            of: &row.difference,
        }));
        let mut table = Columns::of(&rows)
            .text("difference", |r| r.difference)
            .int("step", |r| r.step)
            .int("lag", |r| r.lag)
            .count("tokens", |r| r.of.tokens)
            .count("responses", |r| r.of.responses)
            .float("mean", |r| r.of.mean)
            .float("mean_abs", |r| r.of.mean_abs)
            .float("k2", |r| r.of.k2)
            .float("k3", |r| r.of.k3)
            .float("chi2", |r| r.of.chi2)
            .float("ess", |r| r.of.ess)
            .float("outside_0_9_1_1", |r| r.of.outside_0_9_1_1)
            .float("outside_0_5_2", |r| r.of.outside_0_5_2)
            .float("outside_0_2_5", |r| r.of.outside_0_2_5)
            .float("beyond_e20", |r| r.of.beyond_e20);
        for (i, order) in DifferenceQuantiles::ORDERS.into_iter().enumerate() {
            table = table.float(&format!("q{order}"), |r| r.of.quantiles.values()[i]);
        }
        let table = table
            .float("ess_sequence", |r| r.of.ess_sequence)
            .float("chi2_sequence", |r| r.of.chi2_sequence)
            .float("max_abs", |r| r.of.max_abs)
            .float("mean_sequence_sum", |r| r.of.mean_sequence_sum)
            .float("geometric_mean", |r| r.of.geometric_mean)
            .float("verl_chi2", |r| r.of.verl_chi2)
            .float("verl_chi2_sequence", |r| r.of.verl_chi2_sequence);
        Some(table.frame())
    }

    /// A row for each correction over the run and at every step.
    #[must_use]
    pub fn corrections_frame(&self) -> Option<DataFrame> {
        struct Row<'a> {
            of: &'a CorrectionRow,
            step: Option<i64>,
            /// mean_weight, changed, dropped, dropped responses.
            shares: [f64; 4],
            ess: Option<f64>,
        }
        let rules = &self.offpolicy.as_ref()?.corrections;
        let mut rows = Vec::new();
        for of in rules {
            let shares = [of.mean_weight, of.changed_tokens, of.dropped_tokens, of.dropped_responses];
            rows.push(Row { of, step: None, shares, ess: of.ess });
            rows.extend(of.steps.iter().map(|s| Row {
                of,
                step: Some(s.step),
                shares: [s.mean_weight, s.changed_tokens, s.dropped_tokens, s.dropped_responses],
                ess: s.ess,
            }));
        }
        let run = |row: &Row<'_>, value: Option<f64>| value.filter(|_| row.step.is_none());
        let table = Columns::of(&rows)
            .text("rule", |r| &r.of.rule)
            .int("step", |r| r.step)
            .float("mean_weight", |r| r.shares[0])
            .float("ess", |r| r.ess)
            .float("changed_tokens", |r| r.shares[1])
            .float("dropped_tokens", |r| r.shares[2])
            .float("dropped_responses", |r| r.shares[3])
            .float("energy_kept", |r| run(r, r.of.energy_kept))
            .float("spurious_removed", |r| run(r, r.of.spurious_removed))
            .float("overlap_with_s2t", |r| run(r, r.of.overlap_with_s2t));
        (!rules.is_empty()).then(|| table.frame())
    }

    /// A row a step: groups by outcome and pass@k.
    #[must_use]
    pub fn groups_frame(&self) -> Option<DataFrame> {
        type Of<T> = fn(&ByOutcome<T>) -> T;
        fn outcomes<T: Copy>() -> [(&'static str, Of<T>); 5] {
            [
                ("all_right", |o| o.all_right),
                ("all_wrong", |o| o.all_wrong),
                ("mixed", |o| o.mixed),
                ("phantom", |o| o.phantom),
                ("dead", |o| o.dead),
            ]
        }
        let groups = self.groups.as_ref()?;
        let mut table = Columns::of(&groups.steps)
            .int("step", |r: &StepGroupOutcomes| r.step)
            .count("groups", |r| r.groups)
            .float("pass_rate", |r| r.pass_rate);
        for k in groups.pass_at.keys() {
            table = table.float(&format!("pass_at_{k}"), |r| r.pass_at.get(k).copied());
        }
        for (name, of) in outcomes::<u64>() {
            table = table.count(name, |r| of(&r.counts));
        }
        for (name, of) in outcomes::<f64>() {
            table = table
                .float(&format!("token_share_{name}"), |r| of(&r.token_share))
                .float(&format!("energy_share_{name}"), |r| r.energy_share.as_ref().map(of));
        }
        Some(table.frame())
    }

    /// A row for each value of every dimension.
    #[must_use]
    pub fn slices_frame(&self) -> Option<DataFrame> {
        let rows: Vec<(&String, &SliceRow)> =
            self.slices.iter().flat_map(|(name, rows)| rows.iter().map(move |row| (name, row))).collect();
        let end = |interval: Option<[f64; 2]>, i: usize| interval.map(|interval| interval[i]);
        let table = Columns::of(&rows)
            .text("dimension", |r| r.0)
            .text("value", |r| &r.1.value)
            .count("tokens", |r| r.1.tokens)
            .float("token_share", |r| r.1.token_share)
            .float("mean_entropy", |r| r.1.mean_entropy)
            .float("mean_prob", |r| r.1.mean_prob)
            .float("energy_share", |r| r.1.energy_share)
            .float("energy_share_low", |r| end(r.1.energy_share_interval, 0))
            .float("energy_share_high", |r| end(r.1.energy_share_interval, 1))
            .count("spurious", |r| r.1.spurious)
            .float("spurious_share", |r| r.1.spurious_share)
            .float("spurious_share_low", |r| end(r.1.spurious_share_interval, 0))
            .float("spurious_share_high", |r| end(r.1.spurious_share_interval, 1))
            .float("clipped_share", |r| r.1.clipped_share)
            .float("engine_k3", |r| r.1.engine_k3);
        (!rows.is_empty()).then(|| table.frame())
    }
}
