//! Frequencies in words.

use imid_inspect::risk::YEAR_S;

/// Writes how often something happens that is expected this many times per second.
pub(super) fn how_often(per_second: f64) -> String {
    const UNITS: [(&str, f64, f64); 5] = [
        ("seconds", 1.0, 120.0),
        ("minutes", 60.0, 120.0),
        ("hours", 3_600.0, 48.0),
        ("days", 86_400.0, 730.0),
        ("years", YEAR_S, 10_000.0),
    ];
    if per_second >= 1.0 {
        return format!("about {} per second", number(per_second));
    }
    let seconds = 1.0 / per_second;
    let unit = UNITS.iter().find(|(_, length, limit)| seconds / length < *limit);
    unit.map_or_else(
        || "none expected in 10,000 years".to_owned(),
        |(name, length, _)| format!("about once in {} {name}", number(seconds / length)),
    )
}

/// Writes a number with two or more digits that count: `3.4`, `26`, `34,000`, `8.3e-7`.
pub(super) fn number(value: f64) -> String {
    match value {
        0.0 => "0".to_owned(),
        _ if !(0.01..1e15).contains(&value) => {
            let text = format!("{value:.1e}");
            text.replace(".0e", "e")
        }
        _ if value >= 9.95 => grouped(value),
        _ => {
            let text = if value >= 0.095 { format!("{value:.1}") } else { format!("{value:.2}") };
            text.strip_suffix(".0").map_or(text.clone(), ToOwned::to_owned)
        }
    }
}

/// Writes a whole number with commas, from 1,000 on with three digits that count.
fn grouped(value: f64) -> String {
    let digits = format!("{value:.0}");
    let zeros = "0".repeat(digits.len().saturating_sub(3));
    let scale = format!("1{zeros}").parse().unwrap_or(1.0);
    exact((value / scale).round() * scale)
}

/// Writes a number that is not negative with all of its digits. A whole number below 1e15 has commas.
pub(super) fn exact(value: f64) -> String {
    let mut text = value.to_string();
    if value.fract() == 0.0 && value < 1e15 {
        for at in (1..text.len()).rev().filter(|at| (text.len() - at).is_multiple_of(3)).collect::<Vec<_>>() {
            text.insert(at, ',');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequencies_have_the_unit_that_people_use() {
        for (seconds, expected) in [
            (0.001, "about 1,000 per second"),
            (0.3, "about 3.3 per second"),
            (3.0, "about once in 3 seconds"),
            (119.0, "about once in 119 seconds"),
            (15.6 * 60.0, "about once in 16 minutes"),
            (65.4 * 60.0, "about once in 65 minutes"),
            (26.0 * 3_600.0, "about once in 26 hours"),
            (4.5 * 86_400.0, "about once in 4.5 days"),
            (108.0 * 86_400.0, "about once in 108 days"),
            (3.0 * YEAR_S, "about once in 3 years"),
            (9_000.0 * YEAR_S, "about once in 9,000 years"),
            (10_001.0 * YEAR_S, "none expected in 10,000 years"),
            (f64::INFINITY, "none expected in 10,000 years"),
        ] {
            assert_eq!(how_often(1.0 / seconds), expected);
        }
    }

    #[test]
    fn an_exact_number_keeps_its_digits() {
        for (value, expected) in [(0.25, "0.25"), (999.0, "999"), (12_345.0, "12,345"), (1_234.5, "1234.5")] {
            assert_eq!(exact(value), expected);
        }
    }

    #[test]
    fn numbers_have_the_digits_that_count() {
        for (value, expected) in [
            (0.0, "0"),
            (8.35e-7, "8.4e-7"),
            (1e-9, "1e-9"),
            (0.05, "0.05"),
            (0.5, "0.5"),
            (3.371, "3.4"),
            (9.99, "10"),
            (337.1, "337"),
            (33_712.0, "33,700"),
            (1_000_000.0, "1,000,000"),
            (1e16, "1e16"),
        ] {
            assert_eq!(number(value), expected);
        }
    }
}
