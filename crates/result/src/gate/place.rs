//! Where a path leads in a JSON file, and what is missing where it leads nowhere.

use serde_json::Value;

/// All values that a path leads to.
pub fn values(whole: &Value, path: &[String]) -> Vec<Value> {
    let mut found = Vec::new();
    follow(whole, path, &mut found);
    found
}

/// Names of fields may hold dots. Items of lists are found by their place, or by their `name`, which may hold
/// dots, too, and may be that of several.
fn follow(value: &Value, path: &[String], found: &mut Vec<Value>) {
    let Some((first, rest)) = path.split_first() else {
        found.push(value.clone());
        return;
    };
    let several = || (1..=path.len()).map(|words| (path[..words].join("."), &path[words..]));
    let Value::Array(items) = value else {
        for (name, rest) in several() {
            value.get(name).into_iter().for_each(|field| follow(field, rest, found));
        }
        return;
    };
    if let Ok(at) = first.parse::<i64>() {
        let at = if at < 0 { at + items.len() as i64 } else { at };
        let item = usize::try_from(at).ok().and_then(|at| items.get(at));
        item.into_iter().for_each(|item| follow(item, rest, found));
        return;
    }
    for (name, rest) in several() {
        let named = items.iter().filter(|item| item["name"] == name.as_str());
        named.for_each(|item| follow(item, rest, found));
    }
}

/// What stands in the way of a path that leads nowhere: the last place that is there, and what it lacks.
pub fn missing(whole: &Value, path: &[String], file: &str) -> String {
    let there = (0..path.len()).rev().find_map(|words| {
        let container = values(whole, &path[..words]).into_iter().next()?;
        Some((words, container))
    });
    let (words, container) = there.unwrap_or((0, Value::Null));
    let place = match words {
        0 => format!("{file} of this run"),
        _ => format!("`{}` in {file} of this run", path[..words].join(".")),
    };
    match (&container, &path[words..]) {
        (Value::Null, _) if words > 0 => format!("{place} has no value"),
        (Value::Array(rows), [row, ..]) if row.parse::<i64>().is_ok() => {
            let plural = if rows.len() == 1 { "" } else { "s" };
            format!("{place} has no row {row} ({} row{plural}, counted from 0)", rows.len())
        }
        (_, rest) => format!("{place} has no `{}`", rest.join(".")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn path(text: &str) -> Vec<String> {
        text.split('.').map(str::to_owned).collect()
    }

    #[test]
    fn names_of_fields_may_hold_dots() {
        let whole = json!({"run": {"quantiles": {"0.5": 7, "0.001": 8}}, "by": [{"0.5": 9}]});
        let found = |text: &str| values(&whole, &path(text));
        assert_eq!(found("run.quantiles.0.5"), [json!(7)]);
        assert_eq!(found("run.quantiles.0.001"), [json!(8)]);
        assert_eq!(found("by.0.0.5"), [json!(9)]);
        assert_eq!(found("run.quantiles.0.9"), Vec::<Value>::new());
    }

    #[test]
    fn what_is_not_there_is_named() {
        let whole = json!({"steps": [{"step": 0}], "groups": null, "parts": [{"name": "a", "mean": 1}]});
        let said = |text: &str| missing(&whole, &path(text), "x.json");
        assert_eq!(
            said("steps.40.k3"),
            "`steps` in x.json of this run has no row 40 (1 row, counted from 0)"
        );
        assert_eq!(said("steps.0.k3"), "`steps.0` in x.json of this run has no `k3`");
        assert_eq!(said("groups.pass_at.16"), "`groups` in x.json of this run has no value");
        assert_eq!(said("parts.b.mean"), "`parts` in x.json of this run has no `b.mean`");
        assert_eq!(said("truncated.share"), "x.json of this run has no `truncated.share`");
    }
}
