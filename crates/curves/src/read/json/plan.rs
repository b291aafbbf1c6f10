//! Which places of a document are the run, or the runs: a list of objects is a table of rows, an object's lists of
//! numbers are a table of columns, and tables that hold the same reward are runs beside each other.

use std::collections::BTreeMap;

use super::survey::{Place, Survey};
use super::visit::SEPARATOR;
use crate::names::{CanonicalName, Names};

/// Places that are told at most.
const TOLD: usize = 5;

/// What becomes of a list.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Action {
    /// Its objects are rows, of this run.
    Rows(Option<String>),
    /// Its values are the column of this name, of this run.
    Column(String, Option<String>),
}

/// What becomes of the lists of a document, by their paths; and what is left out.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub actions: BTreeMap<String, Action>,
    pub notes: Vec<String>,
}

/// What may be a run.
struct Candidate {
    path: String,
    rows: usize,
    /// Columns: their places, and their names in the run. Empty where its rows are objects.
    columns: Vec<(String, String)>,
    /// Whether a list says that its values are those of a training: steps or rewards. A token log has lists, too.
    is_certain: bool,
    reward: Option<String>,
    notes: Vec<String>,
}

/// The parent of a path, and its last key.
fn split(path: &str) -> (&str, &str) {
    path.rsplit_once(SEPARATOR).unwrap_or(("", path))
}

fn told(path: &str) -> String {
    if path.is_empty() { "rows".into() } else { path.replace(SEPARATOR, "/") }
}

/// Tables with curves, columns last.
fn candidates(survey: &Survey<'_>, names: &Names) -> Vec<Candidate> {
    let rows = survey.places.iter().filter(|place| place.of_rows && place.rows.curve);
    let mut found: Vec<Candidate> = rows
        .filter(|place| place.rows.is_of_scalars())
        .map(|place| Candidate {
            path: place.path.clone(),
            rows: place.length,
            columns: Vec::new(),
            is_certain: true,
            reward: place.rows.reward.as_ref().map(|reward| reward.1.clone()),
            notes: Vec::new(),
        })
        .collect();
    found.extend(columns(survey, names));
    found
}

/// Lists of numbers, an object each; one without steps of its own belongs to the object above it.
fn columns(survey: &Survey<'_>, names: &Names) -> Vec<Candidate> {
    let mut objects: BTreeMap<&str, Vec<&Place>> = BTreeMap::new();
    for place in survey.places.iter().filter(|place| !place.of_rows && !place.path.is_empty()) {
        objects.entry(split(&place.path).0).or_default().push(place);
    }
    let is_step = |place: &&Place| names.of(split(&place.path).1).is_some_and(|r| r.0 == CanonicalName::Step);
    let owner = |path: &str| {
        let mut at = path;
        loop {
            if objects.get(at).is_some_and(|own| own.iter().any(is_step)) {
                return at.to_owned();
            }
            if at.is_empty() {
                return path.to_owned();
            }
            at = split(at).0;
            if objects.contains_key(at) {
                return at.to_owned();
            }
        }
    };
    let mut owned: BTreeMap<String, Vec<&Place>> = BTreeMap::new();
    for (path, places) in &objects {
        owned.entry(owner(path)).or_default().extend(places);
    }
    owned.into_iter().filter_map(|(path, places)| candidate(path, &places, names)).collect()
}

/// A list, its name in the run, and what the name stands for.
type Named<'p> = (&'p Place, String, Option<(CanonicalName, usize)>);

fn candidate(path: String, places: &[&Place], names: &Names) -> Option<Candidate> {
    let name = |place: &Place| {
        let inside = place.path.strip_prefix(path.as_str()).unwrap_or(&place.path);
        inside.trim_start_matches(SEPARATOR).replace(SEPARATOR, "/")
    };
    let named: Vec<Named<'_>> = places
        .iter()
        .map(|place| {
            let name = name(place);
            let role = names.of(&name);
            (*place, name, role)
        })
        .collect();
    let of = |wanted: CanonicalName| {
        let known = named.iter().filter_map(|(place, name, role)| Some((place, name, (*role)?)));
        known.filter(|(_, _, role)| role.0 == wanted).min_by_key(|(_, _, role)| role.1)
    };
    let (step, reward) = (of(CanonicalName::Step), of(CanonicalName::Reward));
    let longest = named.iter().map(|(place, ..)| place.length).max()?;
    let rows = step.or(reward).map_or(longest, |(place, ..)| place.length);
    // The place in a list is the row: a list of another length has other rows.
    let (fitting, other): (Vec<_>, Vec<_>) =
        named.iter().partition(|(place, ..)| place.length.abs_diff(rows) * 10 <= rows);
    if !fitting.iter().any(|(_, _, role)| role.is_some_and(|role| role.0.is_curve())) {
        return None;
    }
    let notes = other.iter().filter(|(_, _, role)| role.is_some()).map(|(place, name, _)| {
        format!("`{name}` left out: it has {} values, the run has {rows} rows", place.length)
    });
    Some(Candidate {
        rows,
        columns: fitting.iter().map(|(place, name, _)| (place.path.clone(), name.clone())).collect(),
        is_certain: step.is_some() || reward.is_some(),
        reward: reward.map(|(_, name, _)| name.clone()),
        notes: notes.collect(),
        path,
    })
}

/// Whether a document holds a run by itself.
pub(super) fn holds_a_run(survey: &Survey<'_>, names: &Names) -> bool {
    candidates(survey, names).iter().any(|candidate| candidate.is_certain)
}

/// The run that has a reward and most rows, and those that have the same reward.
pub(super) fn plan(survey: &Survey<'_>, names: &Names) -> Plan {
    let mut all = candidates(survey, names);
    // transformers says what its rows are.
    if let Some(at) = all.iter().position(|one| split(&one.path).1 == "log_history") {
        all = vec![all.swap_remove(at)];
    }
    let main = all.iter().reduce(|best, one| {
        let (a, b) = ((best.reward.is_some(), best.rows), (one.reward.is_some(), one.rows));
        if b > a { one } else { best }
    });
    let Some(main) = main else { return unknown_rows(survey) };
    let of_rows = main.columns.is_empty();
    let is_beside = |one: &&Candidate| {
        std::ptr::eq(*one, main)
            || main.reward.is_some() && one.reward == main.reward && one.columns.is_empty() == of_rows
    };
    let (runs, others): (Vec<&Candidate>, Vec<&Candidate>) = all.iter().partition(is_beside);
    let mut plan = Plan::default();
    for (run, name) in runs.iter().zip(run_names(&runs)) {
        if of_rows {
            plan.actions.insert(run.path.clone(), Action::Rows(name.clone()));
        }
        for (path, column) in &run.columns {
            plan.actions.insert(path.clone(), Action::Column(column.clone(), name.clone()));
        }
        plan.notes.extend(run.notes.iter().cloned());
    }
    let left: Vec<String> = others.iter().take(TOLD).map(|one| format!("`{}`", told(&one.path))).collect();
    if !left.is_empty() {
        let read: Vec<String> = runs.iter().take(TOLD).map(|one| format!("`{}`", told(&one.path))).collect();
        plan.notes.push(format!("read from {}; left out: {}", read.join(", "), left.join(", ")));
    }
    plan
}

/// Rows of which no name is known: they are read so that their names can be told.
fn unknown_rows(survey: &Survey<'_>) -> Plan {
    let rows = survey.places.iter().filter(|place| place.of_rows && place.rows.is_of_scalars());
    let most = rows.max_by_key(|place| place.length).map(|place| (place.path.clone(), Action::Rows(None)));
    Plan { actions: most.into_iter().collect(), notes: Vec::new() }
}

/// What tells runs apart in their paths; a single run needs no name.
fn run_names(runs: &[&Candidate]) -> Vec<Option<String>> {
    let paths: Vec<Vec<&str>> = runs.iter().map(|run| run.path.split(SEPARATOR).collect()).collect();
    let [first, others @ ..] = &paths[..] else { return Vec::new() };
    if others.is_empty() {
        return vec![None];
    }
    let shared = |at: &dyn Fn(&[&str], usize) -> Option<String>| {
        (0..first.len()).take_while(|i| others.iter().all(|other| at(other, *i) == at(first, *i))).count()
    };
    let front = shared(&|path, i| path.get(i).map(|key| (*key).to_owned()));
    let back = shared(&|path, i| path.len().checked_sub(i + 1).map(|at| path[at].to_owned()));
    let name = |path: &Vec<&str>| {
        let end = path.len().saturating_sub(back).max(front);
        let name = path[front.min(path.len())..end.min(path.len())].join("/");
        Some(if name.is_empty() { told(&path.join("\0")) } else { name })
    };
    paths.iter().map(name).collect()
}
