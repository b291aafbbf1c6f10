//! How numbers are written for people.

pub use stapo_base::format::{
    amount, counted, fixed, grouped as count, none, number, number_or_dash, percent, percent_or_dash, times,
};
