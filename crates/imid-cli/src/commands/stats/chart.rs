//! Bars of characters.

/// Number of rows.
const ROWS: usize = 5;

/// Draws values as bars. The greatest value has the full height.
#[expect(clippy::cast_precision_loss, clippy::cast_sign_loss, reason = "a height is at most a few dozen steps")]
pub(super) fn bars(values: &[f64], is_ascii: bool) -> Vec<String> {
    // The characters for a part of a row: 0 to 8 eighths of its height, or 0 to 2 halves.
    let parts: &[char] =
        if is_ascii { &[' ', '.', '#'] } else { &[' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] };
    let steps = parts.len() - 1;
    let greatest = values.iter().copied().fold(0.0, f64::max);
    let height = |value: f64| {
        let height = (value / greatest * (ROWS * steps) as f64).round() as usize;
        // The bar of a value above 0 can be seen.
        if value > 0.0 { height.max(1) } else { 0 }
    };
    let heights: Vec<_> = values.iter().map(|value| height(*value)).collect();
    let row = |row: usize| heights.iter().map(|height| parts[height.saturating_sub(row * steps).min(steps)]).collect();
    (0..ROWS).rev().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_height_of_a_bar_is_its_share_of_the_greatest_value() {
        let values = [0.0, 0.001, 10.0, 20.0, 30.0, 40.0];
        assert_eq!(bars(&values, false), ["     █", "    ▆█", "   ▄██", "  ▂███", " ▁████"]);
        assert_eq!(bars(&values, true), ["     #", "    ##", "   .##", "  .###", " .####"]);
        assert_eq!(bars(&[], false), ["", "", "", "", ""]);
        assert_eq!(bars(&[0.0], false), [" ", " ", " ", " ", " "]);
    }
}
