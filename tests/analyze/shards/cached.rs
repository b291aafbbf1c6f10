//! `--cache`: files that did not change are not read again.

use std::path::{Path, PathBuf};

use stapo_analyze::analyze::{
    AnalyzeSettings, Cache, CacheUse, analyze_cached, analyze_for_comparison, analyze_for_comparison_cached,
};
use stapo_analyze::framework::s2t::S2tSettings;
use stapo_analyze::ingest::Silent;

use crate::shards::logs::{Content, Shape, write};
use crate::shards::{assert_same, everything, in_one_process, open, preset, tight};

fn cached(paths: &[PathBuf], settings: &AnalyzeSettings, folder: &Path) -> (String, CacheUse) {
    let cache = Cache::open(folder).unwrap();
    let (analysis, mut flagged, used) = analyze_cached(&open(paths), settings, &cache, &Silent).unwrap();
    (everything(&analysis, &mut flagged), used)
}

fn entries(cache: &Path) -> Vec<PathBuf> {
    let all = std::fs::read_dir(cache).unwrap().flatten().map(|e| e.path());
    let mut all: Vec<PathBuf> = all.filter(|p| p.extension().is_some_and(|e| e == "cache-part")).collect();
    all.sort();
    all
}

#[test]
fn a_run_that_grows_is_read_from_there_on_and_gives_the_same_bytes() {
    for shape in [Shape::Nested, Shape::Long, Shape::Json] {
        for settings in [preset(S2tSettings::v5()), tight(S2tSettings::v5()), tight(S2tSettings::v1())] {
            let folder = tempfile::tempdir().unwrap();
            let paths = write(folder.path(), Content::new(shape), 5);
            let cache = folder.path().join("cache");
            // With one file, ids need not be compared: a second one is another case.
            let mut known = 0;
            for files in [2, 3, 5] {
                let (found, used) = cached(&paths[..files], &settings, &cache);
                assert_eq!((used.reused, used.read), (known, files - known), "{shape:?} {:?}", used.notes);
                assert_eq!(used.notes, Vec::<String>::new());
                assert_same(&in_one_process(&paths[..files], &settings), &found);
                known = files;
            }
            let (found, used) = cached(&paths, &settings, &cache);
            assert_eq!((used.reused, used.read), (5, 0));
            assert_same(&in_one_process(&paths, &settings), &found);
        }
    }
}

#[test]
fn files_between_others_move_them_where_ids_tell_responses_apart() {
    for (ids, reused) in [(true, 3), (false, 0)] {
        let folder = tempfile::tempdir().unwrap();
        let paths = write(folder.path(), Content { ids, ..Content::new(Shape::Nested) }, 5);
        let cache = folder.path().join("cache");
        let settings = tight(S2tSettings::v5());
        let some = [paths[0].clone(), paths[2].clone(), paths[4].clone()];
        cached(&some, &settings, &cache);
        let (found, used) = cached(&paths, &settings, &cache);
        assert_eq!((used.reused, used.read), (reused, 5 - reused), "{:?}", used.notes);
        assert_eq!(used.notes, Vec::<String>::new());
        assert_same(&in_one_process(&paths, &settings), &found);
    }
}

#[test]
fn what_changed_or_is_broken_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let paths = write(folder.path(), Content::new(Shape::Nested), 4);
    let cache = folder.path().join("cache");
    let settings = preset(S2tSettings::v5());
    cached(&paths, &settings, &cache);
    let expected = in_one_process(&paths, &settings);
    // One of the newest file, one of the others.
    assert_eq!(entries(&cache).len(), 2);
    for entry in entries(&cache) {
        let whole = std::fs::read(&entry).unwrap();
        // Cut short at many places, and one bit wrong at many places.
        let mut broken: Vec<Vec<u8>> = (0..4).map(|i| whole[..whole.len() * i / 4].to_vec()).collect();
        for i in 0..9 {
            let mut bytes = whole.clone();
            let at = (bytes.len() - 1) * i / 8;
            bytes[at] ^= 1 << (i % 8);
            broken.push(bytes);
        }
        for bytes in broken {
            std::fs::write(&entry, &bytes).unwrap();
            let (found, used) = cached(&paths, &settings, &cache);
            assert!([1, 3].contains(&used.read) && used.reused + used.read == 4, "{used:?}");
            assert_eq!(used.notes.len(), 1, "{:?}", used.notes);
            assert_same(&expected, &found);
            assert_eq!(std::fs::read(&entry).unwrap(), whole, "an entry is the same bytes again");
        }
    }
    // Another mask is another entry; a file that was written anew is read.
    let (_, used) = cached(&paths, &preset(S2tSettings::v1()), &cache);
    assert_eq!((used.reused, used.read), (0, 4));
    let bytes = std::fs::read(&paths[1]).unwrap();
    std::fs::remove_file(&paths[1]).unwrap();
    std::fs::write(&paths[1], bytes).unwrap();
    let (found, used) = cached(&paths, &settings, &cache);
    // What is known of the newest before was bounded by what the file was.
    assert_eq!((used.reused, used.read), (0, 4));
    assert_same(&expected, &found);
    // Two, one to fall back to, and one of the other mask: what it had of the file as it was is gone.
    assert_eq!(entries(&cache).len(), 4);
    let (_, used) = cached(&paths, &settings, &cache);
    assert_eq!((used.reused, used.read), (4, 0));
}

/// The last of five, or one between others, is still written.
#[test]
fn of_a_run_with_a_file_that_grows_only_that_one_is_read_again() {
    for (grows, settings) in [(4, preset(S2tSettings::v5())), (1, tight(S2tSettings::v5()))] {
        let folder = tempfile::tempdir().unwrap();
        let paths = write(folder.path(), Content::new(Shape::Json), 5);
        let cache = folder.path().join("cache");
        let whole = std::fs::read_to_string(&paths[grows]).unwrap();
        let lines: Vec<&str> = whole.split_inclusive('\n').collect();
        let mut known = 0;
        for looks in 1..=6 {
            // The clock of the file system is coarse, and the file that grows is the newest.
            std::thread::sleep(std::time::Duration::from_millis(30));
            std::fs::write(&paths[grows], lines[..lines.len() * looks / 6].concat()).unwrap();
            let (found, used) = cached(&paths, &settings, &cache);
            assert_eq!(
                (used.reused, used.read, &used.notes),
                (known, 5 - known, &Vec::new()),
                "look {looks}"
            );
            assert_same(&in_one_process(&paths, &settings), &found);
            assert_eq!(entries(&cache).len(), 2, "look {looks}");
            known = 4;
        }
        let (found, used) = cached(&paths, &settings, &cache);
        assert_eq!((used.reused, used.read), (5, 0));
        assert_same(&in_one_process(&paths, &settings), &found);
    }
}

/// What is known of a run bounds what is kept of a new file: such entries are small, lie beside the large one for
/// a while, and become one with it.
#[test]
fn entries_of_new_files_lie_beside_the_large_one_until_they_are_several() {
    for shape in [Shape::Nested, Shape::Json] {
        let folder = tempfile::tempdir().unwrap();
        let paths = write(folder.path(), Content::new(shape), 10);
        let cache = folder.path().join("cache");
        let settings = tight(S2tSettings::v5());
        let mut counts = Vec::new();
        for files in 2..=paths.len() {
            let (found, used) = cached(&paths[..files], &settings, &cache);
            assert_eq!(used.read, if files == 2 { 2 } else { 1 }, "{files} files: {:?}", used.notes);
            assert_same(&in_one_process(&paths[..files], &settings), &found);
            counts.push(entries(&cache).len());
        }
        assert_eq!(counts[..4], [2, 3, 4, 5], "one more with each file");
        assert!(counts[4] <= 3, "they became one: {counts:?}");
        let (found, used) = cached(&paths, &settings, &cache);
        assert_eq!((used.reused, used.read), (10, 0));
        assert_same(&in_one_process(&paths, &settings), &found);
    }
}

#[test]
fn an_entry_is_not_used_without_the_files_that_bounded_it() {
    let folder = tempfile::tempdir().unwrap();
    let paths = write(folder.path(), Content::new(Shape::Nested), 6);
    let cache = folder.path().join("cache");
    let settings = tight(S2tSettings::v5());
    cached(&paths[..5], &settings, &cache);
    cached(&paths, &settings, &cache);
    let sizes = |folder: &Path| -> Vec<u64> {
        entries(folder).iter().map(|entry| entry.metadata().unwrap().len()).collect()
    };
    // Without the others, all that there is room for is kept of either.
    let other = folder.path().join("other");
    cached(&paths[5..], &settings, &other);
    assert!(
        sizes(&cache).iter().min() < sizes(&other).iter().min(),
        "{:?} {:?}",
        sizes(&cache),
        sizes(&other)
    );
    let (found, used) = cached(&paths[4..], &settings, &cache);
    assert_eq!((used.reused, used.read), (0, 2), "{:?}", used.notes);
    assert_same(&in_one_process(&paths[4..], &settings), &found);
    // They are good again where all are there.
    let (found, used) = cached(&paths, &settings, &cache);
    assert_eq!(used.reused, 6, "{:?}", used.notes);
    assert_same(&in_one_process(&paths, &settings), &found);
}

#[test]
fn a_comparison_uses_a_cache_too() {
    let folder = tempfile::tempdir().unwrap();
    let paths = write(folder.path(), Content::new(Shape::Long), 3);
    let cache = Cache::open(&folder.path().join("cache")).unwrap();
    let settings = tight(S2tSettings::v5());
    for files in [2, 3, 3] {
        let run = open(&paths[..files]);
        let expected = analyze_for_comparison(&run, &settings, &Silent).unwrap();
        let (found, _) = analyze_for_comparison_cached(&run, &settings, &cache, &Silent).unwrap();
        assert_same(&format!("{expected:#?}"), &format!("{found:#?}"));
    }
}

/// Lets an entry look as if it had been used so many days ago.
fn age(entry: &Path, days: u64) {
    let then = std::time::SystemTime::now() - std::time::Duration::from_secs(days * 24 * 60 * 60);
    std::fs::File::options().append(true).open(entry).unwrap().set_modified(then).unwrap();
}

#[test]
fn entries_of_other_settings_stay_for_a_month_and_while_there_is_room() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("cache");
    let paths = write(folder.path(), Content::new(Shape::Nested), 1);
    let with = |tau_p: f64| {
        let s2t = S2tSettings { tau_p, ..S2tSettings::v5() };
        cached(&paths, &preset(s2t), &cache);
        entries(&cache)
    };
    let known = |before: &[PathBuf], after: &[PathBuf]| before.iter().all(|entry| after.contains(entry));
    let first = with(0.1);
    assert_eq!(first.len(), 1);
    age(&first[0], 29);
    assert!(known(&first, &with(0.2)));
    age(&first[0], 31);
    let both = with(0.3);
    assert_eq!((both.len(), known(&first, &both)), (2, false));
    // An entry that is used is as good as new.
    let first = with(0.1);
    let entry = first.iter().find(|entry| !both.contains(entry)).unwrap();
    age(entry, 31);
    assert!(with(0.1).contains(entry));
    assert!(with(0.4).contains(entry));
    // No room for others: only the present one is left.
    let small = Cache::open(&cache).unwrap().with_room(1);
    let s2t = S2tSettings { tau_p: 0.5, ..S2tSettings::v5() };
    analyze_cached(&open(&paths), &preset(s2t), &small, &Silent).unwrap();
    assert_eq!(entries(&cache).len(), 1);
}

/// A folder of downloads and collected parts that is the cache, too: what is not an entry stays, whatever its
/// age and the room.
#[test]
fn files_of_the_user_are_never_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let paths = write(folder.path(), Content::new(Shape::Nested), 2);
    let cache = folder.path().join("cache");
    std::fs::create_dir(&cache).unwrap();
    let settings = preset(S2tSettings::v5());
    cached(&paths[..1], &settings, &cache);
    let entry = entries(&cache)[0].clone();
    let name = entry.file_name().unwrap().to_str().unwrap().to_owned();
    // Of the same run before a file grew, as a collected part is.
    let collected = cache.join(name.replace(".cache-part", ".part"));
    std::fs::copy(&entry, &collected).unwrap();
    let foreign = ["ubuntu.iso.part", "part-0-of-2.part", "notes.cache-part"].map(|name| cache.join(name));
    for path in &foreign {
        std::fs::write(path, "hello").unwrap();
    }
    let kept = || foreign.iter().chain([&collected]);
    kept().for_each(|path| age(path, 400));
    let small = Cache::open(&cache).unwrap().with_room(1);
    std::fs::copy(&paths[1], &paths[0]).unwrap();
    analyze_cached(&open(&paths[..1]), &settings, &small, &Silent).unwrap();
    assert!(!entry.exists(), "an outdated entry is dropped");
    for path in kept() {
        assert!(path.exists(), "{}", path.display());
    }
}
