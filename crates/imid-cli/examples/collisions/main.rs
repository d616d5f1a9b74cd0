//! Counts the equal IDs of generators that share no state, and compares the counts with the formulas of `imid risk`.
//!
//! The generators are those of the library, with seeds that they draw themselves. Only their clocks are simulated. The
//! table is the one of DESIGN.md: `cargo run --release -p imid-cli --example collisions`.
#![allow(clippy::cast_precision_loss, reason = "numbers of messages and times are below 2^53")]
#![allow(clippy::cast_sign_loss, reason = "times are positive")]

mod arrivals;
mod cases;
#[allow(dead_code, unused_imports, reason = "the tool uses the rest")]
#[path = "../../src/risk/mod.rs"]
mod risk;
mod world;

use std::process::ExitCode;

use self::cases::cases;

/// How far a count may be from the formula, in standard deviations.
const MOST_DEVIATIONS: f64 = 4.0;

fn main() -> ExitCode {
    println!(
        "| routing | hosts | skew | sessions | messages/ms | arrivals | IDs/call | messages | formula | counted | deviation |"
    );
    println!("| --- | ---: | ---: | --- | ---: | --- | ---: | ---: | ---: | ---: | ---: |");
    let (mut count, mut largest, mut is_ok) = (0, 0.0_f64, true);
    for case in cases() {
        let outcome = case.run();
        println!("{}", case.row(&outcome));
        largest = largest.max(outcome.deviation.abs());
        is_ok &= outcome.deviation.abs() <= MOST_DEVIATIONS;
        count += 1;
    }
    println!("\n{count} cases, the largest deviation is {largest:.1}");
    if is_ok { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::Case;
    use crate::risk::Mode;

    /// Cases of all kinds with few messages. Each expects some pairs, or none at all.
    fn small() -> Vec<Case> {
        let cases = cases().into_iter().map(|case| case.with_messages(60_000.0));
        cases.filter(|case| case.expected() == 0.0 || case.expected() > 50.0).collect()
    }

    #[test]
    fn generators_repeat_ids_as_often_as_the_formulas_say() {
        let small = small();
        let kinds = |is: &dyn Fn(&Case) -> bool| small.iter().filter(|case| is(case)).count();
        assert!(kinds(&|case| case.expected() > 0.0) >= 8 && kinds(&|case| case.expected() == 0.0) >= 8);
        for case in small {
            let outcome = case.run();
            // The generators draw other seeds in each run, so a limit of 4 would fail now and then.
            assert!(outcome.deviation.abs() < 6.0, "{}", case.row(&outcome));
        }
    }

    #[test]
    fn design_shows_the_table_of_these_cases() {
        let design = include_str!("../../../../docs/DESIGN.md");
        let (_, table) = design.split_once("| routing | hosts | skew |").unwrap();
        let mut rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
        for case in cases() {
            let row = rows.next().unwrap_or_default();
            let rest = row.strip_prefix(&case.columns()).unwrap_or_else(|| panic!("{row}: {}", case.columns()));
            let numbers: Vec<f64> = rest.split('|').filter_map(|cell| cell.trim().parse().ok()).collect();
            let [_, expected, counted, deviation] = numbers[..] else { panic!("{row}") };
            assert!((expected - case.expected()).abs() < 0.051, "{row}: {}", case.expected());
            assert!(deviation.abs() <= MOST_DEVIATIONS && (expected > 0.0) == (counted > 0.0), "{row}");
        }
        assert_eq!(rows.next(), None);
    }

    #[test]
    fn a_wrong_formula_is_noticed() {
        let case = cases()
            .into_iter()
            .find(|case| case.mode == Mode::AnyHost && case.hosts == 2 && case.expected() > 500.0)
            .unwrap();
        // The formula for 1,000 hosts expects twice as many.
        let outcome = Case::with_hosts_of_formula(case, 1_000).run();
        assert!(outcome.deviation < -MOST_DEVIATIONS, "{}", case.row(&outcome));
    }
}
