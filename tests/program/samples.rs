//! What is said of the sample runs, in the terminal and at the head of `report.md`: state, causes, key figures. Bytes are
//! promised on one kind of machine only, so numbers are held to six digits.

use std::path::Path;
use std::process::Command;

use assert_cmd::cargo::CommandCargoExt;

/// Lines of `report.md` that are held: the verdict, causes and key figures, not the tables behind them.
const HEAD: usize = 40;

/// A text whose numbers have at most six digits.
fn in_six_digits(text: &str) -> String {
    let is_part = |c: char| c.is_ascii_digit() || c == '.';
    let mut rounded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, from) = rest.split_at(start);
        let end = from.find(|c| !is_part(c)).unwrap_or(from.len());
        let (number, after) = from.split_at(end);
        rounded.push_str(before);
        let digits = number.trim_start_matches(['0', '.']).bytes().filter(u8::is_ascii_digit).count();
        match number.parse::<f64>() {
            Ok(value) if digits > 6 && number.contains('.') => {
                let places = 5 - value.abs().log10().floor() as i32;
                rounded.push_str(&format!("{value:.*}", places.max(0) as usize));
            }
            _ => rounded.push_str(number),
        }
        rest = after;
    }
    rounded + rest
}

#[test]
fn numbers_are_held_to_six_digits() {
    assert_eq!(
        in_six_digits("0.123456789 of 1,234 at 1.5.2, 12345.6789, 1e-4"),
        "0.123457 of 1,234 at 1.5.2, 12345.7, 1e-4"
    );
}

/// What the program says when it is called so, and how its report begins.
fn said(arguments: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut command = Command::cargo_bin("stapo-analyze").unwrap();
    let output =
        command.current_dir(root).args(arguments).arg("--report").arg(folder.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let name = if arguments[0] == "compare" { "compare.md" } else { "report.md" };
    let report = std::fs::read_to_string(folder.path().join(name)).unwrap();
    let head: Vec<&str> = report.lines().take(HEAD).collect();
    let text = format!("{}\n---- {name}\n{}\n", String::from_utf8(output.stdout).unwrap(), head.join("\n"));
    in_six_digits(&text.replace(&folder.path().display().to_string(), "out"))
}

macro_rules! samples {
    ($($name:ident: $arguments:expr;)*) => { $(
        #[test]
        fn $name() {
            insta::assert_snapshot!(stringify!($name), said(&$arguments));
        }
    )* };
}

samples! {
    grpo: ["notebooks-data/grpo.parquet"];
    stapo: ["notebooks-data/stapo.parquet"];
    without_entropy: ["notebooks-data/grpo.parquet", "--map", "entropy="];
    early_steps: ["notebooks-data/grpo.parquet", "--steps", "0..8"];
    ward_easy: ["notebooks-data/ward/easy.parquet"];
    ward_flipped: ["notebooks-data/ward/flipped.parquet"];
    ward_hacked: ["notebooks-data/ward/hacked.parquet"];
    ward_healthy: ["notebooks-data/ward/healthy.parquet"];
    ward_hot: ["notebooks-data/ward/hot.parquet"];
    ward_noise: ["notebooks-data/ward/noise.parquet"];
    ward_positive_only: ["notebooks-data/ward/positive_only.parquet"];
    ward_temperature: ["notebooks-data/ward/temperature.parquet"];
    compared: ["compare", "notebooks-data/grpo.parquet", "notebooks-data/stapo.parquet"];
    compared_with_itself: ["compare", "notebooks-data/ward/healthy.parquet", "notebooks-data/ward/easy.parquet"];
}
