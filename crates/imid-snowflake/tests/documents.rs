//! What the pages say of the built-in layouts.

use std::fs;
use std::path::Path;

/// Each built-in layout has a row in the tables of layouts and of presets. If SQL can compute its time, it has one in the guide
/// to migration, too.
#[test]
fn each_built_in_layout_is_in_the_tables() {
    use imid_snowflake::{Layout, Preset, TextForm};

    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let row = |path: &str, words: &str| {
        let text = fs::read_to_string(root.join(path)).expect("a file");
        let row = text.lines().find(|line| line.trim_start_matches("/// ").starts_with("| ") && line.contains(words));
        row.unwrap_or_else(|| panic!("{path} has no row with {words}")).to_owned()
    };
    for layout in Layout::ALL {
        let name = layout.name().expect("a built-in layout has a name");
        let constant = name.to_uppercase().replace('-', "_");
        let link = format!("[`{constant}`](Self::{constant})");
        if Preset::named(name).is_some() {
            row("src/generator/preset.rs", &link);
        }
        let sign = u32::from(layout.has_sign());
        let widths = format!("| {sign}, {}, {}, {} |", layout.tick_bits(), layout.node_bits(), layout.sequence_bits());
        let found = row("src/layout/mod.rs", &link);
        assert!(found.contains(&widths), "expected {widths} in {found}");
        // No system mints the last one.
        if layout.tick().as_nanos() == 1_000_000
            && layout.text_form() == TextForm::Decimal
            && name != "rollback-38-15-10"
        {
            let found = row("../../docs/MIGRATING.md", &format!("`{name}`"));
            assert!(found.contains(&format!("+ {}`", layout.first_ms())), "expected the epoch of {name} in {found}");
        }
    }
}
