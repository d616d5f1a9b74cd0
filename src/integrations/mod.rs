//! Traits of other crates. Each crate has a file and a feature with its name and its major version.

#[cfg(feature = "arbitrary-1")]
mod arbitrary_1;
#[cfg(feature = "diesel-2")]
mod diesel_2;
#[cfg(any(
    feature = "diesel-2",
    feature = "postgres-types-0_2",
    feature = "redis-1",
    feature = "rusqlite-0_41",
    feature = "scylla-1",
    feature = "sqlx-0_9",
))]
mod integer;
#[cfg(any(feature = "schemars-1", feature = "utoipa-6"))]
mod json;
#[cfg(feature = "postgres-types-0_2")]
mod postgres_types_0_2;
#[cfg(feature = "redis-1")]
mod redis_1;
#[cfg(feature = "rusqlite-0_41")]
mod rusqlite_0_41;
#[cfg(feature = "schemars-1")]
mod schemars_1;
#[cfg(feature = "scylla-1")]
mod scylla_1;
#[cfg(feature = "serde")]
mod serde;
#[cfg(feature = "sqlx-0_9")]
mod sqlx_0_9;
#[cfg(feature = "utoipa-6")]
mod utoipa_6;
#[cfg(feature = "uuid-1")]
mod uuid_1;
