//! What got worse for good.

use super::came_in::CameIn;
use super::price::Price;
use super::same_prompts::{SamePrompts, quantity};
use super::trifles::{Weights, trifles};
use super::{came_in, price};
use crate::signals::series::{Role, Series};
use crate::words::measured;
use stapo_base::stats::sustained::{Change, Direction};
use stapo_collect::collect::signs::response_facts::ResponseFacts;
use stapo_result::{Damage, Onset, SignalName};

/// A loss counts from this part of a single response's standard deviation on …
pub const NOTICED: f64 = 0.2;
/// … and from this part of what was reached above the floor (of what was left below the ceiling, of a cost).
const LOST: f64 = 0.1;
/// More responses that are cut, or loop, count from this share on.
const MORE_HARM: f64 = 0.1;
/// Entropy below this part of where it came from has collapsed.
const COLLAPSED: f64 = 0.15;
/// Entropy above this multiple, and so many nats, has exploded; …
const EXPLODED_MULTIPLE: f64 = 2.5;
const EXPLODED_NATS: f64 = 0.5;
/// … or if it went this part of the way to that of random tokens, which it cannot exceed.
const WAY_TO_RANDOM: f64 = 0.5;
/// Near the floor: within this part of the range of single responses.
const NEAR_FLOOR: f64 = 0.1;

/// All lasting changes of a run's signals.
pub struct Changes {
    /// What got worse, the earliest first.
    pub damage: Vec<Damage>,
    /// All of them, the earliest first.
    pub onsets: Vec<Onset>,
    /// By signal.
    pub found: Vec<(SignalName, Change)>,
    /// A fall of the reward that is no damage.
    pub regraded: Option<Regraded>,
    /// A cost that grew and was worth it, which is no damage.
    pub price: Option<Price>,
    /// Parts that fell by next to nothing of what the reward gained, which is no damage.
    pub trifles: Vec<Damage>,
    /// A fall of the reward by parts that came into it, in words.
    pub came_in: Option<String>,
    /// How prompts fared that were drawn before the first fall of a reward and again after it.
    pub same_prompts: Option<SamePrompts>,
}

/// A reward that fell while what is paid rose for good, and is still paid: its scale, its weights or a term that
/// is not logged changed, and responses are better than before.
#[derive(Clone, Debug)]
pub struct Regraded {
    /// The fall of the reward.
    pub fall: Change,
    /// The part that rose.
    pub part: SignalName,
    /// Its rise.
    pub rise: Change,
}

impl Regraded {
    /// In words.
    pub fn sentence(&self) -> String {
        let [reward, before, began, ended] =
            [self.fall.after, self.fall.before, self.rise.before, self.rise.after].map(|v| measured(v, 2));
        format!(
            "The reward fell {before} → {reward} while {} rose {began} → {ended}: its scale, its weights or a term \
             that is not logged changed, which is no damage",
            self.part
        )
    }
}

/// Looks for lasting changes; `random_entropy` is ln V, `right` the signal of what is right, and `is_paid` says
/// whether the reward follows a signal from a step on.
pub fn changes(
    series: &[Series],
    random_entropy: f64,
    right: Option<&SignalName>,
    is_paid: &dyn Fn(&SignalName, i64) -> bool,
) -> Changes {
    let mut changes = Changes {
        damage: Vec::new(),
        onsets: Vec::new(),
        found: Vec::new(),
        regraded: None,
        price: None,
        trifles: Vec::new(),
        came_in: None,
        same_prompts: None,
    };
    for series in series {
        for direction in [Direction::Down, Direction::Up] {
            let Some(change) = series.change(direction) else { continue };
            let onset = Onset { signal: series.name.clone(), step: change.onset, direction };
            if is_damage(series, &change, random_entropy) {
                changes.damage.push(Damage {
                    signal: series.name.clone(),
                    from_step: change.onset,
                    before: change.before,
                    after: change.after,
                });
            }
            changes.onsets.push(onset);
            changes.found.push((series.name.clone(), change));
        }
    }
    if changes.damage.iter().any(|damage| damage.signal == SignalName::Reward) {
        changes.regraded = regraded(series, &changes, right, is_paid);
    }
    if changes.regraded.is_some() {
        changes.damage.retain(|damage| damage.signal != SignalName::Reward);
    }
    changes.damage.sort_by_key(|damage| damage.from_step);
    changes.take_prices_back(series, right);
    changes.onsets.sort_by_key(|onset| onset.step);
    changes
}

/// Whether the reward fell while what is right rose for good; where nothing says what is right, while all of its
/// parts did. A reward that no longer follows them is lost, not graded anew.
fn regraded(
    series: &[Series],
    changes: &Changes,
    right: Option<&SignalName>,
    is_paid: &dyn Fn(&SignalName, i64) -> bool,
) -> Option<Regraded> {
    let fall = changes.of(&SignalName::Reward, Direction::Down)?;
    let goals = || series.iter().filter(|s| s.role == Role::Goal && s.name.is_part());
    let part = match right {
        Some(right) => right,
        None => &goals().next().filter(|_| goals().all(|s| changes.only_rose(&s.name).is_some()))?.name,
    };
    let rise = changes.only_rose(part).filter(|_| *part != SignalName::Reward)?;
    let paid = match right {
        Some(right) => is_paid(right, fall.onset),
        None => goals().any(|s| is_paid(&s.name, fall.onset)),
    };
    if !paid {
        return None;
    }
    Some(Regraded { fall, part: part.clone(), rise })
}

impl Changes {
    /// The lasting change of a signal in one direction.
    pub fn of(&self, name: &SignalName, direction: Direction) -> Option<Change> {
        let is = |(known, change): &&(SignalName, Change)| known == name && change.direction == direction;
        self.found.iter().find(is).map(|(_, change)| *change)
    }

    /// The rise of a signal that rose for good and did nothing else.
    pub fn only_rose(&self, name: &SignalName) -> Option<Change> {
        self.of(name, Direction::Up).filter(|_| self.of(name, Direction::Down).is_none())
    }

    /// Takes the growth of costs back that the reward rose in spite of.
    fn take_prices_back(&mut self, series: &[Series], right: Option<&SignalName>) {
        let Some(gain) = price::gain(series, right, &|name| self.only_rose(name)) else { return };
        let prices = price::taken_off(&self.damage, series);
        self.price = prices.first().map(|cost| Price { cost: cost.clone(), gain });
        self.damage.retain(|damage| !prices.contains(damage));
    }

    /// Takes falls of parts back that hardly weigh against what the reward gained.
    pub fn hold_trifles(
        &mut self,
        series: &[Series],
        right: Option<&SignalName>,
        facts: &ResponseFacts,
        parts: &[String],
    ) {
        let Some(weights) = Weights::of(facts, parts).filter(|_| !self.damage.is_empty()) else { return };
        self.trifles = trifles(&self.damage, series, right, &weights, &|name| self.only_rose(name));
        self.damage.retain(|damage| !self.trifles.contains(damage));
    }

    /// Takes a fall of the reward back that parts which came into it explain.
    pub fn hold_without(&mut self, came_in: &[CameIn], facts: &ResponseFacts) {
        let Some(fall) = self.of(&SignalName::Reward, Direction::Down) else { return };
        let Some(rest) = came_in::rest(facts, came_in) else { return };
        if rest.change(Direction::Down).is_some_and(|change| is_damage(&rest, &change, f64::INFINITY)) {
            return;
        }
        self.damage.retain(|damage| damage.signal != SignalName::Reward);
        self.regraded = None;
        self.came_in = Some(came_in::sentence(came_in, &fall));
    }

    /// Takes falls of rewards back that prompts do not share which were drawn before and again after them.
    pub fn hold_same_prompts(&mut self, series: &[Series], facts: &ResponseFacts, parts: &[String]) {
        let of = |damage: &Damage| {
            let goal = series.iter().find(|s| s.name == damage.signal && s.role == Role::Goal)?;
            let same = SamePrompts::of(facts, &*quantity(&damage.signal, parts)?, damage)?;
            let after = same.before - same.largest_fall();
            let most =
                Change { direction: Direction::Down, onset: 0, before: same.before, after, z: f64::INFINITY };
            Some((same, is_damage(goal, &most, f64::INFINITY)))
        };
        let held: Vec<Option<(SamePrompts, bool)>> = self.damage.iter().map(of).collect();
        self.same_prompts = held.iter().flatten().next().map(|(same, _)| same.clone());
        let mut shared = held.iter().map(|held| held.as_ref().is_none_or(|(_, shared)| *shared));
        self.damage.retain(|_| shared.next().unwrap_or(true));
    }

    /// A fall that was taken back since the prompts became harder.
    pub fn harder_prompts(&self) -> Option<&SamePrompts> {
        let is_damage = |signal: &SignalName| self.damage.iter().any(|damage| damage.signal == *signal);
        self.same_prompts.as_ref().filter(|same| !is_damage(&same.fall.signal))
    }
}

fn is_damage(series: &Series, change: &Change, random_entropy: f64) -> bool {
    let fall = change.before - change.after;
    match (series.role, change.direction) {
        (Role::Goal, Direction::Down) => series.range.is_some_and(|[floor, _, deviation]| {
            fall >= NOTICED * deviation && fall >= LOST * (change.before - floor)
        }),
        (Role::Cost, Direction::Up) => series.range.is_some_and(|[_, ceiling, deviation]| {
            -fall >= NOTICED * deviation && -fall >= LOST * (ceiling - change.before)
        }),
        (Role::Harm, Direction::Up) => -fall >= MORE_HARM,
        (Role::Entropy, Direction::Down) => change.after <= COLLAPSED * change.before,
        (Role::Entropy, Direction::Up) => {
            let multiplied = change.after >= EXPLODED_MULTIPLE * change.before && -fall >= EXPLODED_NATS;
            multiplied || -fall >= WAY_TO_RANDOM * (random_entropy - change.before)
        }
        _ => false,
    }
}

/// Whether what the run was trained for is near its floor at the end; `goal` is the signal that says
/// so best.
pub fn at_floor(goal: &Series) -> bool {
    let (Some([low, high, _]), Some(end)) = (goal.range, goal.end()) else { return false };
    high > low && end - low <= NEAR_FLOOR * (high - low)
}
