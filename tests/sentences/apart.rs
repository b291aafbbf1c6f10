//! Sentences taken apart: what is said, and the numbers in it.

/// A sentence with its numbers and the log's strings taken out, and the numbers as they are written.
pub fn taken_apart(sentence: &str) -> (String, Vec<String>) {
    let (mut template, mut numbers) = (String::new(), Vec::new());
    let mut rest = sentence;
    let mut before = ' ';
    while let Some(first) = rest.chars().next() {
        if first == '"' {
            let end = rest[1..].find('"').map_or(rest.len(), |end| end + 2);
            template.push('…');
            rest = &rest[end..];
            before = '"';
        } else if rest.starts_with("reward/") {
            let end = rest.find([' ', ',', ';', ':', ')']).unwrap_or(rest.len());
            template.push_str("reward/…");
            rest = &rest[end..];
            before = '…';
        } else if first.is_ascii_digit() && !before.is_alphanumeric() && !"_@".contains(before) {
            let part = |c: char| c.is_ascii_digit() || ",.e-".contains(c);
            let end = rest.find(|c| !part(c)).unwrap_or(rest.len());
            let number = rest[..end].trim_end_matches([',', '.', '-', 'e']);
            numbers.push(number.to_owned());
            template.push('#');
            rest = &rest[number.len()..];
            before = '0';
        } else {
            template.push(first);
            rest = &rest[first.len_utf8()..];
            before = first;
        }
    }
    (template, numbers)
}

/// Whether `written` is `value`, rounded to the digits that are written.
pub fn is_rounded(written: &str, value: f64) -> bool {
    let plain = written.replace(',', "");
    let said: f64 = plain.parse().unwrap();
    let digits = plain.split(['e', 'E']).next().and_then(|m| m.split_once('.')).map_or(0, |(_, d)| d.len());
    let exponent: i32 = plain.split_once('e').map_or(0, |(_, e)| e.parse().unwrap());
    let step = 10f64.powi(exponent - i32::try_from(digits).unwrap());
    (said - value.abs()).abs() <= 0.5000001 * step
}
