//! The scan of a run: units of work, decoded side by side or in order, responses stitched across them.

pub mod copies;
pub mod decode;
pub mod fair_sample;
pub mod handover;
pub mod in_order;
pub mod parallel;
pub mod passed;
pub mod planned;
pub mod renumber;
pub mod response_keys;
pub mod row_index;
pub mod scan_part;
pub mod selection;
pub mod shared;
pub mod step_filter;
pub mod stitch;
pub mod unit_table;
pub mod units;
pub mod wanted;
pub mod watch;
