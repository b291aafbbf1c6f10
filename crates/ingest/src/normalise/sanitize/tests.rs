use super::*;

fn clean(column: Column, values: Vec<f32>, mask: Option<&[u8]>) -> (Vec<f32>, Quality) {
    let offsets = [0, values.len()];
    let context = Context { file: 0, rows: &|_| 7, offsets: &offsets, whole: 0..1, mask, counted: mask };
    let mut quality = Quality::default();
    let out = floats(column, values.into(), &|_| false, &context, &mut quality);
    (out.to_vec(), quality)
}

#[test]
fn good_values_are_not_copied() {
    let values: ScalarBuffer<f32> = vec![-1.0, -0.5, 0.0].into();
    let context = Context { file: 0, rows: &|_| 0, offsets: &[0, 3], whole: 0..1, mask: None, counted: None };
    let mut quality = Quality::default();
    let out = floats(Column::Logprob, values.clone(), &|_| false, &context, &mut quality);
    assert_eq!(out.as_ptr(), values.as_ptr());
    assert_eq!(quality.column(Column::Logprob).values, 3);
}

#[test]
fn bad_values_become_missing_and_are_counted() {
    let values = vec![-1.0, f32::NAN, 0.5, f32::NEG_INFINITY, 5e-7, -9999.0];
    let (out, mut quality) = clean(Column::Logprob, values, None);
    assert_eq!(out[0], -1.0);
    assert!(out[1].is_nan() && out[2].is_nan() && out[3].is_nan() && out[5].is_nan());
    assert_eq!(out[4], 0.0);
    let counts = quality.column(Column::Logprob);
    assert_eq!((counts.not_finite, counts.out_of_range, counts.sentinel), (2, 1, 1));
    assert_eq!(counts.first_bad, Some(ValuePlace { file: 0, row: 7, position: 1 }));
}

#[test]
fn negative_entropy_is_bad_but_rounding_is_not() {
    let (out, mut quality) = clean(Column::Entropy, vec![-5e-5, -0.5, 1.0, 17.2], None);
    assert_eq!((out[0], out[3]), (0.0, 17.2));
    assert!(out[1].is_nan());
    assert_eq!(quality.column(Column::Entropy).out_of_range, 1);
}

#[test]
fn an_entropy_that_no_vocabulary_has_is_bad() {
    let (out, mut quality) = clean(Column::Entropy, vec![3e38, 1_000.0, 22.5, 22.1], None);
    assert!(out[..3].iter().all(|v| v.is_nan()) && out[3] == 22.1, "{out:?}");
    assert_eq!(quality.column(Column::Entropy).out_of_range, 3);
}

#[test]
fn constant_zero_is_missing_not_certain() {
    let (out, mut quality) = clean(Column::Logprob, vec![0.0; 12], None);
    assert!(out.iter().all(|v| v.is_nan()));
    assert_eq!(quality.column(Column::Logprob).sentinel, 12);
    let (short, _) = clean(Column::Logprob, vec![0.0; 2], None);
    assert_eq!(short, [0.0, 0.0]);
}

#[test]
fn placeholders_of_untrained_tokens_are_not_counted() {
    let (out, mut quality) = clean(Column::LogprobRollout, vec![1.0, 0.0, -2.0], Some(&[0, 0, 1]));
    assert!(out[0].is_nan() && out[1].is_nan());
    assert_eq!(out[2], -2.0);
    let counts = quality.column(Column::LogprobRollout);
    assert_eq!((counts.values, counts.bad()), (1, 0));
}
