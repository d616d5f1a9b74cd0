//! The code in the documents is the code of the examples, which compile.

use std::collections::BTreeSet;

use imid_lease::register::tool::STORES;
use yaml_rust2::{Yaml, YamlLoader};

const LEASES: &str = include_str!("../../../docs/LEASES.md");

/// The doctests compile the blocks of Rust, and a test of the tool runs the others.
#[test]
fn all_code_of_the_page_for_operators_is_compiled() {
    let fences: Vec<_> =
        LEASES.lines().filter_map(|line| line.strip_prefix("```")).filter(|it| !it.is_empty()).collect();
    assert_eq!(fences, ["sh", "rust,no_run"]);
}

/// Returns a column of the table with this head: the text of each row, without links.
fn column(text: &str, head: &str, column: usize) -> Vec<String> {
    let lines = text.lines().map(|line| line.strip_prefix("//! ").unwrap_or(line));
    let rows = lines.skip_while(|line| !line.starts_with(head)).skip(2).take_while(|line| line.starts_with('|'));
    let plain = |cell: &str| cell.replace(['[', ']'], "").trim().to_owned();
    rows.map(|row| plain(row.split('|').nth(column).expect("a cell"))).collect()
}

#[test]
fn each_store_has_one_promise() {
    let on_the_crate_page = column(include_str!("../src/lib.rs"), "| register | strong if |", 2);
    assert_eq!(column(LEASES, "| store | use it if | strong if |", 3), on_the_crate_page);
    assert!(on_the_crate_page.len() > STORES.len(), "each store, and the memory");
}

/// A table of the stores, or a script, that misses one of them.
#[test]
fn each_store_is_in_each_list_of_stores() {
    for (page, text) in [
        ("lib.rs", include_str!("../src/lib.rs")),
        ("open_url", include_str!("../src/register/url.rs").split("pub fn open_url(").next().unwrap()),
        ("README.md", include_str!("../README.md")),
        ("LEASES.md", LEASES),
        ("README.md of the tool", include_str!("../../imid-cli/README.md")),
    ] {
        for store in STORES.iter().filter_map(|store| store.feature) {
            assert!(text.contains(&format!("`{store}`")), "{page} does not name {store}");
        }
    }
    let tool = include_str!("../../imid-cli/Cargo.toml");
    let services = include_str!("../../../ci/services.sh");
    let started = services.lines().find_map(|line| line.strip_prefix("stores=\"")?.strip_suffix('"')).expect("a list");
    let started: BTreeSet<_> = started.split(' ').collect();
    assert_eq!(started, STORES.iter().filter(|store| store.is_server()).map(|store| store.name).collect());
    for store in started {
        assert!(tool.contains(&format!("\n{store} = [\"imid-lease/{store}\"]\n")), "the tool has no feature {store}");
    }
}

/// Returns the metrics that a text names.
fn metrics_of(text: &str) -> BTreeSet<&str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .filter(|word| word.starts_with("imid_lease_"))
        .collect()
}

#[test]
fn the_alerts_and_the_dashboard_have_the_metrics_of_the_crate() {
    let rows = include_str!("../src/telemetry.rs").lines().filter(|line| line.starts_with("//! | `imid_lease_"));
    let of_the_crate: BTreeSet<_> = rows.flat_map(metrics_of).collect();
    assert_eq!(metrics_of(include_str!("../../../deploy/dashboard.json")), of_the_crate);
    let of_the_alerts = metrics_of(include_str!("../../../deploy/alerts.yml"));
    assert!(of_the_alerts.is_subset(&of_the_crate), "{of_the_alerts:?}");
}

/// Who is paged at night follows the link, and reads which metric it was.
#[test]
fn each_alert_has_a_section_on_the_page_for_those_on_call() {
    let page = include_str!("../../../docs/ONCALL.md");
    let rules = include_str!("../../../deploy/alerts.yml").split("- alert: ").skip(1);
    let rules: Vec<_> = rules.map(|rule| rule.split_once('\n').expect("a rule")).collect();
    assert!(rules.len() > 10, "{}", rules.len());
    for (name, rule) in &rules {
        let anchor = format!("docs/ONCALL.md#{}\n", name.to_lowercase());
        assert!(rule.contains("runbook_url: ") && rule.contains(&anchor), "{name} has no link to its section");
        let (_, section) =
            page.split_once(&format!("\n## {name}\n")).unwrap_or_else(|| panic!("{name} has no section"));
        let section = section.split("\n## ").next().unwrap_or_default();
        let is_named = |metric: &&str| metrics_of(rule).contains(metric);
        assert!(metrics_of(section).iter().any(is_named), "the section of {name} does not name its metric");
    }
    let words = page.split_whitespace().collect::<Vec<_>>().join(" ");
    for error in [
        "register has no such space",
        "register has another layout or another number of lanes",
        "lease has run out and the register does not answer",
    ] {
        let is_written = include_str!("../src/error.rs").contains(&format!("#[error(\"{error}"));
        assert!(is_written && words.contains(&format!("`{error}")), "{error}");
    }
    let sections = page.lines().filter_map(|line| line.strip_prefix("## ImidLease"));
    assert_eq!(sections.count(), rules.len(), "a section of an alert that is gone");
}

#[test]
fn the_manifests_fit_together() {
    let load = |text: &str| YamlLoader::load_from_str(text).expect("YAML");
    let of_chat = load(include_str!("../../../deploy/kubernetes.yml"));
    let of_gateway = load(include_str!("../../../deploy/kubernetes-lease.yml"));
    let of_file = load(include_str!("../../../deploy/kubernetes-file.yml"));
    let text = |yaml: &Yaml| yaml.as_str().map(str::to_owned);
    let kinds = |manifests: &[Yaml]| -> Vec<_> { manifests.iter().filter_map(|it| text(&it["kind"])).collect() };
    assert_eq!(kinds(&of_file), ["PersistentVolumeClaim", "Deployment"]);

    for (manifests, program, prefix, grace) in [
        (&of_chat, include_str!("../../../examples/chat/src/main.rs"), "CHAT", 10),
        // The gateway gives running requests 10 s, and the lane as long.
        (&of_gateway, include_str!("../examples/gateway/src/main.rs"), "GATEWAY", 20),
    ] {
        assert_eq!(kinds(manifests), ["Deployment", "Service", "PodDisruptionBudget", "NetworkPolicy"]);
        let spec = &manifests[0]["spec"];
        assert_eq!(spec["selector"]["matchLabels"], spec["template"]["metadata"]["labels"]);
        let surge = &spec["strategy"]["rollingUpdate"]["maxSurge"];
        let replicas = spec["replicas"].as_i64().expect("replicas");
        let most = replicas + surge.as_i64().expect("maxSurge");
        // 64 lanes are the default, and 8 are those of ci/rolling.sh.
        assert_eq!(most, 8);
        let pod = &spec["template"]["spec"];
        let container = &pod["containers"][0];
        assert_eq!(text(&container["readinessProbe"]["httpGet"]["path"]).as_deref(), Some("/ready"));
        // It must not ask for the lease, nor for the database.
        assert_eq!(text(&container["livenessProbe"]["httpGet"]["path"]).as_deref(), Some("/live"));
        let last_port = container["ports"].as_vec().expect("ports").last().expect("a port");
        for probe in ["readinessProbe", "livenessProbe"] {
            assert_eq!(container[probe]["httpGet"]["port"], last_port["name"]);
        }
        let variables = container["env"].as_vec().expect("variables");
        for name in variables.iter().map(|it| text(&it["name"]).expect("a name")) {
            assert!(program.contains(&format!("(\"{name}\"")), "{name}");
        }
        let variable = |name: &str| -> Option<i64> {
            let of_name = variables.iter().find(|it| text(&it["name"]).as_deref() == Some(name))?;
            Some(text(&of_name["value"]).expect("a text").parse().expect("a number"))
        };
        // All pods of the version before can be ending. PostgreSQL has 97 connections by default. A chat has one that listens, and the
        // gateway one for its lease.
        assert!((most + replicas) * (variable("CHAT_CONNECTIONS").unwrap_or(0) + 1) <= 97);
        let drain = variable(&format!("{prefix}_DRAIN")).expect("seconds");
        assert!(drain + grace < pod["terminationGracePeriodSeconds"].as_i64().expect("seconds"));
    }

    let (claim, one) = (&of_file[0], &of_file[1]["spec"]);
    assert_eq!(one["selector"]["matchLabels"], one["template"]["metadata"]["labels"]);
    let pod = &one["template"]["spec"];
    assert_eq!((one["replicas"].as_i64(), text(&one["strategy"]["type"]).as_deref()), (Some(1), Some("Recreate")));
    assert_eq!(pod["containers"][0]["volumeMounts"][0]["name"], pod["volumes"][0]["name"]);
    assert_eq!(pod["volumes"][0]["persistentVolumeClaim"]["claimName"], claim["metadata"]["name"]);
    assert_eq!(text(&claim["spec"]["accessModes"][0]).as_deref(), Some("ReadWriteOncePod"));
}
