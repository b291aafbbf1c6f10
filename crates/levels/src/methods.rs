//! Several seeds a side: whether the method did it.

use stapo_base::named;
use stapo_base::stats::holm;
use stapo_base::stats::welch::Welch;

use crate::groups::RunGroups;
use crate::metric::{Metric, Window};
use crate::mix::{Mix, common_steps};
use crate::pairing;
use crate::result::{Contrast, MethodsLevel, NotTested, SeedsNeeded};
use crate::seeds::{Scatter, unit};
use crate::student::{ALPHA, p_value, quantile};

/// Runs a side below which nothing is said of a method.
const LEAST_SEEDS: u64 = 3;
/// Pairs from which on seeds are held in pairs. Three pairs leave two degrees of freedom: t is 4.30 instead of 2.78, which
/// pays only where seeds of both arms correlate by more than 0.58. Taken apart they err on the side of caution.
const LEAST_PAIRS: usize = 4;

named! {
    /// What an arm is there for.
    pub enum Role {
        /// The method that is asked about.
        Method = "method",
        /// What it is held against.
        Baseline = "baseline",
        /// The control that masks as many tokens at random.
        Random = "random",
    }
}

/// Runs of one method that differ by their seeds.
#[derive(Clone, Copy, Debug)]
pub struct Arm<'a> {
    /// Its name.
    pub name: &'a str,
    /// What it is there for.
    pub role: Role,
    /// A run a seed.
    pub runs: &'a [RunGroups],
}

/// Holds arms against each other. Tested, after Holm, are the methods against the baseline and against the random mask in
/// the primary metric over all steps; of all else there are intervals.
#[must_use]
pub fn compare_methods(arms: &[Arm<'_>], primary: Metric) -> MethodsLevel {
    let runs: Vec<&RunGroups> = arms.iter().flat_map(|arm| arm.runs).collect();
    let metrics =
        Metric::ALL.into_iter().filter(|metric| runs.iter().any(|run| run.having(*metric).next().is_some()));
    let mut level = MethodsLevel {
        steps: common_steps(&runs, primary).len() as u64,
        tasks: Mix::of(&runs, primary, Window::Level).tasks,
        primary,
        contrasts: Vec::new(),
        needed: Vec::new(),
    };
    let pairs = pairs(arms);
    for metric in metrics {
        for window in Window::ALL {
            let mix = Mix::of(&runs, metric, window);
            level.contrasts.extend(pairs.iter().map(|pair| contrast(pair, &mix, metric, window)));
        }
    }
    decide(&mut level, &pairs);
    level.needed = needed(primary, &pairs, arms, &runs);
    level
}

/// Two arms that are held against each other.
struct Pair<'a> {
    arm: Arm<'a>,
    against: Arm<'a>,
    /// Where the values of each begin among those of all runs.
    begins: [usize; 2],
    /// For each run of the arm that of the other which drew the same prompts.
    partners: Option<Vec<usize>>,
    /// Whether the primary metric is tested.
    is_tested: bool,
}

impl Pair<'_> {
    fn values(&self, mix: &Mix) -> [Vec<f64>; 2] {
        let of = |begin: usize, arm: &Arm<'_>| {
            mix.values.iter().skip(begin).take(arm.runs.len()).copied().collect()
        };
        [of(self.begins[0], &self.arm), of(self.begins[1], &self.against)]
    }

    /// The partners, where there are enough for a test in pairs.
    fn partners_of_test(&self) -> Option<&[usize]> {
        self.partners.as_deref().filter(|pairs| pairs.len() >= LEAST_PAIRS)
    }
}

/// Methods against baseline and random mask, then all others, for their intervals.
fn pairs<'a>(arms: &[Arm<'a>]) -> Vec<Pair<'a>> {
    let begins: Vec<usize> =
        (0..arms.len()).map(|arm| arms[..arm].iter().map(|before| before.runs.len()).sum()).collect();
    let has_method = arms.iter().any(|arm| arm.role == Role::Method);
    // What counts up comes first: methods, then the random mask.
    let rank = |arm: &usize| match arms[*arm].role {
        Role::Method => 0,
        Role::Random => 1,
        Role::Baseline => 2,
    };
    let mut order: Vec<usize> = (0..arms.len()).collect();
    order.sort_by_key(rank);
    let pair = |a: usize, b: usize| Pair {
        arm: arms[a],
        against: arms[b],
        begins: [begins[a], begins[b]],
        partners: pairing::pairs(arms[a].runs, arms[b].runs),
        is_tested: match has_method {
            true => arms[a].role == Role::Method && arms[b].role != Role::Method,
            false => arms[a].role != arms[b].role,
        },
    };
    let mut pairs: Vec<Pair<'_>> = Vec::new();
    for (place, &a) in order.iter().enumerate() {
        pairs.extend(order[place + 1..].iter().map(|&b| pair(a, b)));
    }
    pairs.sort_by_key(|pair| (!pair.is_tested, pair.against.role == Role::Random));
    pairs
}

fn contrast(pair: &Pair<'_>, mix: &Mix, metric: Metric, window: Window) -> Contrast {
    let values = pair.values(mix);
    let seeds = [pair.arm, pair.against].map(|arm| arm.runs.len() as u64);
    let has_values = values.iter().all(|values| !values.is_empty());
    let test = Test::of(&values, pair.partners_of_test());
    let reason = match &test {
        _ if mix.steps == 0 => Some(NotTested::NotLogged),
        _ if !has_values => Some(NotTested::NoCommonTask),
        _ if seeds.iter().any(|n| *n < LEAST_SEEDS) => Some(NotTested::FewSeeds),
        None => Some(NotTested::NoScatter),
        Some(_) => None,
    };
    let difference = has_values.then(|| mean(&values[0]) - mean(&values[1]));
    let test = test.filter(|_| reason.is_none());
    let half = test.as_ref().map(|test| quantile(1.0 - ALPHA / 2.0, test.freedom) * test.error);
    Contrast {
        metric,
        window,
        arm: pair.arm.name.into(),
        against: pair.against.name.into(),
        against_random: pair.against.role == Role::Random,
        seeds,
        difference,
        interval: difference.zip(half).map(|(d, half)| [d - half, d + half]),
        freedom: test.as_ref().map(|test| test.freedom),
        paired: pair.partners_of_test().is_some(),
        p_value: difference.zip(test.as_ref()).and_then(|(d, test)| p_value(d / test.error, test.freedom)),
        adjusted: None,
        significant: false,
        detectable: test.as_ref().map(|test| test.scatter.detectable(seeds)),
        reason,
        values,
    }
}

/// The error of a difference of means, and what it comes from.
struct Test {
    error: f64,
    freedom: f64,
    scatter: Scatter,
}

impl Test {
    /// Welch's, or that of pairs.
    fn of([mine, others]: &[Vec<f64>; 2], partners: Option<&[usize]>) -> Option<Self> {
        let Some(partners) = partners else {
            let scatter = Scatter::of([&mine[..], others].into_iter(), false)?;
            let Welch { error, freedom, .. } = Welch::of(others, mine)?;
            return Some(Self { error, freedom, scatter });
        };
        let differences = paired_differences([mine, others], partners);
        let scatter = Scatter::of(std::iter::once(&differences[..]), true)?;
        let error = scatter.deviation / (differences.len() as f64).sqrt();
        Some(Self { error, freedom: scatter.freedom, scatter })
    }
}

fn paired_differences([mine, others]: [&[f64]; 2], partners: &[usize]) -> Vec<f64> {
    mine.iter().zip(partners).map(|(value, partner)| value - others[*partner]).collect()
}

/// Keeps the p-values of what is tested, and decides after Holm. Contrasts are in the order of pairs for each metric and
/// window.
fn decide(level: &mut MethodsLevel, pairs: &[Pair<'_>]) {
    let primary = level.primary;
    for (contrast, pair) in level.contrasts.iter_mut().zip(pairs.iter().cycle()) {
        if !(pair.is_tested && contrast.metric == primary && contrast.window == Window::Level) {
            contrast.p_value = None;
        }
    }
    let p_values: Vec<f64> = level.contrasts.iter().map(|c| c.p_value.unwrap_or(f64::NAN)).collect();
    for (contrast, adjusted) in level.contrasts.iter_mut().zip(holm::adjusted(&p_values)) {
        contrast.adjusted = contrast.p_value.map(|_| adjusted);
        contrast.significant = contrast.adjusted.is_some_and(|p| p <= ALPHA);
    }
}

/// Seeds that the primary metric needs: from the scatter within all arms, and from that of pairs where there are any.
fn needed(primary: Metric, pairs: &[Pair<'_>], arms: &[Arm<'_>], runs: &[&RunGroups]) -> Vec<SeedsNeeded> {
    let mix = Mix::of(runs, primary, Window::Level);
    let mut values = mix.values.iter().copied();
    let of_arms: Vec<Vec<f64>> =
        arms.iter().map(|arm| values.by_ref().take(arm.runs.len()).collect()).collect();
    let of_pair = |pair: &Pair<'_>| {
        let [mine, others] = pair.values(&mix);
        let partners = pair.partners.as_deref().filter(|_| !mine.is_empty())?;
        Some(paired_differences([&mine, &others], partners))
    };
    let differences: Vec<Vec<f64>> = pairs.iter().filter(|pair| pair.is_tested).filter_map(of_pair).collect();
    let unit = unit(primary, range_of_groups(runs, primary), mean(&mix.values));
    let apart = Scatter::of(of_arms.iter().map(Vec::as_slice), false);
    let paired = Scatter::of(differences.iter().map(Vec::as_slice), true);
    apart.into_iter().chain(paired).flat_map(|scatter| scatter.needed(unit)).collect()
}

fn range_of_groups(runs: &[&RunGroups], metric: Metric) -> f64 {
    let values = runs.iter().flat_map(|run| run.having(metric)).map(|(_, totals)| {
        let [num, den] = totals.parts(metric);
        num / den
    });
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
    high - low
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}
