//! Numbers of sentences held against the very fields that they are of (`fields.txt`): a number that stands anywhere
//! else in the report does not pass here, nor does one that no field is named for.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::apart::{is_rounded, taken_apart};

/// A part of a sentence, its numbers taken out, and what each of them is.
#[derive(Clone, Debug)]
pub struct Part {
    pub text: String,
    sources: Vec<String>,
}

impl Part {
    pub fn new(text: String, sources: Vec<String>) -> Self {
        assert_eq!(text.matches('#').count(), sources.len(), "{text}: {sources:?}");
        Self { text, sources }
    }
}

/// The list: parts by kind of report, or by code of a finding.
pub fn listed() -> BTreeMap<String, Vec<Part>> {
    let mut kinds: BTreeMap<String, Vec<Part>> = BTreeMap::new();
    let (mut kind, mut text) = (None, None);
    for line in include_str!("fields.txt").lines().filter(|line| !line.is_empty()) {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            kind = Some(name.to_owned());
            continue;
        }
        let Some(kind) = &kind else { continue };
        match line.strip_prefix("    ") {
            None => text = Some(line.to_owned()),
            Some(sources) => {
                let sources = sources.split(' ').filter(|source| *source != "-").map(str::to_owned).collect();
                let part = Part::new(text.take().expect(line), sources);
                kinds.entry(kind.clone()).or_default().push(part);
            }
        }
    }
    // The longest first: a short part may stand in a long one.
    kinds.values_mut().for_each(|parts| parts.sort_by_key(|part| std::cmp::Reverse(part.text.len())));
    kinds
}

/// The table of a chart: its columns, and its rows.
pub type Table = Vec<Vec<String>>;

/// What a sentence tells of.
pub struct Told<'a> {
    /// The report.
    pub json: &'a Value,
    /// The cause or warning, where it is of one.
    pub finding: Option<&'a Value>,
    /// Tables of charts by name.
    pub charts: &'a BTreeMap<String, Table>,
}

/// All values at a pointer; the first `*` is the row that is given, or any.
fn at<'a>(json: &'a Value, pointer: &str, row: Option<usize>) -> Vec<&'a Value> {
    let Some((key, rest)) = pointer.strip_prefix('/').map(|p| p.split_once('/').unwrap_or((p, ""))) else {
        return vec![json];
    };
    let rest = if rest.is_empty() { String::new() } else { format!("/{rest}") };
    let inside = |value: Option<&'a Value>, row| value.map_or(Vec::new(), |value| at(value, &rest, row));
    match (key, json) {
        ("*", Value::Array(rows)) => match row {
            Some(row) => inside(rows.get(row), None),
            None => rows.iter().flat_map(|value| inside(Some(value), None)).collect(),
        },
        ("last", Value::Array(rows)) => inside(rows.last(), row),
        (_, Value::Array(rows)) => inside(key.parse::<usize>().ok().and_then(|key| rows.get(key)), row),
        _ => inside(json.get(key), row),
    }
}

fn sum(values: &[f64]) -> f64 {
    values.iter().sum()
}

impl Told<'_> {
    fn numbers(&self, pointer: &str, row: Option<usize>) -> Vec<f64> {
        at(self.json, pointer, row).into_iter().filter_map(Value::as_f64).collect()
    }

    /// Evidence of the finding: `NAME`, those whose names begin so (`NAME*`), or one of these (`NAME*2`).
    fn evidence(&self, name: &str) -> Vec<&Value> {
        let name = name.replace('_', " ");
        let (start, place) = name.split_once('*').map_or((&name[..], None), |(start, at)| (start, Some(at)));
        let is_it = |evidence: &&Value| {
            let what = evidence["what"].as_str().unwrap_or_default().replace('_', " ");
            if place.is_some() { what.starts_with(start) } else { what == start }
        };
        let all = self.finding.and_then(|finding| finding["evidence"].as_array());
        let found = all.into_iter().flatten().filter(is_it);
        match place.and_then(|place| place.parse::<usize>().ok()) {
            Some(place) => found.skip(place - 1).take(1).collect(),
            None => found.collect(),
        }
    }

    fn table(&self, name: &str) -> &Table {
        self.charts.get(name).unwrap_or_else(|| panic!("no chart is called {name}"))
    }

    /// The values that a source has.
    fn values(&self, source: &str, row: Option<usize>) -> Vec<f64> {
        let of = |source: &str| self.values(source, row);
        for (sign, calculate) in
            [('×', (|a, b| a * b) as fn(f64, f64) -> f64), ('÷', |a, b| a / b), ('+', |a, b| a + b)]
        {
            if let Some((left, right)) = source.split_once(sign) {
                let right = of(right);
                return of(left).iter().flat_map(|a| right.iter().map(move |b| calculate(*a, *b))).collect();
            }
        }
        if let Some(number) = source.strip_prefix('=') {
            return vec![number.parse().expect(source)];
        }
        if let Some(source) = source.strip_prefix('%') {
            return of(source).iter().map(|share| 100.0 * share).collect();
        }
        if let Some(source) = source.strip_prefix("exp-") {
            return of(source).iter().map(|value| (-value).exp()).collect();
        }
        if let Some(name) = source.strip_prefix("rows:") {
            return vec![self.table(name).len() as f64 - 1.0];
        }
        if let Some((name, column)) = source.strip_prefix("mean:").and_then(|rest| rest.split_once(':')) {
            let table = self.table(name);
            let column = table[0].iter().position(|title| title == column).expect(source);
            let values: Vec<f64> = table[1..].iter().filter_map(|row| row[column].parse().ok()).collect();
            return vec![sum(&values) / values.len() as f64];
        }
        if let Some(name) = source.strip_prefix("e:") {
            return self.evidence(name).iter().filter_map(|evidence| evidence["value"].as_f64()).collect();
        }
        if let Some(name) = source.strip_prefix("step:") {
            return self.evidence(name).iter().filter_map(|evidence| evidence["step"].as_f64()).collect();
        }
        if let Some(name) = source.strip_prefix("name:") {
            let names = self.evidence(name).into_iter().filter_map(|evidence| evidence["what"].as_str());
            return names.flat_map(|what| taken_apart(what).1).filter_map(|n| n.parse().ok()).collect();
        }
        if source == "from" {
            return self.finding.and_then(|finding| finding["from_step"].as_f64()).into_iter().collect();
        }
        let (head, pointer) = source.split_at(source.find('/').expect(source));
        match head {
            "" | "p" => self.numbers(pointer, row),
            "u" => {
                let unit = at(self.json, &format!("{}/unit", pointer.rsplit_once('/').unwrap().0), row);
                let scale = if unit.first().is_some_and(|unit| *unit == "share") { 100.0 } else { 1.0 };
                self.numbers(pointer, row).iter().map(|value| scale * value).collect()
            }
            "1-" => self.numbers(pointer, row).iter().map(|value| 1.0 - value).collect(),
            "noise" => self.numbers(pointer, row).iter().map(|value| 2.0 / value.sqrt()).collect(),
            "n" => {
                let rows = at(self.json, pointer, None);
                vec![rows.iter().filter_map(|rows| rows.as_array()).map(Vec::len).sum::<usize>() as f64]
            }
            "count" => {
                let (pointer, wanted) = pointer.split_once('=').expect(source);
                vec![at(self.json, pointer, None).iter().filter(|value| **value == wanted).count() as f64]
            }
            "sum" => vec![sum(&self.numbers(pointer, None))],
            "mean" => {
                let all = self.numbers(pointer, None);
                vec![sum(&all) / all.len() as f64]
            }
            "max" => vec![self.numbers(pointer, None).into_iter().fold(f64::NEG_INFINITY, f64::max)],
            _ => panic!("{source}: what is that?"),
        }
    }

    /// Whether a number as it is written is that of a source; of several (`a|b`), of one.
    fn is(&self, source: &str, row: Option<usize>, number: &str) -> bool {
        if source.contains('|') {
            return source.split('|').any(|source| self.is(source, row, number));
        }
        if let Some(source) = source.strip_prefix("most:") {
            let plain: f64 = number.replace(',', "").parse().unwrap();
            return self.values(source, row).iter().any(|most| plain <= *most);
        }
        if let Some(pointer) = source.strip_prefix("in:") {
            let stated =
                at(self.json, pointer, row).iter().map(|value| value.to_string()).collect::<String>();
            return taken_apart(&stated.replace('"', "")).1.iter().any(|stated| stated == number);
        }
        let is_value = |value: &f64| {
            is_rounded(number, *value) || source.starts_with("p/") && *value < 0.001 && number == "0.001"
        };
        self.values(source, row).iter().any(is_value)
    }

    /// How many rows the `*` of a part stands for; what goes over all rows binds none.
    fn rows(&self, part: &Part) -> usize {
        let bound = |source: &&String| {
            let head = &source[..source.find('/').unwrap_or(0)];
            source.contains("/*") && !["sum", "mean", "max", "n", "count"].contains(&head)
        };
        let Some(source) = part.sources.iter().find(bound) else { return 1 };
        let list = &source[source.find('/').unwrap()..source.find("/*").unwrap()];
        at(self.json, list, None).first().and_then(|rows| rows.as_array()).map_or(1, Vec::len)
    }

    /// The numbers that are not those of their sources, in the row where they are fewest.
    fn wrong<'a>(&self, part: &'a Part, numbers: &'a [String]) -> Vec<(&'a str, &'a str)> {
        let in_row = |row: usize| {
            let pairs = numbers.iter().zip(&part.sources);
            let wrong = pairs.filter(|(number, source)| !self.is(source, Some(row), number));
            wrong.map(|(number, source)| (number.as_str(), source.as_str())).collect::<Vec<_>>()
        };
        (0..self.rows(part).max(1)).map(in_row).min_by_key(Vec::len).unwrap_or_default()
    }
}

/// A sentence whose numbers are claimed one after the other.
pub struct Sentence {
    plain: String,
    text: String,
    numbers: Vec<String>,
    claimed: Vec<bool>,
    /// What is wrong with it.
    pub faults: Vec<String>,
}

/// A sentence and its numbers, signs left out.
pub fn unsigned(plain: &str) -> (String, Vec<String>) {
    let (text, numbers) = taken_apart(plain);
    (text.replace("-#", "#").replace("+#", "#"), numbers)
}

impl Sentence {
    /// A sentence with plain numbers.
    pub fn new(plain: &str) -> Self {
        let (text, numbers) = unsigned(plain);
        let claimed = vec![false; numbers.len()];
        Self { plain: plain.to_owned(), text, numbers, claimed, faults: Vec::new() }
    }

    /// Claims the numbers of a part wherever it stands; whether it does.
    pub fn claim(&mut self, part: &Part, told: &Told<'_>) -> bool {
        let (mut found, mut from) = (false, 0);
        while let Some(at) = self.text[from..].find(&part.text).map(|at| from + at) {
            from = at + part.text.len();
            let first = self.text[..at].matches('#').count();
            let place = first..first + part.sources.len();
            if self.claimed[place.clone()].contains(&true) {
                continue;
            }
            found = true;
            self.claimed[place.clone()].fill(true);
            for (number, source) in told.wrong(part, &self.numbers[place]) {
                self.faults.push(format!("{number} is not {source} in: {}", self.plain));
            }
        }
        found
    }

    /// Whether it begins so, numbers and all.
    pub fn begins(&self, plain: &str) -> bool {
        self.plain.starts_with(plain)
    }

    /// Claims numbers that are held against their fields elsewhere.
    pub fn leave(&mut self, plain: &str) {
        let (text, numbers) = unsigned(plain);
        if let Some(at) = self.text.find(&text) {
            let first = self.text[..at].matches('#').count();
            if self.numbers[first..first + numbers.len()] == numbers {
                self.claimed[first..first + numbers.len()].fill(true);
            }
        }
    }

    /// Claims by all parts of a kind.
    pub fn claim_all(&mut self, parts: &[Part], told: &Told<'_>, met: &mut BTreeSet<String>) {
        for part in parts {
            if self.claim(part, told) {
                met.insert(part.text.clone());
            }
        }
    }

    /// What is wrong with it, numbers without a field among it.
    pub fn end(mut self) -> Vec<String> {
        for (number, _) in self.numbers.iter().zip(&self.claimed).filter(|(_, claimed)| !**claimed) {
            self.faults.push(format!("no field is named for {number} in: {}", self.plain));
        }
        self.faults
    }
}

/// What is wrong with the message of a finding: its template must be listed under its code, and its numbers be those
/// of its fields.
pub fn finding(
    list: &BTreeMap<String, Vec<Part>>,
    told: &Told<'_>,
    met: &mut BTreeSet<String>,
) -> Vec<String> {
    let finding = told.finding.unwrap();
    let (code, message) = (finding["code"].as_str().unwrap(), finding["message"].as_str().unwrap());
    let (text, numbers) = unsigned(message);
    let Some(part) = list.get(code).and_then(|parts| parts.iter().find(|part| part.text == text)) else {
        return vec![format!("NEW\n[{code}]\n{text}\n    {numbers:?} of {}", finding["evidence"])];
    };
    met.insert(format!("{code}: {text}"));
    let wrong = told.wrong(part, &numbers);
    wrong.iter().map(|(number, source)| format!("{code}: {number} is not {source} in: {message}")).collect()
}

#[test]
fn a_number_of_another_field_is_found() {
    let json = serde_json::json!({
        "s2t": {"silenced": 27, "fraction": 0.0001, "energy_share": 0.0035, "mean_norm_ratio": 94.5},
        "totals": {"tokens": 251_416},
        "alignment": [{"steps": 11, "prompts": 7}, {"steps": 5, "prompts": 3}],
    });
    let list = listed();
    let told = |kind: &str, sentence: &str| {
        let charts = BTreeMap::new();
        let told = Told { json: &json, finding: None, charts: &charts };
        let mut sentence = Sentence::new(sentence);
        sentence.claim_all(&list[kind], &told, &mut BTreeSet::new());
        sentence.end()
    };
    let said = |count: &str| {
        format!(
            "{count} of 251,416 tokens are spurious (0.01 %); they carry 0.35 % of the gradient energy, 94.5 times the mean norm: x."
        )
    };
    assert_eq!(told("summary", &said("27")), Vec::<String>::new());
    // 94.5 is a number of the report, but not this one.
    assert_eq!(told("summary", &said("94.5")).len(), 1);
    assert_eq!(told("summary", "27 is a number of no sentence.").len(), 1);
    // Numbers of one part are of one row.
    let rows = |[steps, prompts]: [usize; 2]| {
        let charts = BTreeMap::new();
        let told = Told { json: &json, finding: None, charts: &charts };
        let sources = ["/alignment/*/steps", "/alignment/*/prompts"].map(str::to_owned).to_vec();
        let mut sentence = Sentence::new(&format!("{steps} steps, {prompts} prompts"));
        sentence.claim(&Part::new("# steps, # prompts".into(), sources), &told);
        sentence.end().len()
    };
    assert_eq!([rows([11, 7]), rows([5, 3]), rows([11, 3])], [0, 0, 1]);
}
