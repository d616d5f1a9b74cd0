//! Equal IDs a year over the messages per second, as an SVG file.

use plotters::prelude::*;

use super::report::Forecast;
use crate::risk::{Mode, number};

/// The greatest and the least number of equal IDs a year that are shown.
const PER_YEAR: std::ops::Range<f64> = 1e-6..1e12;

/// Powers of ten of the axis of messages.
const DECADES: f64 = 7.0;

/// Points of a curve after the first one. With more of them, rounding to pixels makes a straight curve uneven.
const POINTS: u32 = 14;

fn color(mode: Mode) -> RGBColor {
    match mode {
        Mode::AnyHost => RGBColor(200, 30, 30),
        Mode::ByName => RGBColor(190, 110, 0),
        _ => RGBColor(30, 90, 200),
    }
}

/// Draws a curve for each mode that can repeat IDs.
pub(super) fn draw(forecast: &Forecast) -> Result<String, Box<dyn std::error::Error>> {
    // Half of the powers of ten on each side of the rate.
    let start = (forecast.rate().log10() - DECADES / 2.0).round();
    let rates = 10_f64.powf(start)..10_f64.powf(start + DECADES);
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (900, 560)).into_drawing_area();
        // Its own background, so that a dark page does not hide the axes.
        area.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(&area)
            .margin(18)
            .margin_right(50)
            .x_label_area_size(46)
            .y_label_area_size(80)
            .caption(
                format!("Equal IDs a year, {} {}", forecast.hosts, if forecast.hosts == 1 { "host" } else { "hosts" }),
                ("sans-serif", 20),
            )
            .build_cartesian_2d(rates.clone().log_scale(), PER_YEAR.log_scale())?;
        let label = |value: &f64| number(*value);
        chart
            .configure_mesh()
            .x_desc("messages a second")
            .y_desc("pairs of equal IDs a year")
            .x_label_formatter(&label)
            .y_label_formatter(&label)
            .light_line_style(WHITE)
            .bold_line_style(RGBColor(225, 225, 225))
            .draw()?;
        let ends = [(rates.start, 1.0), (rates.end, 1.0)];
        chart.draw_series(LineSeries::new(ends, BLACK.stroke_width(1)))?;
        let text = |color: RGBColor| ("sans-serif", 14).into_font().color(&color);
        let label = Text::new("one a year", (rates.start * 1.15, 6.0), text(BLACK));
        chart.draw_series([label])?;
        // How many times the rate each point has.
        let growths = (0..=POINTS).map(|n| 10_f64.powf(f64::from(n) / f64::from(POINTS) * DECADES));
        let growths: Vec<_> = growths.map(|growth| growth * rates.start / forecast.rate()).collect();
        for mode in forecast.modes() {
            let points = growths.iter().map(|by| (by * forecast.rate(), forecast.equal_ids_per_year(mode, *by)));
            let points: Vec<_> = points.filter(|(_, y)| PER_YEAR.contains(y)).collect();
            let Some(last) = points.last().copied() else { continue };
            let color = color(mode);
            chart.draw_series(LineSeries::new(points, color.stroke_width(2)))?;
            // Left of the last point, above the curve.
            let place = (last.0 / 40.0, (last.1 * 0.3).max(PER_YEAR.start));
            chart.draw_series([Text::new(mode.title(), place, text(color))])?;
        }
        let never = forecast.never().join(", ");
        if !never.is_empty() {
            let line = Text::new(format!("never: {never}"), (rates.start * 1.15, PER_YEAR.start * 4.0), text(BLACK));
            chart.draw_series([line])?;
        }
        area.present()?;
    }
    Ok(svg)
}
