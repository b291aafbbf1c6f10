//! Tinker cookbook captures: flat lists of the response; ids need their parents to be unique.

use super::super::field::{Field, Object};

pub(super) fn response(mut row: Object) -> Object {
    if row.get("sample_id").is_none() {
        let parts: Vec<_> = ["group_idx", "traj_idx", "seq_id", "sample_idx"]
            .iter()
            .filter_map(|name| row.get(name).and_then(Field::id))
            .collect();
        if !parts.is_empty() {
            let id = parts.join("-");
            row.set("sample_id", Field::Text(id));
        }
    }
    // The version is a free text (a checkpoint path); only a number can be compared with steps.
    if let Some(Field::Text(version)) = row.get("policy_version") {
        let number = version.parse().ok();
        row.take("policy_version");
        if let Some(number) = number {
            row.set("policy_version", Field::Int(number));
        }
    }
    row
}
