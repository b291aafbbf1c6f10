//! A run that grows by its last file.

use std::path::Path;

use super::arguments::Arguments;
use super::figures::{Figures, table_head, table_row};
use super::logs::Log;
use super::process::{Cost, bytes_in, empty, require_same, run, text};

pub fn measure(arguments: &Arguments, log: &Log, folder: &Path, figures: &mut Figures) {
    let [cache, report, cached] = ["cache", "alone", "cached"].map(|name| folder.join(name));
    let (last, aside) = (log.file(log.files - 1), folder.join("last.parquet"));
    let alone = || run(&arguments.program, &[text(&log.folder), "--report", text(&report), "-q"]);
    let kept = || {
        let given = [text(&log.folder), "--report", text(&cached), "-q", "--cache", text(&cache)];
        run(&arguments.program, &given)
    };
    let [mut plain, mut first, mut grown, mut nothing] = [const { Vec::new() }; 4];
    arguments.rounds(|| {
        let note = |name: &str, costs: &mut Vec<Cost>, cost: Cost| {
            figures.note(name, cost);
            costs.push(cost);
        };
        note("without a cache", &mut plain, alone());
        empty(&cache);
        std::fs::rename(&last, &aside).unwrap();
        note("with an empty cache, without the last file", &mut first, kept());
        std::fs::rename(&aside, &last).unwrap();
        note("grown by the last file", &mut grown, kept());
        note("nothing new", &mut nothing, kept());
        require_same(&report, &cached);
    });
    let [plain, first, grown, nothing] = [plain, first, grown, nothing].map(|costs| Cost::median(&costs));
    let mut table = table_head("against no cache");
    table += &table_row("without a cache", plain, Some(plain));
    table += &table_row("with an empty cache, without the last file", first, Some(plain));
    table += &table_row("with that cache, grown by the last file", grown, Some(plain));
    table += &table_row("with that cache, nothing new", nothing, Some(plain));
    table += &format!(
        "\nA run that grew is read {:.1} times as fast ({:.1} times by processor time). The cache takes {:.1} MB. \
         The reports are equal byte for byte.\n",
        plain.seconds / grown.seconds,
        plain.processor / grown.processor,
        bytes_in(&cache, "cache-part") / 1e6
    );
    figures.part("cache", log, &table);
}
