//! The judge: losses first, then gains.

use super::gain::Gain;
use super::range::{Distribution, Range};
use super::redefined::redefined;
use super::rules::{REWARD, Rules, Z_RISES, is_goal, is_price};
use super::strata::Strata;
use super::sums::{Column, Sums, distinct};
use super::verdict::{Course, Hit, Outcome, Redefined, Verdict};
use stapo_evidence::series::{Form, GroupValues, Observed};

/// Fewest steps, and bins of them, that a loss can be seen in.
const FEWEST: usize = 4;
/// Most slices times steps (128 MB of sums): where there are more, the slices are prompts rather than tasks.
const MOST_CELLS: usize = 1 << 22;

/// Judges a run by its reward and the parts of it. `at_reference` says that π_old is π_ref at the first logged step:
/// such a log holds the start of training, as one does that begins at step 0 or 1.
#[must_use]
pub fn judge(observed: &Observed, at_reference: bool, rules: &Rules) -> Verdict {
    let mut groups: Vec<GroupValues<'_>> = observed.groups().collect();
    let Some(first) = groups.iter().map(|group| group.step).min() else {
        return Verdict::default();
    };
    let steps = distinct(groups.iter().map(|group| group.step)).len();
    let slices = distinct(groups.iter().map(|group| group.slice)).len();
    if slices.saturating_mul(steps) > MOST_CELLS {
        groups.iter_mut().for_each(|group| group.slice = "");
    }
    let run =
        Run { groups, names: observed.names(), form: observed.form(), has_start: first <= 1 || at_reference };
    run.judge(rules)
}

/// The steps of a run that are judged.
struct Run<'a> {
    groups: Vec<GroupValues<'a>>,
    names: &'a [String],
    form: Form,
    has_start: bool,
}

/// A series that is looked at.
struct Series<'a> {
    name: &'a str,
    column: Column<'a>,
    values: Distribution,
    judges: bool,
}

impl<'a> Run<'a> {
    fn judge(&self, rules: &Rules) -> Verdict {
        let series = self.series(rules);
        let Some(reward) = series.iter().find(|series| series.name == REWARD) else {
            return Verdict { courses: self.courses(&series, rules), ..self.nothing() };
        };
        if reward.values.ends().is_none_or(|(low, high)| high - low < 1e-9) {
            return Verdict { courses: self.courses(&series, rules), ..self.nothing() };
        }
        if rules.redefined
            && let Some(step) = self.redefined(reward)
        {
            return self.apart(step, self.courses(&series, rules), rules);
        }
        self.as_one(&series, rules)
    }

    /// Nothing to judge by.
    fn nothing(&self) -> Verdict {
        Verdict {
            looked_at: self.groups.iter().map(|group| u64::from(group.responses)).sum(),
            has_slices: self.slices() > 1,
            has_start: self.has_start,
            ..Verdict::default()
        }
    }

    fn slices(&self) -> usize {
        distinct(self.groups.iter().map(|group| group.slice)).len()
    }

    /// The series with a value, reward first.
    fn series(&self, rules: &Rules) -> Vec<Series<'a>> {
        let mut series: Vec<Series<'a>> = self
            .names
            .iter()
            .enumerate()
            .map(|(at, name)| {
                let column = Column::new(&self.groups, at);
                let values = column.distribution();
                let never_above_0 = values.ends().is_none_or(|(_, high)| high <= 0.0);
                let judges = name == REWARD
                    || !(rules.penalties && (never_above_0 || is_price(name))) && !name.contains("length");
                Series { name, column, values, judges }
            })
            // A part without any value, as of a function that was never applied, is none. (The prototype fails.)
            .filter(|series| series.values.count() > 0)
            .collect();
        series.sort_by_key(|series| series.name != REWARD);
        series
    }

    /// First step of the new reward.
    fn redefined(&self, reward: &Series<'_>) -> Option<i64> {
        // Steps count, those without a reward, too.
        let steps = distinct(self.groups.iter().map(|group| group.step));
        let mut values = reward.column.steps.iter().zip(reward.column.by_step()).peekable();
        let by_step: Vec<Distribution> = steps
            .iter()
            .map(|step| values.next_if(|(at, _)| *at == step).map(|(_, values)| values).unwrap_or_default())
            .collect();
        redefined(&by_step).map(|at| steps[at])
    }

    /// Both sides of a redefinition, each by its own range.
    fn apart(&self, step: i64, courses: Vec<Course>, rules: &Rules) -> Verdict {
        let once = Rules { redefined: false, ..*rules };
        let side = |before: bool| Run {
            groups: self.groups.iter().filter(|group| (group.step < step) == before).copied().collect(),
            has_start: self.has_start && before,
            ..*self
        };
        let (before, after) = (side(true).judge(&once), side(false).judge(&once));
        let outcome = match (before.outcome, after.outcome) {
            (_, after) if after.is_damage() => after,
            (before, _) if before.is_damage() || matches!(before, Outcome::Learned | Outcome::AtItsBest) => {
                before
            }
            (_, Outcome::Learned) => Outcome::Learned,
            _ => Outcome::Undecided,
        };
        let mut damage = after.damage.clone();
        if before.outcome.is_damage() {
            damage.extend(before.damage.iter().cloned());
        }
        Verdict {
            outcome,
            damage,
            soft: after.soft.iter().chain(&before.soft).cloned().collect(),
            gain: after.gain.or(before.gain),
            redefined: Some(Redefined { step, before: Box::new(before), after: Box::new(after) }),
            courses,
            ..self.nothing()
        }
    }

    fn as_one(&self, series: &[Series<'_>], rules: &Rules) -> Verdict {
        let slices = self.slices();
        let judging = series.iter().filter(|series| series.judges).count();
        let each = if slices > 1 || !rules.one_slice_once { 1 + slices } else { 1 };
        let tests = (judging * each) as f64;
        let mut verdict = self.nothing();
        let mut hits = Vec::new();
        for series in series {
            let Some(looked_at) = self.look(series, rules) else {
                continue;
            };
            for (slice, strata, course) in looked_at {
                if series.name == REWARD && slice.is_none() {
                    verdict.gain = Some(course.gain);
                }
                if series.judges
                    && strata.len() >= FEWEST
                    && slice.is_none_or(|_| course.steps.len() >= FEWEST)
                    && let Some(fall) = strata.fall().filter(|fall| fall.is_one(tests))
                {
                    hits.push(Hit {
                        series: series.name.to_string(),
                        slice: slice.map(str::to_string),
                        from: fall.from,
                        from_step: strata.steps[fall.at],
                        to: fall.to,
                        since: strata.steps[fall.since],
                        p: fall.p * tests,
                        to_the_floor: slice.is_none()
                            && fall.to - strata.low < 0.1 * strata.span
                            && fall.from - strata.low > 0.2 * strata.span,
                    });
                }
                verdict.courses.push(course);
            }
        }
        let Some(gain) = verdict.gain else {
            return verdict;
        };
        let rising = gain.lower > 0.1 || gain.z > Z_RISES;
        let is_soft = |hit: &Hit| rules.goals && hit.series != REWARD && !is_goal(&hit.series) && rising;
        (verdict.soft, verdict.damage) = hits.into_iter().partition(is_soft);
        verdict.outcome = outcome(&verdict.damage, &gain, self.has_start, rules);
        verdict
    }

    /// The whole run at its mix, then its slices.
    fn look<'s>(
        &self,
        series: &'s Series<'_>,
        rules: &Rules,
    ) -> Option<Vec<(Option<&'s str>, Strata, Course)>> {
        let range = match self.form {
            Form::Responses => series.values.range(rules.robust_range)?,
            Form::Curve => series.values.range_of_means()?,
        };
        if range.is_empty() {
            return None;
        }
        let sums = Sums::new(&series.column, &range);
        let all: Vec<usize> = (0..sums.values.len()).collect();
        let sd = match self.form {
            Form::Responses => {
                let variance = sums.values.iter().map(Distribution::variance).sum::<f64>() / all.len() as f64;
                Some(variance.max(1e-18).sqrt())
            }
            Form::Curve => None,
        };
        let mut whole = Strata::new(&sums, &all, &range, None, rules);
        let dispersion = whole.pooled_dispersion();
        if rules.pooled_dispersion {
            whole.raise_dispersion(dispersion);
        }
        let course = |slice: Option<(usize, &str)>, strata: &Strata, range: &Range, sd| {
            let slices = slice.map_or_else(|| all.clone(), |(at, _)| vec![at]);
            let logged =
                sums.course(&slices).into_iter().zip(&sums.steps).filter(|(mean, _)| mean.is_finite());
            let (means, steps) = logged.unzip();
            Course {
                series: series.name.to_string(),
                slice: slice.map(|(_, name)| name.to_string()),
                judges: series.judges,
                steps,
                means,
                gain: strata.gain(range.low, range.high, sd),
            }
        };
        let whole_course = course(None, &whole, &range, sd);
        let mut looked_at = vec![(None, whole, whole_course)];
        for &slice in all.iter().filter(|_| all.len() > 1) {
            let Some(range) = sums.values[slice].range(rules.robust_range).filter(|range| !range.is_empty())
            else {
                continue;
            };
            let name = series.column.slices[slice];
            let strata = Strata::new(&sums, &[slice], &range, Some(dispersion), rules);
            let sd = sd.map(|_| sums.values[slice].variance().max(1e-18).sqrt());
            let course = course(Some((slice, name)), &strata, &range, sd);
            looked_at.push((Some(name), strata, course));
        }
        Some(looked_at)
    }

    fn courses(&self, series: &[Series<'_>], rules: &Rules) -> Vec<Course> {
        let looked_at = series.iter().filter_map(|series| self.look(series, rules)).flatten();
        looked_at.map(|(_, _, course)| course).collect()
    }
}

fn outcome(damage: &[Hit], gain: &Gain, has_start: bool, rules: &Rules) -> Outcome {
    if damage.iter().any(|hit| hit.to_the_floor) {
        Outcome::Collapsed
    } else if !damage.is_empty() {
        Outcome::Damaged
    } else if gain.is_learned(rules) {
        Outcome::Learned
    } else if gain.is_at_its_best(rules) {
        Outcome::AtItsBest
    } else if gain.upper < 0.25 && (has_start || !rules.start) {
        Outcome::NotLearning
    } else {
        Outcome::Undecided
    }
}
