//! What the numbers of a mask mean: flags and weights, or labels. Decided once for a column, from
//! what all files of a schema show, and said.

use crate::files::opened::{Opened, Source};
use crate::schema::mapping::{Mapping, Transform};
use crate::values::arrays::{IGNORED_LABEL, range_of, to_f64};
use crate::values::lists::Lists;
use stapo_batch::columns::Column;

/// Decides how the masks of a schema are read; `files` are all that have it.
pub fn decide_masks(mapping: &mut Mapping, files: &[&Opened]) {
    let Some(mask) = mapping.columns.iter_mut().find(|m| m.column == Column::Mask) else { return };
    for source in mask.sources.iter_mut().filter(|s| s.transform == Transform::Keep) {
        let ranges: Vec<(f64, f64)> = files.iter().filter_map(|file| range(file, &source.name)).collect();
        let least = ranges.iter().map(|r| r.0).fold(f64::INFINITY, f64::min);
        let most = ranges.iter().map(|r| r.1).fold(f64::NEG_INFINITY, f64::max);
        if least == IGNORED_LABEL {
            source.transform = Transform::Labels;
            mapping.notes.push(format!(
                "`{}` has labels: −100 is not trained on, every token id is (0 too)",
                source.name
            ));
        } else if most > 1.0 || (most > 0.0 && most < 1.0) || least < 0.0 {
            mapping.notes.push(format!(
                "`{}` has weights ({least} to {most}): tokens above 0 are trained on, the others are not; the weights themselves are not used",
                source.name
            ));
        }
    }
}

/// The least and the largest value of a mask, as far as the head of the file tells.
fn range(file: &Opened, name: &str) -> Option<(f64, f64)> {
    match &file.source {
        Source::Parquet(head) => head.stated_range(name).or_else(|| head.first_range(&file.log.stored, name)),
        Source::Elsewhere { .. } => None,
        Source::Json => {
            let first = file.first_rows()?;
            let array = first.column_by_name(name)?;
            let values = Lists::of(array).map_or_else(|_| array.clone(), |lists| lists.values);
            range_of(&to_f64(&values).ok()?)
        }
    }
}
