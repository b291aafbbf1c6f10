//! Counts, and how sure they are.

/// The 95 % upper bound of a rate of which `found` of `of` were seen (Clopper and Pearson).
pub fn upper(found: u64, of: u64) -> f64 {
    if found >= of {
        return 1.0;
    }
    let (mut low, mut high) = (found as f64 / of as f64, 1.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if at_most(found, of, middle) > 0.05 { low = middle } else { high = middle }
    }
    high
}

/// Chance of at most `found` of `of` at a rate.
fn at_most(found: u64, of: u64, rate: f64) -> f64 {
    let (ln_p, ln_q) = (rate.ln(), (1.0 - rate).ln());
    let mut ln_choose = 0.0;
    let mut sum = 0.0;
    for k in 0..=found {
        sum += (ln_choose + k as f64 * ln_p + (of - k) as f64 * ln_q).exp();
        ln_choose += ((of - k) as f64).ln() - ((k + 1) as f64).ln();
    }
    sum
}

/// Of how many, how many, at most.
#[derive(Clone, Copy, Debug, Default)]
pub struct Count {
    pub found: u64,
    pub of: u64,
}

impl Count {
    pub fn add(&mut self, is_one: bool) {
        self.found += u64::from(is_one);
        self.of += 1;
    }

    pub fn join(&mut self, other: Self) {
        self.found += other.found;
        self.of += other.of;
    }

    pub fn rate(self) -> f64 {
        self.found as f64 / self.of.max(1) as f64
    }

    /// In per cent.
    pub fn share(self) -> String {
        percent(self.rate())
    }

    /// Its upper bound in per cent.
    pub fn bound(self) -> String {
        percent(upper(self.found, self.of.max(1)))
    }
}

/// With two digits, or none where it is 0 or 1.
pub fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    match percent {
        p if p == 0.0 || p == 100.0 => format!("{p:.0} %"),
        p if p < 0.1 => format!("{p:.2} %"),
        p if p < 10.0 => format!("{p:.1} %"),
        p => format!("{p:.0} %"),
    }
}

/// A row.
pub fn row(cells: &[String]) -> String {
    format!("| {} |\n", cells.join(" | "))
}

/// The head of a table; a bar below each column.
pub fn head(columns: &[&str]) -> String {
    format!("| {} |\n|{}\n", columns.join(" | "), "---|".repeat(columns.len()))
}

/// With commas between thousands.
pub fn grouped(number: u64) -> String {
    stapo_analyze::format::grouped(number)
}
