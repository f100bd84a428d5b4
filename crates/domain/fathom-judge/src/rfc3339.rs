//! Times as text.

/// A time as RFC 3339 in UTC, whole seconds.
#[must_use]
pub fn rfc3339(unix_ns: u64) -> String {
    jiff::Timestamp::from_nanosecond(i128::from(unix_ns))
        .expect("64 bits of nanoseconds end before the year 2600")
        .strftime("%Y-%m-%dT%H:%M:%SZ")
        .to_string()
}

/// The same of the begin of a run or a step; `None` where an imported file does not say when it was measured.
#[must_use]
pub fn known_rfc3339(unix_ns: u64) -> Option<String> {
    (unix_ns > 0).then(|| rfc3339(unix_ns))
}
