//! `imid range`: prints the first and last ID of a time range, or of the IDs with a prefix.

use std::ops::Range;

use std::io::Write;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use imid::MessageId;
use imid::dialect::{Dialect, DialectId};
use imid_inspect::{Form, Id, Scheme};
use serde_json::json;

use crate::Out;
use crate::form::{NO_UUID, form_named, forms};
use crate::json;
use crate::json::JsonArg;
use crate::output::Writer;
use crate::report::{Stop, quote};
use crate::scheme::SchemeArg;
use crate::time::{TIME_FORMS, TimeArg, TimeRange, ZoneArg};

/// Print the first and last ID of a time range, to scan a store by time
///
/// The range is given by --from and --to, --day or --prefix. It includes --from and excludes --to.
///
/// The time of an ID can be ahead of the clock: by at most 1 ms in ordinary use, and by more after the events in the table
/// "How far IDs can be ahead of the clock" in the documentation of the crate imid. To find all messages, move --to forward
/// by that much.
#[derive(clap::Args)]
#[command(mut_arg("from", |from| from.required_unless_present_any(["day", "prefix"]).help("Start of the range")))]
#[command(mut_arg("to", |to| to.required_unless_present_any(["day", "prefix"]).help("End of the range, which is not in the range")))]
#[command(after_help = format!("{EXAMPLES}\n\n{TIME_FORMS}\n\n{JSON_MEMBERS}"))]
pub(crate) struct Args {
    #[command(flatten)]
    times: TimeRange,
    /// The day of --time-zone, instead of --from and --to: a date, today or yesterday
    #[arg(long, value_name = "DATE", value_parser = TimeArg::parse_day, conflicts_with_all = ["from", "to", "prefix"])]
    day: Option<TimeArg>,
    /// The beginning of an ID, instead of times: the range contains all IDs that begin with it
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["from", "to"])]
    prefix: Option<String>,
    #[command(flatten)]
    scheme: SchemeArg,
    #[command(flatten)]
    zone: ZoneArg,
    /// Form of the two IDs; sql prints a condition for each kind of column
    #[arg(long, value_name = "FORM", value_parser = shown(), conflicts_with = "json")]
    format: Option<Shown>,
    #[command(flatten)]
    json: JsonArg,
}

/// How the range is printed.
#[derive(Clone, Copy)]
enum Shown {
    Form(Form),
    Sql,
}

/// Reads the name of a form, or `sql`.
fn shown() -> impl TypedValueParser<Value = Shown> {
    let sql = PossibleValue::new("sql").help("Conditions for columns of text, bytes and UUIDs");
    PossibleValuesParser::new(forms().chain([sql])).map(|name| form_named(&name).map_or(Shown::Sql, Shown::Form))
}

const EXAMPLES: &str = "\
Examples:
  imid range --from 2024-11-19 --to 2024-11-20
  imid range --day 2024-11-19 --time-zone Asia/Shanghai
  imid range --from 2024-11-19T09:00:00 --to now --time-zone +08:00
  imid range --from -1h --to now --format uuid
  imid range --from -1h --to now --dialect discord
  imid range --day yesterday --format sql
  imid range --prefix EUNC-Q8QJ
  imid range --from 1731974400000 --to 1732060800000 --json";

const JSON_MEMBERS: &str = "\
JSON members:
  first, last: the IDs as text
  from_ms, to_ms: the times as Unix milliseconds; to_ms is not in the range
  first_hex, last_hex: the IDs as hex digits
  first_uuid, last_uuid: the UUID views of the IDs, if they have one";

impl Args {
    pub(crate) fn run(&self, out: &mut Out) -> Result<(), Stop> {
        let scheme = self.scheme.scheme;
        let form = match self.format {
            Some(Shown::Form(form)) => form,
            _ => Form::Text,
        };
        if form == Form::Uuid && !scheme.has_uuid() {
            return Err(Stop::Usage(format!("--format uuid: {NO_UUID}")));
        }
        let (ids, times) = match (&self.prefix, scheme) {
            (Some(prefix), Scheme::Dialect(dialect)) => {
                let ids = begin_with(dialect, prefix).map_err(|problem| Stop::Usage(format!("--prefix: {problem}")))?;
                (ids, ids[0].timestamp_ms()..ids[1].timestamp_ms() + 1)
            }
            (Some(_), Scheme::Snowflake(_)) => {
                return Err(Stop::Usage(
                    "--prefix works only with 80-bit IDs: a number does not sort by its digits".into(),
                ));
            }
            (None, _) => {
                let times = self.times()?;
                (of_times(scheme, &times)?, times)
            }
        };
        if let Some(Shown::Sql) = self.format {
            return write_sql(out, ids);
        }
        if let (Scheme::Dialect(dialect), Form::Text, false) = (scheme, form, self.json.json)
            && !dialect.sorts_by_time()
        {
            let name = dialect.name();
            return Err(Stop::Usage(format!(
                "--dialect {name}: its texts do not sort by time; give --format hex, int or uuid"
            )));
        }
        let [first, last] = ids;
        if self.json.json {
            let mut bounds = json!({
                "first": first.to_string(), "last": last.to_string(),
                "from_ms": times.start, "to_ms": times.end,
                "first_hex": first.in_form(Form::Hex), "last_hex": last.in_form(Form::Hex),
            });
            if let (Some(first), Some(last)) = (first.in_form(Form::Uuid), last.in_form(Form::Uuid)) {
                (bounds["first_uuid"], bounds["last_uuid"]) = (first.into(), last.into());
            }
            return json::write_line(out, &bounds);
        }
        ids.iter().try_for_each(|id| Writer::Form(form).write_id(out, id))
    }

    fn times(&self) -> Result<Range<u64>, Stop> {
        match &self.day {
            Some(day) => day.times_of_day(&self.zone).map_err(|problem| Stop::Usage(format!("--day: {problem}"))),
            None => self.times.times(&self.zone),
        }
    }
}

/// Writes a condition for each kind of column in which IDs sort by time.
fn write_sql(out: &mut Out, ids: [Id; 2]) -> Result<(), Stop> {
    let mut write = |column: &str, form: Form, before: &str, after: &str| {
        let [first, last] = ids.map(|id| id.in_form(form).map(|text| format!("{before}{text}{after}")));
        let (Some(first), Some(last)) = (first, last) else { return Ok(()) };
        writeln!(out, "id BETWEEN {first} AND {last} -- {column}")
    };
    let [first, _] = ids;
    match first {
        Id::Snowflake(_) => write("bigint", Form::Int, "", "")?,
        Id::Message { dialect, .. } => {
            if dialect.sorts_by_time() {
                write("text", Form::Text, "'", "'")?;
            }
            write("PostgreSQL: bytea", Form::Hex, "'\\x", "'::bytea")?;
            write("MariaDB, MySQL: binary(10); SQLite: blob", Form::Hex, "x'", "'")?;
            write("ClickHouse: FixedString(10), DuckDB: blob", Form::Hex, "unhex('", "')")?;
            write("uuid", Form::Uuid, "'", "'")?;
        }
    }
    Ok(())
}

/// Returns the first and the last ID of a range of times.
fn of_times(scheme: Scheme, times: &Range<u64>) -> Result<[Id; 2], Stop> {
    match scheme {
        Scheme::Dialect(dialect) => {
            MessageId::range(times.clone()).map_err(|error| Stop::Usage(error.to_string()))?;
            // The time is the first field of each layout.
            let shift = 8 * MessageId::BYTE_LEN as u32 - dialect.layout().timestamp_bits();
            let (from, to) = (u128::from(times.start) << shift, u128::from(times.end) << shift);
            let id = |bits| {
                let id =
                    DialectId::from_u128(bits, dialect.layout()).map_err(|error| Stop::Error(error.to_string()))?;
                Ok::<_, Stop>(Id::Message { dialect, id })
            };
            Ok([id(from)?, id(to - 1)?])
        }
        Scheme::Snowflake(layout) => {
            let (first, last) =
                layout.range(times.clone()).map_err(|error| Stop::Usage(error.to_string()))?.into_inner();
            Ok([first, last].map(Id::Snowflake))
        }
    }
}

/// Returns the first and the last ID whose text begins like this. What shows that a text was cut off is no part of it.
fn begin_with(dialect: &'static Dialect<'static>, text: &str) -> Result<[Id; 2], String> {
    let start = text.trim().trim_end_matches(['\u{2026}', '.', '*', '-']);
    let given = start.chars().filter(|c| *c != '-').count();
    let bound = |bits: [u8; MessageId::BYTE_LEN]| {
        // The digits for all bits 0, or all bits 1.
        let whole =
            dialect.to_text(DialectId::from_bytes(bits, dialect.layout())).map_err(|error| error.to_string())?;
        let whole: Vec<_> = whole.as_str().chars().filter(|c| *c != '-').collect();
        if given == 0 || given > whole.len() {
            let most = whole.len();
            return Err(format!("expected 1 to {most} digits of an ID, found {}", quote(text)));
        }
        let padded: String = start.chars().chain(whole[given..].iter().copied()).collect();
        let id = dialect.parse_lenient(&padded);
        let id = id.map_err(|error| format!("{} is not the beginning of an ID: {error}", quote(text)))?;
        Ok(Id::Message { dialect, id })
    };
    Ok([bound([0; MessageId::BYTE_LEN])?, bound([u8::MAX; MessageId::BYTE_LEN])?])
}
