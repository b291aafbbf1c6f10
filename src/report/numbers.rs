//! How numbers are written for people.

pub use crate::format::{
    amount, counted, fixed, grouped as count, none, number, number_or_dash, percent, percent_or_dash, times,
};
