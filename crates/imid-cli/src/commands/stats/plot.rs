//! The IDs per second as an SVG file.

use plotters::prelude::*;

use super::summary::Summary;
use crate::report::Stop;
use crate::time::rfc3339;

/// The most points of the line.
const MAX_POINTS: u64 = 1_000;

/// The start of each file that this command writes.
pub(super) const MARK: &str = "<!-- imid stats -->\n";

/// Returns the rates of a summary as SVG.
pub(super) fn draw(summary: &mut Summary) -> Result<String, Stop> {
    let svg = try_draw(summary).map_err(|problem| Stop::Error(format!("cannot draw the rates: {problem}")))?;
    Ok(format!("{MARK}{svg}"))
}

fn try_draw(summary: &mut Summary) -> Result<String, Box<dyn std::error::Error>> {
    let points = summary.rates.columns(MAX_POINTS);
    let length = points.seconds * 1_000;
    let start = points.columns.first().map_or(0, |column| column.start_ms);
    let end = points.columns.last().map_or(start + 1, |column| column.start_ms + length);
    let greatest = points.columns.iter().map(|column| column.ids_per_second).fold(1.0, f64::max);
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (900, 400)).into_drawing_area();
        area.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(&area)
            .margin(16)
            .x_label_area_size(40)
            .y_label_area_size(70)
            .caption(format!("IDs per second ({} s per point)", points.seconds), ("sans-serif", 18))
            .build_cartesian_2d(start..end, 0.0..greatest * 1.05)?;
        chart
            .configure_mesh()
            .x_labels(5)
            .x_label_formatter(&|ms| rfc3339(*ms)[..19].replace('T', " "))
            .x_desc("time (UTC)")
            .light_line_style(WHITE)
            .draw()?;
        // Each point is a step as wide as its time.
        let steps = points.columns.iter().flat_map(|column| {
            [(column.start_ms, column.ids_per_second), (column.start_ms + length, column.ids_per_second)]
        });
        chart.draw_series(LineSeries::new(steps, BLUE.stroke_width(1)))?;
        area.present()?;
    }
    Ok(svg)
}
