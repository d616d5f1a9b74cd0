//! Random bits from the system. Never from a generator in this process: a cloned machine or process would draw the same.

/// Returns 128 random bits.
pub(crate) fn random_bits() -> Result<u128, getrandom::Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    Ok(u128::from_ne_bytes(bytes))
}
