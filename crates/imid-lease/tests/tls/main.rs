//! Each adapter by TLS, on a real server with certificates of its own. `ci/tls.sh` starts the servers.

mod cases;
mod certificates;
#[path = "../support/chain.rs"]
mod chain;
mod postgres;
#[path = "../support/skip.rs"]
mod skip;
mod store;

use std::env;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use imid_lease::register::tool::STORES;
use libtest_mimic::{Arguments, Trial};

use crate::store::Store;

type Case = fn(&Store);

/// Names each function after itself.
macro_rules! cases {
    ($($module:ident :: $name:ident),* $(,)?) => { [$((stringify!($name), $module::$name as Case)),*] };
}

const CASES: &[(&str, Case)] = &cases![
    cases::the_right_authority_is_trusted,
    cases::another_authority_is_not_trusted,
    cases::the_authorities_of_the_system_are_the_default,
    cases::a_certificate_of_another_host_is_refused,
    cases::a_missing_certificate_of_the_client_is_an_error,
    cases::a_file_that_cannot_be_used_is_named,
    cases::settings_in_rust_replace_those_of_the_url,
    cases::a_changed_password_is_read_for_the_next_connection,
    cases::changed_certificates_are_read_for_the_next_connection,
    cases::an_expired_certificate_is_refused,
    cases::a_server_without_tls_is_an_error,
];

const POSTGRES: &[(&str, Case)] = &cases![
    postgres::each_mode_checks_what_it_says,
    postgres::prefer_encrypts_if_the_server_can,
    postgres::channel_binding_can_be_required,
    postgres::several_hosts_may_be_named,
    postgres::a_pooler_in_transaction_mode_is_no_obstacle,
    postgres::a_proxy_that_passes_bytes_on_is_no_obstacle,
];

fn main() -> ExitCode {
    // With both features somebody must choose.
    #[cfg(feature = "tls-aws-lc-rs")]
    rustls::crypto::ring::default_provider().install_default().unwrap();
    if let Ok(url) = env::var(cases::CHILD) {
        return cases::child(&url);
    }
    let mut arguments = Arguments::from_args();
    let names: Vec<_> = STORES.iter().filter(|store| store.is_server()).map(|store| store.name).collect();
    // Trials of one store run one after another, because some stop its server. Stores do not wait for each other.
    arguments.test_threads.get_or_insert(names.len());
    let mut trials = Vec::new();
    for name in names {
        let store = match Store::from_env(name) {
            Ok(store) => Arc::new(Mutex::new(store)),
            Err(reason) => {
                trials.push(Trial::test(name, move || {
                    skip::skip(&format!("tls::{name}"), &reason);
                    Ok(())
                }));
                continue;
            }
        };
        let own = if name == "postgres" { POSTGRES } else { &[] };
        // ZooKeeper has no passwords of its own: whoever writes a node first says which one it is.
        let fits = |name_of_case: &str| name != "zookeeper" || !name_of_case.contains("password");
        for (case_name, case) in CASES.iter().chain(own).filter(|(case_name, _)| fits(case_name)) {
            let store = Arc::clone(&store);
            trials.push(Trial::test(format!("{name}::{case_name}"), move || {
                // After a failed trial the next ones still run.
                case(&store.lock().unwrap_or_else(PoisonError::into_inner));
                Ok(())
            }));
        }
    }
    // Those of one store would wait for each other, while others could run.
    trials.sort_by_key(|trial| trial.name().split_once("::").map(|(_, case)| case.to_owned()));
    libtest_mimic::run(&arguments, trials).exit_code()
}
