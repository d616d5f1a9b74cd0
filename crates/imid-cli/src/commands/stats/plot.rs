//! The rate of IDs as an SVG file.

use jiff::tz::TimeZone;
use plotters::prelude::*;

use super::rates::{Columns, Interval};
use crate::time::timestamp;

const DAY_MS: u64 = 86_400_000;

const LINE: RGBColor = RGBColor(30, 90, 200);

/// The size of the drawing.
const SIZE: (u32, u32) = (900, 400);

/// Draws that there are no IDs. Axes would show a time and a rate that nothing has.
pub(super) fn draw_nothing() -> Result<String, Box<dyn std::error::Error>> {
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        area.fill(&WHITE)?;
        area.titled("no IDs", ("sans-serif", 18))?;
        area.present()?;
    }
    Ok(svg)
}

/// Draws rates.
pub(super) fn draw(rates: &Columns, zone: &TimeZone) -> Result<String, Box<dyn std::error::Error>> {
    let columns = &rates.columns;
    let start = columns.first().map_or(0, |column| column.start_ms);
    let end = columns.last().map_or(start + 1, |column| column.end_ms);
    let greatest = columns.iter().map(|column| column.ids).max().unwrap_or(0);
    let (tick, ticks) = Interval::ticks(start, end, zone);
    let format = match tick {
        Interval::Second => "%H:%M:%S",
        Interval::Minute | Interval::Hour if end - start <= DAY_MS => "%H:%M",
        Interval::Minute | Interval::Hour => "%m-%d %H:%M",
        Interval::Day | Interval::Week => "%Y-%m-%d",
        Interval::Month => "%Y-%m",
        Interval::Year => "%Y",
    };
    let day = timestamp(start).to_zoned(zone.clone()).strftime("%Y-%m-%d").to_string();
    let axis = if end - start <= DAY_MS { format!("time from {day}, ") } else { "time, ".to_owned() };
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        area.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(&area)
            .margin(16)
            .x_label_area_size(40)
            .y_label_area_size(70)
            .caption(format!("IDs per {}", rates.interval), ("sans-serif", 18))
            .build_cartesian_2d((start..end).with_key_points(ticks), 0..greatest + greatest / 20 + 1)?;
        chart
            .configure_mesh()
            .x_labels(8)
            .y_labels(6)
            .x_label_formatter(&|ms| timestamp(*ms).to_zoned(zone.clone()).strftime(format).to_string())
            .x_desc(axis + &zone.iana_name().map_or_else(|| "local".to_owned(), str::to_owned))
            .light_line_style(WHITE)
            .draw()?;
        // Each column is a step as wide as its time. The first and the last one can be partial: they are only an outline.
        for part in columns.chunk_by(|a, b| a.is_partial == b.is_partial) {
            let is_partial = part[0].is_partial;
            let steps: Vec<_> =
                part.iter().flat_map(|column| [(column.start_ms, column.ids), (column.end_ms, column.ids)]).collect();
            if !is_partial {
                chart.draw_series(AreaSeries::new(steps.iter().copied(), 0, LINE.mix(0.2)))?;
            }
            let color = LINE.mix(if is_partial { 0.35 } else { 1.0 });
            chart.draw_series(LineSeries::new(steps, color.stroke_width(1)))?;
        }
        area.present()?;
    }
    Ok(svg)
}
