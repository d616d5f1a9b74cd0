//! Bars of characters.

/// Number of rows.
const ROWS: usize = 5;

/// Draws values as bars. The greatest value has the full height. The bars of some values are light.
#[expect(clippy::cast_precision_loss, clippy::cast_sign_loss, reason = "a height is at most a few dozen steps")]
pub(super) fn bars(values: &[(f64, bool)], is_ascii: bool) -> Vec<String> {
    // The characters for a part of a row: 0 to 8 eighths of its height, or 0 to 2 halves.
    let parts: &[char] =
        if is_ascii { &[' ', '.', '#'] } else { &[' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] };
    let steps = parts.len() - 1;
    let greatest = values.iter().map(|(value, _)| *value).fold(0.0, f64::max);
    let height = |value: f64| {
        let height = (value / greatest * (ROWS * steps) as f64).round() as usize;
        // The bar of a value above 0 can be seen.
        if value > 0.0 { height.max(1) } else { 0 }
    };
    let heights: Vec<_> = values.iter().map(|(value, is_light)| (height(*value), *is_light)).collect();
    let cell = |(height, is_light): &(usize, bool), row: usize| match height.saturating_sub(row * steps).min(steps) {
        0 => ' ',
        _ if *is_light => light(is_ascii),
        part => parts[part],
    };
    let row = |row: usize| heights.iter().map(|bar| cell(bar, row)).collect();
    (0..ROWS).rev().map(row).collect()
}

/// Returns the character of light bars.
pub(super) const fn light(is_ascii: bool) -> char {
    if is_ascii { ':' } else { '░' }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_height_of_a_bar_is_its_share_of_the_greatest_value() {
        let values = [0.0, 0.001, 10.0, 20.0, 30.0, 40.0].map(|value| (value, (25.0..35.0).contains(&value)));
        assert_eq!(bars(&values, false), ["     █", "    ░█", "   ▄░█", "  ▂█░█", " ▁██░█"]);
        assert_eq!(bars(&values, true), ["     #", "    :#", "   .:#", "  .#:#", " .##:#"]);
        assert_eq!(bars(&[], false), ["", "", "", "", ""]);
        assert_eq!(bars(&[(0.0, false)], false), [" ", " ", " ", " ", " "]);
    }
}
