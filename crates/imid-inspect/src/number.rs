//! Numbers as people and spreadsheets write them: `1e6`, `1.76364E+12`, `100k`.

/// A decimal number, with its point where the exponent says.
#[derive(Clone, Debug)]
pub struct Number {
    /// The digits before it.
    pub whole: String,
    /// The digits after the point.
    pub fraction: String,
    /// The text has fewer digits than the whole part, so the last ones are zeros that no one wrote.
    pub is_filled: bool,
}

/// The largest exponent. No number that the tool reads has more digits.
const MAX_EXPONENT: usize = 30;

impl Number {
    /// Reads digits with at most one point, and an exponent. Returns `None` for any other text, such as one with a sign.
    pub fn read(text: &str) -> Option<Self> {
        // Most numbers, and each time of a message, are digits alone.
        if is_digits(text) {
            return Some(Self { whole: text.to_owned(), fraction: String::new(), is_filled: false });
        }
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let exponent = exponent.strip_prefix('+').unwrap_or(exponent);
        let exponent = exponent.parse().ok().filter(|_| is_digits(exponent)).filter(|n| *n <= MAX_EXPONENT)?;
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
        if !is_digits(whole) || !is_digits(fraction) {
            return None;
        }
        let fraction = if mantissa.contains('.') { fraction } else { "" };
        let moved = fraction.len().min(exponent);
        Some(Self {
            whole: format!("{whole}{}{}", &fraction[..moved], "0".repeat(exponent - moved)),
            fraction: fraction[moved..].to_owned(),
            is_filled: exponent > moved,
        })
    }

    /// Reads a number as [`read`](Self::read) does, or one that ends with `k`, `M` or `G`.
    pub fn read_count(text: &str) -> Option<Self> {
        let units = [('k', "e3"), ('K', "e3"), ('M', "e6"), ('G', "e9")];
        let short = units.iter().find_map(|(unit, exponent)| Some(text.strip_suffix(*unit)?.to_owned() + exponent));
        // Two exponents are not a number.
        Self::read(short.as_deref().unwrap_or(text))
    }
}

/// Returns a number that need not be whole, or that ends with `k`, `M` or `G`, as each parser of floating-point numbers reads it:
/// `100000.0e-0` for `100k`, and `1.0e-9` for `1e-9`.
pub fn decimal(text: &str) -> Option<String> {
    let (number, small) = match text.split_once("e-") {
        Some((mantissa, exponent)) => (Number::read(mantissa), exponent),
        None => (Number::read_count(text), "0"),
    };
    let Number { whole, fraction, .. } = number.filter(|_| is_digits(small))?;
    Some(format!("{whole}.{fraction}0e-{small}"))
}

/// Reads a number as [`decimal`] does.
pub fn float(text: &str) -> Option<f64> {
    decimal(text)?.parse().ok()
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_point_is_where_the_exponent_says() {
        for (text, whole, fraction, is_filled) in [
            ("0", "0", "", false),
            ("017", "017", "", false),
            ("1e6", "1000000", "", true),
            ("1.76364E+12", "1763640000000", "", true),
            ("1.763640000123e12", "1763640000123", "", false),
            ("1.76364000012345e12", "1763640000123", "45", false),
            ("1763640000.5", "1763640000", "5", false),
            ("1.5", "1", "5", false),
        ] {
            let number = Number::read(text).unwrap();
            let found = (number.whole.as_str(), number.fraction.as_str(), number.is_filled);
            assert_eq!(found, (whole, fraction, is_filled), "{text}");
        }
        for (text, whole) in [("100k", "100000"), ("1.5M", "1500000"), ("2G", "2000000000"), ("3K", "3000"), ("7", "7")]
        {
            assert_eq!(Number::read_count(text).unwrap().whole, whole, "{text}");
        }
        for text in
            ["", "e6", "1e", "1e-3", "1e+", "1e99", "+1", "-1", "1.", ".5", "1.5.2", "1,5", "NaN", "k", "1ek", "1e3k"]
        {
            assert!(Number::read(text).is_none() && Number::read_count(text).is_none(), "{text}");
        }
        assert!(Number::read("1k").is_none());
        assert_eq!([float("100k"), float("1e-9"), float("2.5"), float("x")], [Some(1e5), Some(1e-9), Some(2.5), None]);
    }
}
