//! Judges a run from its curves alone. Errors come from the scatter between neighbouring rows; critical values from
//! simulated flat series; a stretch a fifth below an earlier one is an event where it comes back, damage where not.

pub(crate) mod blocks;
pub(crate) mod critical;
mod dip;
mod judged;
pub(crate) mod parts;
mod range;
mod trends;
pub(crate) mod verdict;
mod words;

use std::collections::BTreeMap;

use self::blocks::Drop;
use self::critical::Critical;
use self::dip::Dip;
use self::judged::{Damage, Judged};
use self::parts::Beside;
use self::trends::{BlowUp, TRENDS, Trend};
use self::verdict::{Cause, CauseCode, CurveGain, CurveVerdict, Event, Sign};
use self::words::{short, significant};
use crate::curves::{CurveRun, Series};
use crate::math::{extent, greatest};
use crate::names::CanonicalName;
use stapo_result::RunState;

/// Rows of the judged series, at least.
const ROWS: usize = 4;
/// Steps after which a run that has not gained is not learning, and not just young.
const STEPS: f64 = 200.0;

/// How a run went, as far as its curves show.
#[must_use]
pub fn judge(run: &CurveRun) -> CurveVerdict {
    let mut findings = Findings::of(run);
    findings.examine_trends();
    let (state, sentence, gain) = findings.state();
    let Findings { events, causes, signs, notes, .. } = findings;
    CurveVerdict { state, sentence, events, causes, signs, gain, notes }
}

/// What has been found of a run so far.
struct Findings<'a> {
    run: &'a CurveRun,
    trends: BTreeMap<CanonicalName, Trend>,
    kl: Option<BlowUp>,
    events: Vec<Event>,
    causes: Vec<Cause>,
    signs: Vec<Sign>,
    notes: Vec<String>,
}

type Verdict = (RunState, String, Option<CurveGain>);

impl<'a> Findings<'a> {
    fn of(run: &'a CurveRun) -> Self {
        let kl = run.series.get(&CanonicalName::Kl).and_then(trends::blow_up);
        Self {
            run,
            trends: trends::trends(run),
            kl,
            events: Vec::new(),
            causes: Vec::new(),
            signs: Vec::new(),
            notes: run.notes.clone(),
        }
    }

    fn cause(&mut self, code: CauseCode, series: &str, sentence: String) {
        self.causes.push(Cause { code, series: series.to_owned(), sentence });
    }

    fn sign(&mut self, name: CanonicalName, sentence: String) {
        self.signs.push(Sign { series: name.as_str().to_owned(), sentence });
    }

    fn trend(&self, name: CanonicalName) -> Trend {
        self.trends.get(&name).copied().unwrap_or_default()
    }

    /// End over start of the length; 1 where it is not logged.
    fn length_ratio(&self) -> f64 {
        self.trends.get(&CanonicalName::Length).map_or(1.0, Trend::ratio)
    }

    /// Signs, and what truncation and groups without signal say by themselves.
    fn examine_trends(&mut self) {
        use CanonicalName::{ClipFraction, DeadGroups, Entropy, GradNorm, Kl, Length, Truncated};
        for (name, least, most) in [(Entropy, 0.25, 2.0), (Length, 0.55, 1.8)] {
            if let Some(trend) = self.trends.get(&name).copied()
                && !(least..=most).contains(&trend.ratio())
            {
                self.sign(name, format!("{} {}", name.as_str(), trend.arrow()));
            }
        }
        let clip = self.trend(ClipFraction);
        if clip.end > 0.3 {
            self.sign(ClipFraction, format!("clip fraction {}", clip.arrow()));
        }
        let cut = self.trend(Truncated);
        if cut.end >= 0.5 || cut.end >= 0.2 && cut.end - cut.start >= 0.15 && cut.rises {
            self.cause(CauseCode::Truncation, Truncated.as_str(), format!("truncated share {}", cut.arrow()));
        }
        let dead = self.trend(DeadGroups);
        if dead.end >= 0.5 {
            let (start, end) = (100.0 * dead.start, 100.0 * dead.end);
            self.notes.push(format!("groups without signal: {start:.0} % → {end:.0} %"));
        }
        if let Some(kl) = self.kl {
            self.sign(Kl, kl.sentence());
        }
        if let Some(spikes) = self.run.series.get(&GradNorm).and_then(trends::gradient_spikes) {
            self.sign(GradNorm, spikes);
        }
    }

    fn state(&mut self) -> Verdict {
        if let Some((name, step)) = self.run.not_finite.first() {
            let column = self.run.series.get(name).map_or(name.as_str(), |series| &series.column);
            let step = significant(*step, 6);
            let sentence = format!("{column} is NaN or infinite from step {step} to the end.");
            return (RunState::NotFinite, sentence, None);
        }
        let (goals, forms) = parts::parts(self.run);
        let mut held_out = parts::held_out(self.run);
        let reward = self.run.series.get(&CanonicalName::Reward);
        let series = match reward {
            Some(reward) => reward,
            None if !held_out.is_empty() => held_out.remove(0),
            None => match goals.first() {
                Some(goal) => goal,
                None => return self.without_reward(0),
            },
        };
        if series.values.len() < ROWS {
            return self.without_reward(series.values.len());
        }
        if extent(&series.values) < 1e-9 {
            return self.constant(if reward.is_some() { "reward" } else { &series.column }, series);
        }
        let judged = Judged::new(self.run, series, reward.is_some());
        let is_same = |part: &Series| {
            let pairs = || part.values.iter().zip(&series.values);
            part.values.len() == series.values.len()
                && pairs().all(|(a, b)| (a - b).abs() <= 1e-6 + 1e-5 * b.abs())
        };
        let beside = |(form, part): (bool, &'a Series)| Beside::new(part, form, is_same(part));
        let goals = goals.into_iter().map(|part| (false, part));
        let parts: Vec<Beside<'_>> =
            goals.chain(forms.into_iter().map(|part| (true, part))).map(beside).collect();
        let held_out: Vec<Beside<'_>> =
            held_out.into_iter().map(|score| Beside::new(score, false, false)).collect();
        self.judged(judged, &parts, &held_out)
    }

    fn without_reward(&self, rows: usize) -> Verdict {
        let told = self.signs.first().map(|sign| sign.sentence.clone()).or_else(|| {
            let (name, trend) = TRENDS.iter().find_map(|name| Some((name, self.trends.get(name)?)))?;
            Some(format!("{} {}", name.as_str(), trend.arrow()))
        });
        let sentence = match (rows, told) {
            (0, Some(told)) => format!("No reward is logged; {told}."),
            (0, None) => "No reward is logged.".into(),
            (1, _) => "Only 1 row of reward.".into(),
            (rows, _) => format!("Only {rows} rows of reward."),
        };
        (RunState::Unknown, sentence, None)
    }

    /// One value throughout: dead where nothing could change it.
    fn constant(&mut self, who: &str, series: &Series) -> Verdict {
        let values = |name| self.run.series.get(&name).map(|series| &series.values);
        let length =
            values(CanonicalName::Length).filter(|length| extent(length) == 0.0).and_then(|l| l.first());
        let without_signal = series.values[0] <= 0.0 && self.trend(CanonicalName::DeadGroups).end > 0.9;
        let no_gradient = values(CanonicalName::GradNorm).is_some_and(|gradient| greatest(gradient) == 0.0);
        let (value, rows) = (short(series.values[0]), series.values.len());
        if self.causes.is_empty() && length.is_none() && !without_signal && !no_gradient {
            return (RunState::Unknown, format!("Every {who} is {value} in {rows} rows."), None);
        }
        let lengths = length.map_or(String::new(), |length| format!(", every length {length:.0}"));
        self.cause(CauseCode::NoSignal, who, format!("every {who} is {value}{lengths}"));
        (
            RunState::NotLearning,
            format!("Every {who} is {value} in {rows} rows: nothing can be learned."),
            None,
        )
    }

    fn judged(&mut self, mut judged: Judged<'_>, parts: &[Beside<'_>], held_out: &[Beside<'_>]) -> Verdict {
        let big = judged.learned && judged.end - judged.start > 0.3 * (judged.range.top - judged.start);
        let mut goals = parts.iter().filter(|part| !part.form).peekable();
        let has_forms = parts.iter().any(|part| part.form);
        if has_forms && goals.peek().is_some() && judged.learned && goals.all(Beside::gains_little) {
            judged.learned = false;
            self.notes.push("only the format rose".into());
        }
        let series = 1 + parts.iter().filter(|part| !part.form && !part.same).count();
        let (fall, dip) = judged.falls(series);
        let mut damage = fall.map(|drop| judged.damage(&drop));
        let rose = !judged.rises.is_empty();
        for part in parts.iter().filter(|part| !part.same) {
            let drop = part.blocks.fall(part.range.floor, 0.05 * part.range.size());
            if drop.t <= Critical::Fall.of_series(part.blocks.rows(), 2) {
                continue;
            }
            let hacked = rose && !part.form;
            let code = if hacked { CauseCode::RewardHacking } else { CauseCode::PartFalls };
            let beside = if rose { " while the reward rose" } else { "" };
            self.cause(code, part.name(), format!("{}{beside}", part.fell(&drop)));
            if damage.is_none() && !part.form && (part.is_goal_by_name() || !rose) {
                let onset = part.blocks.onset(&drop);
                damage = Some(Damage { who: part.name().to_owned(), drop, onset, range: part.range });
            }
        }
        let (causes, signs) = parts::examine_held_out(held_out, rose, big, self.length_ratio());
        self.causes.extend(causes);
        self.signs.extend(signs);
        self.hacked_parts(parts, big);
        let had_dip = damage.is_none() && self.tell_dip(&judged, dip);
        self.blame_updates(&judged, damage.is_some(), had_dip);
        if self.length_ratio() > 3.0 && !judged.learned {
            let arrow = self.trend(CanonicalName::Length).arrow();
            self.cause(CauseCode::LengthExplosion, "length", format!("length {arrow} without gain"));
        }
        let gain = Some(judged.gain());
        if let Some(damage) = damage {
            let (state, event) = damage.told(self.kl.as_ref());
            let sentence = event.sentence.clone();
            self.events.push(event);
            return (state, sentence, gain);
        }
        let (state, sentence) = self.undamaged(&judged, had_dip, held_out.iter().any(Beside::learned));
        (state, sentence, gain)
    }

    /// One part is the reward, the others are only watched: where none of them rises with it, those that stay were not
    /// learned. Where one does, the success is real, and another that stays is of other things: of replayed responses, of
    /// a harder kind.
    fn hacked_parts(&mut self, parts: &[Beside<'_>], big: bool) {
        let Some(reward) = parts.iter().find(|part| part.same) else { return };
        let watched = || parts.iter().filter(|part| !part.same && !part.form);
        if !big || watched().any(Beside::learned) {
            return;
        }
        for part in watched().filter(|part| part.gains_little()) {
            let (stays, name, reward) = (short(part.blocks.gains()[0].end), part.name(), reward.name());
            let sentence = format!("{name} stays at {stays} while {reward}, which is the reward, rises");
            self.cause(CauseCode::RewardHacking, name, sentence);
        }
    }

    /// Tells a fall that came back, found by the search or where the KL blew up. Whether there is one.
    fn tell_dip(&mut self, judged: &Judged<'_>, found: Option<Drop>) -> bool {
        let dip = match (found, &self.kl) {
            (Some(drop), _) => Some(Dip { before: drop.before, blocks: drop.blocks }),
            (None, Some(kl)) => dip::where_kl_blew_up(judged.series, &judged.blocks, judged.range, kl),
            (None, None) => None,
        };
        let Some(dip) = dip else { return false };
        let (end, now) = (judged.blocks.end(), judged.gains[0].end);
        let event = dip.event(judged.name, &judged.blocks, end, now, self.kl.as_ref());
        if let Some(kl) = event.kl {
            let sentence = format!("the KL rose to {} where the {} fell", significant(kl, 2), judged.who);
            self.cause(CauseCode::LargeUpdates, "kl", sentence);
        }
        self.events.push(event);
        true
    }

    /// A KL that blew up beside damage, or that stays high while the reward stands still.
    fn blame_updates(&mut self, judged: &Judged<'_>, damaged: bool, had_dip: bool) {
        let Some(kl) = self.kl else { return };
        let peak = significant(kl.peak, 2);
        if damaged {
            self.cause(CauseCode::LargeUpdates, "kl", format!("the KL rose to {peak}"));
        } else if kl.stays && !had_dip {
            let (blocks, count) = (&judged.blocks, judged.blocks.count());
            let third = count / 3;
            let (before, error) = blocks.window(count - 2 * third, count - third);
            let (now, error_now) = blocks.window(count - third, count);
            // 2.3: the 99 % point of one difference.
            if now - before + 2.3 * (error + error_now).sqrt() < 0.1 * judged.range.size() {
                let sentence = format!("the KL reached {peak} while the {} stood still", judged.who);
                self.cause(CauseCode::LargeUpdates, "kl", sentence);
            }
        }
    }

    /// The state of a run whose reward did not fall for good.
    fn undamaged(&mut self, judged: &Judged<'_>, had_dip: bool, held_out_rose: bool) -> (RunState, String) {
        let Judged { name, blocks, range, gains, .. } = judged;
        let event = self.events.first().map(|event| event.sentence.clone());
        let first = gains[0];
        let went = format!("{} to {}", short(first.start), short(first.end));
        let rows = blocks.rows();
        let bound = Critical::Bound.value(rows) * first.error;
        let room = range.top - first.start;
        // A top that was only seen in rows has to leave room.
        let has_room = judged.top_is_known() || room >= 0.4 * range.size();
        let still =
            judged.rises.is_empty() && first.difference + bound < 0.25 * room && rows >= 10 && has_room;
        let sank = -first.difference > bound.max(0.05 * range.size()).max(0.2 * (first.start - range.floor));
        let steps = judged.steps();
        let at_top = judged.is_at_top();
        let without_signal = self.trend(CanonicalName::DeadGroups).end > 0.9;
        let long_enough = steps >= STEPS || !self.causes.is_empty() || without_signal;
        let is_stuck = still && !sank && !at_top && self.run.from_start && long_enough && !held_out_rose;
        match self.kl {
            Some(_) if had_dip => {}
            // The updates moved the policy far: it did not stand still.
            Some(kl)
                if is_stuck && !self.causes.iter().any(|cause| cause.code == CauseCode::LargeUpdates) =>
            {
                let sentence = format!(
                    "the KL reached {} while the {} stood still",
                    significant(kl.peak, 2),
                    judged.who
                );
                self.cause(CauseCode::LargeUpdates, "kl", sentence);
            }
            None if is_stuck => {
                let sentence = format!("The {name} did not rise in {steps:.0} steps: {went}.");
                return (RunState::NotLearning, event.unwrap_or(sentence));
            }
            _ => {}
        }
        if self.run.held_out.iter().any(|score| std::ptr::eq(score, judged.series)) {
            let drop = blocks.fall(f64::NEG_INFINITY, 0.05 * range.size());
            if drop.t > Critical::Fall.value(rows) {
                let fell = Beside::new(judged.series, false, false).fell(&drop);
                self.cause(CauseCode::HeldOutFalls, judged.who, fell);
            }
        }
        if let Some(cause) = self.causes.first() {
            let why = cause.sentence.split(" while ").next().unwrap_or_default();
            let rise = format!("{} to {}", short(judged.start), short(judged.end));
            let sentence = match judged.learned {
                true => format!("The {name} rose {rise}, but {why}."),
                false => format!("The {name} went {went}; {why}."),
            };
            return (RunState::Suspicious, event.unwrap_or(sentence));
        }
        if judged.learned {
            return (RunState::Healthy, event.unwrap_or_else(|| judged.learned_sentence()));
        }
        if at_top {
            let sentence = format!("The {name} stood near its top from the start: {went}.");
            return (RunState::Healthy, event.unwrap_or(sentence));
        }
        let greatest_t = greatest(&gains.iter().map(|gain| gain.difference / gain.error).collect::<Vec<_>>());
        let weak = match () {
            () if !judged.rises.is_empty() => "A weak rise",
            () if sank => "A fall that noise could make",
            () if greatest_t > Critical::Bound.value(rows) => "A rise that noise could make",
            () => "No gain beyond the noise",
        };
        (RunState::Undecided, event.unwrap_or(format!("{weak} in {steps:.0} steps: {name} {went}.")))
    }
}
