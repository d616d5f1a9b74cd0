//! The statements of the SQL packs, such as `sql/postgres/numbers.sql`.

/// How a database writes the parameters of a statement.
#[derive(Clone, Copy, Debug)]
pub enum Parameters {
    /// `$1`, `$2`
    Numbered,
    /// `?`
    QuestionMarks,
}

/// A statement, and the names of its parameters in the order of their places.
#[derive(Clone, Debug)]
pub struct Statement {
    pub sql: String,
    pub names: Vec<String>,
}

/// Returns the statements below the line `-- SECTION: ...` of a pack's file. A statement ends with a semicolon at the end of a line.
///
/// # Panics
/// The file has no such section.
pub fn section(file: &str, section: &str, parameters: Parameters) -> Vec<Statement> {
    let mut found = Vec::new();
    let mut is_inside = false;
    let mut sql = String::new();
    for line in file.lines() {
        if let Some(header) = line.strip_prefix("-- ") {
            if let Some((name, _)) = header.split_once(": ").filter(|(name, _)| !name.contains(' ')) {
                is_inside = name == section;
            }
        } else if is_inside {
            sql.push_str(line);
            sql.push('\n');
            if line.ends_with(';') {
                found.push(statement(&sql, parameters));
                sql.clear();
            }
        }
    }
    assert!(!found.is_empty(), "the pack has no section {section}");
    found
}

/// Replaces each `:name` with a parameter. `::` is a cast.
pub fn statement(sql: &str, parameters: Parameters) -> Statement {
    let mut out = String::new();
    let mut names = Vec::new();
    let mut rest = sql.trim().trim_end_matches(';');
    while let Some(at) = rest.find(':') {
        let name: String = rest[at + 1..].chars().take_while(|c| c.is_ascii_lowercase() || *c == '_').collect();
        let is_cast = rest[at + 1..].starts_with(':');
        if is_cast || name.is_empty() {
            let end = at + if is_cast { 2 } else { 1 };
            out.push_str(&rest[..end]);
            rest = &rest[end..];
            continue;
        }
        out.push_str(&rest[..at]);
        rest = &rest[at + 1 + name.len()..];
        names.push(name);
        match parameters {
            Parameters::Numbered => out.push_str(&format!("${}", names.len())),
            Parameters::QuestionMarks => out.push('?'),
        }
    }
    out.push_str(rest);
    Statement { sql: out, names }
}
