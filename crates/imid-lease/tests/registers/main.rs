//! Each register obeys the laws of a register, an adapter on a real server. `ci/leases.sh` starts the servers.

#[path = "../support/chain.rs"]
mod chain;
mod faults;
mod laws;
mod proxy;
mod settings;
#[path = "../support/skip.rs"]
mod skip;
mod store;

use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use libtest_mimic::{Arguments, Trial};

use crate::store::Store;

type Law = fn(&Store);

/// Names each function after itself.
macro_rules! laws {
    ($($module:ident :: $name:ident),* $(,)?) => { [$((stringify!($name), $module::$name as Law)),*] };
}

const LAWS: &[(&str, Law)] = &laws![
    laws::a_record_is_absent_until_it_is_written,
    laws::a_write_needs_the_value_that_is_there,
    laws::exactly_one_of_16_connections_creates_a_record,
    laws::increments_by_16_connections_are_all_counted,
    laws::a_list_has_the_keys_with_the_prefix_and_no_others,
    laws::a_list_shows_what_was_written_after_the_list_before,
    laws::keys_of_128_and_values_of_1024_characters_are_kept,
    laws::values_are_compared_by_their_bytes,
    laws::keys_and_values_outside_the_contract_are_errors,
    laws::a_register_works_inside_an_async_runtime,
    laws::a_space_is_recovered_once_nobody_renews_its_lanes,
    laws::only_a_space_that_is_created_as_the_first_one_repeats_ids,
];

const LAWS_OF_SERVERS: &[(&str, Law)] = &laws![
    laws::the_time_is_that_of_the_server,
    faults::a_cut_connection_is_an_error_and_the_next_call_connects_again,
    faults::a_lost_reply_is_an_error_and_the_value_may_be_there,
    faults::many_records_are_listed_within_the_time_limit_of_a_distant_server,
    faults::a_frozen_server_is_an_error_within_the_time_limit,
    faults::a_stopped_server_is_an_error_until_it_starts_again,
    faults::an_acknowledged_write_survives_a_killed_server,
];

const SETTINGS: &[(&str, &str, Law)] = &[
    ("postgres", "a_write_is_durable_where_synchronous_commit_is_off", settings::postgres_synchronous_commit),
    ("postgres", "fsync_off_and_an_unlogged_table_are_weak", settings::postgres_weak),
    ("postgres", "a_serializable_default_loses_conflicts_and_no_writes", settings::postgres_serializable),
    ("postgres", "a_write_that_comes_with_a_warning_is_unknown", settings::postgres_warning),
    ("postgres", "a_write_that_no_standby_has_is_unknown_once_none_is_named", settings::postgres_emptied),
    ("postgres", "a_write_is_unknown_if_none_was_named_for_a_moment", settings::postgres_emptied_for_a_moment),
    ("postgres", "a_value_that_a_trigger_has_changed_is_unknown", settings::trigger),
    ("mysql", "a_value_that_a_trigger_has_kept_is_unknown", settings::trigger),
    ("postgres", "a_timeline_and_a_slot_are_weak_without_synchronous_standbys", settings::postgres_slot),
    ("postgres", "a_backup_is_not_a_standby", settings::postgres_backup),
    ("postgres", "a_promoted_server_is_weak_until_its_timeline_is_trusted", settings::postgres_promoted),
    ("postgres", "a_user_that_can_only_read_reads", settings::postgres_reader),
    ("postgres", "what_a_retry_does_not_mend_is_final", settings::postgres_final),
    ("postgres", "a_connection_has_the_name_of_its_holder", settings::name),
    ("mysql", "a_connection_has_the_name_of_its_holder", settings::name),
    ("redis", "a_connection_has_the_name_of_its_holder", settings::name),
    ("mysql", "what_a_retry_does_not_mend_is_final", settings::mysql_final),
    ("redis", "what_a_retry_does_not_mend_is_final", settings::redis_final),
    ("mysql", "unsafe_settings_are_weak", settings::mysql_weak),
    ("postgres", "a_table_that_cannot_hold_the_records_is_refused", settings::postgres_table),
    ("mysql", "a_write_that_no_replica_has_is_unknown", settings::mysql_semi_sync),
    ("mysql", "a_table_of_another_kind_is_refused", settings::mysql_table),
    ("mysql", "a_read_only_server_is_refused", settings::mysql_read_only),
    ("mysql", "a_record_that_is_not_text_is_an_error", settings::mysql_bytes),
    ("etcd", "a_list_longer_than_the_window_of_the_connection_is_read", settings::etcd_long_list),
    ("redis", "is_always_weak", settings::redis_weak),
    ("redis", "a_replica_is_refused", settings::redis_replica),
];

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    let stores: Vec<_> = store::servers().map(|name| (name, Store::from_env(name))).collect();
    // Trials of one store run one after another, because some stop its server. Stores do not wait for each other.
    arguments.test_threads.get_or_insert(stores.len());
    let mut trials = Vec::new();
    let folder = tempfile::tempdir().expect("a folder for the file");
    let local = [Store::file(&folder.path().join("ids")), Store::memory()].map(|store| (store.name, Ok(store)));
    let stores: Vec<_> = stores
        .into_iter()
        .chain(local)
        .filter_map(|(name, store)| match store {
            Ok(store) => Some(Arc::new(Mutex::new(store))),
            Err(reason) => {
                trials.push(Trial::test(name, move || {
                    skip::skip(&format!("registers::{name}"), &reason);
                    Ok(())
                }));
                None
            }
        })
        .collect();
    let mut add = |store: &Arc<Mutex<Store>>, law_name: &str, law: Law| {
        let shared = Arc::clone(store);
        let name = format!("{}::{law_name}", shared.lock().unwrap().name);
        trials.push(Trial::test(name, move || {
            // After a failed trial the next ones still run.
            let store = shared.lock().unwrap_or_else(PoisonError::into_inner);
            if store.is_server() {
                store.start_if_stopped();
            }
            law(&store);
            Ok(())
        }));
    };
    for (name, law) in LAWS {
        for store in &stores {
            add(store, name, *law);
        }
    }
    // A register in memory has no URL.
    for store in stores.iter().filter(|store| !store.lock().unwrap().url.is_empty()) {
        add(
            store,
            "a_register_that_is_read_only_reads_and_does_not_write",
            laws::a_register_that_is_read_only_reads_and_does_not_write,
        );
    }
    for (name, law) in LAWS_OF_SERVERS {
        for store in &stores {
            if store.lock().unwrap().is_server() {
                add(store, name, *law);
            }
        }
    }
    for (store_name, name, law) in SETTINGS {
        for store in &stores {
            if store.lock().unwrap().name == *store_name {
                add(store, name, *law);
            }
        }
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}
