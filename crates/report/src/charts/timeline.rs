//! The order of events: first signs, cause windows, damage.

use super::{Chart, Drawn, Missing};
use crate::draw::canvas::SMALL;
use crate::draw::{Anchor, Axis, Canvas, Entry, Ink, Key, Mark, Pen, Plot, Scene, Scenes, font, ticks};
use crate::text::prose;
use stapo_base::format::words;
use stapo_base::named;
use stapo_base::stats::sustained::Direction;
use stapo_base::tables::Columns;
use stapo_result::{Confidence, Diagnosis, SignalName};

const TITLE: &str = "Order of events";
const ROW: f64 = 20.0;
/// Rows at most.
const MOST: usize = 26;

/// Between a mark and its label, and between a label and the chart's edge.
const GAP: f64 = 9.0;
const EDGE: f64 = 4.0;
/// How much wider readers' fonts may be than ours.
const WIDER: f64 = 1.12;

named! {
    /// What an event is.
    pub enum EventKind {
        /// A cause that is likely.
        LikelyCause = "likely cause",
        /// A cause that is possible.
        PossibleCause = "possible cause",
        /// Something that got worse for good.
        Damage = "damage",
        /// Another signal that changed for good.
        Sign = "sign",
    }
}

/// Something that happened.
pub struct Event {
    /// What it is.
    pub kind: EventKind,
    /// Its name.
    pub name: String,
    /// From which step on.
    pub from: i64,
    /// Where it went, where it is a signal.
    pub direction: Option<Direction>,
}

impl Event {
    /// "step 12", from which on it goes on.
    pub fn when(&self) -> String {
        format!("step {}", self.from)
    }
}

/// Causes, damage and signs in the order of their steps.
pub fn events(diagnosis: &Diagnosis) -> Vec<Event> {
    let damaged = |signal: &SignalName| diagnosis.damage.iter().any(|d| d.signal == *signal);
    let mut events: Vec<Event> = Vec::new();
    for cause in &diagnosis.causes {
        let kind = match cause.confidence {
            Confidence::Likely => EventKind::LikelyCause,
            Confidence::Possible | Confidence::Note => EventKind::PossibleCause,
        };
        let name = words(cause.code.name());
        let event = |from: i64| Event { kind, name, from, direction: None };
        events.extend(cause.from_step.map(event));
    }
    for damage in &diagnosis.damage {
        let direction = Some(if damage.after < damage.before { Direction::Down } else { Direction::Up });
        let (name, from) = (prose(damage.signal.as_str()), damage.from_step);
        events.push(Event { kind: EventKind::Damage, name, from, direction });
    }
    for onset in diagnosis.onsets.iter().filter(|onset| !damaged(&onset.signal)) {
        let (name, direction) = (prose(onset.signal.as_str()), Some(onset.direction));
        events.push(Event { kind: EventKind::Sign, name, from: onset.step, direction });
    }
    events.sort_by_key(|event| event.from);
    events.truncate(MOST);
    events
}

/// Draws it for a run of these steps.
pub fn draw(diagnosis: &Diagnosis, steps: &[i64]) -> Drawn {
    let events = events(diagnosis);
    let (&[first, ..], &[.., last], false) = (steps, steps, events.is_empty()) else {
        return Err(Missing::new(TITLE, "a cause, or a signal that changed for good"));
    };
    let table = Columns::of(&events)
        .text("kind", |e| e.kind.name())
        .text("name", |e| e.name.as_str())
        .int("from_step", |e| e.from)
        .text("direction", |e| e.direction.map_or("", Direction::name))
        .frame();
    let span = (first as f64, last as f64);
    Ok(Chart {
        name: "timeline",
        title: TITLE.into(),
        reading: "From top to bottom in the order of their steps: causes and damage as bars to the end of the run, other signals that changed for good as triangles where half of the change was done.".into(),
        notes: Vec::new(),
        scenes: Scenes::draw(|width| ink(&events, span, width)),
        table,
    })
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn ink(events: &[Event], (first, last): (f64, f64), width: u32) -> Scene {
    let mut canvas = Canvas::new(width, (ROW * events.len() as f64) as u32 + 110, TITLE);
    let likely = Pen::new(Ink::Exploratory).alpha(0.75);
    let possible = Pen::new(Ink::Exploratory).alpha(0.3);
    let damage = Pen::new(Ink::Spurious).alpha(0.75);
    canvas.legend(&[
        Entry::new(Key::Area(likely), EventKind::LikelyCause.name()),
        Entry::new(Key::Area(possible), EventKind::PossibleCause.name()),
        Entry::new(Key::Area(damage), EventKind::Damage.name()),
        Entry::new(Key::Mark(Pen::new(Ink::Text), Mark::Up), EventKind::Sign.name()),
    ]);
    let last = last.max(first + 1.0);
    let x = Axis::new("training step", first..last, ticks::whole(first, last, 8));
    let y = Axis::new("", 0.0..events.len() as f64, Vec::new());
    let plot = Plot::new(&canvas, &x, &y);
    for (place, event) in events.iter().enumerate() {
        let top = (events.len() - place) as f64;
        let from = event.from as f64;
        let bar = |pen: Pen| plot.bar((from, top - 0.85), (last, top - 0.15), pen);
        match event.kind {
            EventKind::LikelyCause => bar(likely),
            EventKind::PossibleCause => bar(possible),
            EventKind::Damage => bar(damage),
            EventKind::Sign => {
                let mark = if event.direction == Some(Direction::Up) { Mark::Up } else { Mark::Down };
                plot.mark(from, top - 0.5, mark, 4.0, Pen::new(Ink::Text));
            }
        }
        let (px, py) = plot.pixel(from, top - 0.5);
        let (text, at, anchor) = label(event, px, canvas.width());
        canvas.text(&text, (at, py), anchor, Ink::Text);
    }
    canvas.finish()
}

/// The label of an event whose mark is at `px`: on the side where it fits, without its step where it fits only so.
fn label(event: &Event, px: f64, width: f64) -> (String, f64, Anchor) {
    let word = event.direction.map(|direction| format!(" {direction}")).unwrap_or_default();
    let short = format!("{}{word}", event.name.replace('_', " "));
    let full = format!("{short}, {}", event.when());
    let before = (px - GAP, px - GAP - EDGE, Anchor::Right);
    let behind = (px + GAP, width - EDGE - px - GAP, Anchor::Left);
    let sides = if px > width * 0.55 { [before, behind] } else { [behind, before] };
    for text in [full, short.clone()] {
        let wide = font::width(&text, SMALL, false) * WIDER;
        if let Some((at, _, anchor)) = sides.into_iter().find(|(_, room, _)| wide <= *room) {
            return (text, at, anchor);
        }
    }
    let (at, room, anchor) = if before.1 > behind.1 { before } else { behind };
    (font::fit(&short, SMALL, room / WIDER), at, anchor)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// On a phone and on a wide page, wherever the mark is.
    #[test]
    fn labels_end_inside_the_chart() {
        for name in
            ["entropy", "spurious_energy_share", "reward/a_part_with_a_name_that_no_phone_is_wide_enough_for"]
        {
            let event = Event {
                kind: EventKind::Sign,
                name: name.into(),
                from: 23,
                direction: Some(Direction::Down),
            };
            for (px, width) in
                [340.0, 860.0].into_iter().flat_map(|w| (2..20).map(move |n| (0.05 * w * f64::from(n), w)))
            {
                let (text, at, anchor) = label(&event, px, width);
                let wide = font::width(&text, SMALL, false);
                let ends = if anchor == Anchor::Right { [at - wide, at] } else { [at, at + wide] };
                assert!(ends[0] >= 0.0 && ends[1] <= width, "{text} at {px} of {width}: {ends:?}");
                assert!(text.ends_with("step 23") || width < 400.0 || name.len() > 40, "{text}");
            }
        }
    }
}
