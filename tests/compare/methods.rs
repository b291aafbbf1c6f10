//! The level of methods: several seeds a side.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::compare_support::Made;
use crate::{arms_of_data, json, program, said};

fn repro(letter: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/repro");
    let seeds = (0..3).map(|seed| folder.join(format!("seed_{letter}{seed}.parquet")).display().to_string());
    format!("{letter}={}", seeds.collect::<Vec<_>>().join(","))
}

fn tested(found: &Value) -> Vec<&Value> {
    let contrasts = found["methods"]["contrasts"].as_array().unwrap().iter();
    contrasts.filter(|contrast| contrast["p_value"].is_number()).collect()
}

/// Three seeds a side whose entropies are half a nat apart: found where entropy is what is asked for.
#[test]
fn three_seeds_find_a_difference_of_the_metric_that_is_asked_for() {
    let arms = ["--arm".to_owned(), repro("x"), "--arm".to_owned(), repro("y")];
    let found = json(program().args(&arms).args(["--metric", "entropy"]));
    let [contrast] = tested(&found)[..] else { panic!("{}", found["methods"]) };
    assert_eq!((&contrast["arm"], &contrast["significant"]), (&"y".into(), &true.into()));
    let lines = said(&found, "methods");
    assert!(lines[0].starts_with("y is below x with three seeds a side: −0.48 in entropy"), "{lines:?}");
    assert_eq!(
        (found["methods_differ"].as_bool(), found["settings"]["primary"].as_str()),
        (Some(true), Some("entropy"))
    );
    // Of the reward, which is judged by default, there are intervals; nothing else is called different.
    let found = json(program().args(&arms));
    assert!(tested(&found).iter().all(|contrast| contrast["metric"] == "reward"));
    assert_eq!(found["methods_differ"], false);
    let entropy = found["methods"]["contrasts"].as_array().unwrap().iter().find(|c| c["metric"] == "entropy");
    assert!(entropy.unwrap()["interval"].is_array() && entropy.unwrap()["significant"] == false);
}

#[test]
fn fewer_seeds_never_speak_of_methods() {
    let folder = tempfile::tempdir().unwrap();
    let paths: Vec<PathBuf> = (0..6_u64)
        .map(|seed| {
            let entropy = if seed < 3 { 0.5 } else { 0.9 };
            Made { seed, steps: (0..8).collect(), entropy, ..Made::default() }
                .write(folder.path(), &format!("s{seed}"))
        })
        .collect();
    let list = |range: std::ops::Range<usize>| {
        paths[range].iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(",")
    };
    let arms = |first, second| {
        let arms = [format!("a={}", list(first)), format!("b={}", list(second))];
        json(program().args(["--arm", &arms[0], "--arm", &arms[1], "--metric", "entropy"]))
    };
    for (first, second) in [(0..2, 3..5), (0..3, 3..5), (0..3, 3..4)] {
        let found = arms(first, second);
        assert!(tested(&found).is_empty() && found["methods_differ"] == false);
        let contrasts = found["methods"]["contrasts"].as_array().unwrap();
        assert!(contrasts.iter().all(|c| c["interval"].is_null() && c["reason"] == "few_seeds"));
        let lines = said(&found, "methods");
        assert_eq!(lines, ["b and a are not compared as methods: fewer than three seeds a side."]);
        // The runs still differ, as runs; seeds of one arm are called that.
        assert_eq!(found["runs_differ"], true);
        let own = &found["pairs"][0];
        assert_eq!((own["name"].as_str(), own["same_settings"].as_bool()), (Some("s1"), Some(true)));
    }
    assert_eq!(tested(&arms(0..3, 3..6)).len(), 1);
    // The same files as single runs are six runs, and no methods.
    let found = json(program().args(&paths));
    assert_eq!((found["arms"].as_array().unwrap().len(), found["pairs"].as_array().unwrap().len()), (6, 5));
    assert!(found.get("methods").is_none());
}

/// Two single runs, with the scatter of seeds of one recipe beside them.
#[test]
fn a_bank_of_seeds_bounds_single_runs() {
    let folder = tempfile::tempdir().unwrap();
    let made = |seed: u64, own: f64| {
        Made { seed, own: (own, 0.0), ..Made::default() }
            .write(folder.path(), &format!("s{seed}"))
            .display()
            .to_string()
    };
    let bank = [made(11, 0.0), made(12, 0.1), made(13, -0.1)].join(",");
    let mut command = program();
    command.args([made(1, 0.0), made(2, 0.3)]).args(["--metric", "entropy", "--seeds-like", &bank]);
    let found = json(&mut command);
    let lines = said(&found, "seeds");
    assert!(lines[0].starts_with("s1 and s2 differ by no more than seeds do: entropy 0."), "{lines:?}");
    assert!(lines[0].ends_with("after three runs of one recipe."), "{lines:?}");
    assert_eq!(
        (&found["pairs"][0]["seeds"]["seeds"], found["runs_differ"].as_bool()),
        (&3.into(), Some(true))
    );
}

/// Nine runs of the real model: whether it is better than the baseline, and whether it is the mask.
#[test]
#[ignore = "needs STAPO_DATA"]
fn arms_of_the_real_model_are_undecided() {
    let arms = arms_of_data().expect("STAPO_DATA is the folder of all data");
    let mut command = program();
    arms.iter().for_each(|arm| {
        command.args(["--arm", arm]);
    });
    let found = json(&mut command);
    let lines = said(&found, "methods");
    assert_eq!(
        lines,
        [
            "Undecided with three seeds a side: stapo minus grpo +0.02 in reward, interval −0.09 to +0.14.",
            "Against the random mask +0.04 (−0.04 to +0.12), undecided. Three seeds show about 0.15; 0.05 needs about 13 a side.",
            "So few seeds tell this roughly: 13 may be 6 to 58; 0.10 needs 5 (3 to 16); in pairs 8 and 4.",
        ]
    );
    assert_eq!(tested(&found).len(), 2);
}
