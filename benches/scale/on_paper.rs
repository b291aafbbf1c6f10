//! What larger logs would take, from what was measured.

use super::figures::Figures;
use super::logs::Log;
use super::{merge, shards};

/// Tokens of a shard where nothing else is said.
const SHARD: f64 = 2e8;
/// What a core is rented for, by the hour: on-demand list prices are about this.
const CORE_HOUR: f64 = 0.05;

pub fn estimate(log: &Log, shards: shards::Measured, merge: merge::Measured, figures: &mut Figures) {
    let tokens = log.tokens as f64;
    let (core_rate, bytes) = (tokens / shards.processor, log.bytes / tokens);
    let mut out = format!(
        "From these rates: {:.1} M tokens a second and core, {bytes:.1} bytes a token, one candidate in {:.0} tokens, {:.2} s \
         a part and {:.2} µs a candidate in `merge`, shards of 2e8 tokens, {CORE_HOUR} USD a core-hour (insert your own), reading \
         as fast as it is needed ({:.0} MB/s a core):\n\n",
        core_rate / 1e6,
        1.0 / merge.share,
        merge.part,
        merge.candidate * 1e6,
        core_rate * bytes / 1e6
    );
    out += "| tokens | log | shards | parts | collect, core-hours | on 16 machines of 16 cores | merge | USD |\n";
    out += "|---|---|---|---|---|---|---|---|\n";
    for size in [1e10, 1e12_f64] {
        let count = (size / SHARD).ceil();
        let candidates = size * merge.share;
        let collect = size / core_rate / 3600.0;
        let merging = (count * merge.part + candidates * merge.candidate) / 3600.0;
        out += &format!(
            "| 10^{:.0} | {:.2} TB | {count:.0} | {:.1} GB | {collect:.1} | {:.1} min | {:.1} min | {:.2} |\n",
            size.log10(),
            size * bytes / 1e12,
            (count * merge.part_bytes + candidates * merge.candidate_bytes) / 1e9,
            collect * 60.0 / 256.0,
            merging * 60.0,
            // The machine that merges has two cores.
            (collect + 2.0 * merging) * CORE_HOUR
        );
    }
    figures.block("paper", out);
}
