//! The shipped studies, embedded.

use crate::error::SourceError;

/// Name and TOML text of each shipped study.
#[must_use]
pub fn builtin_studies() -> &'static [(&'static str, &'static str)] {
    &[
        ("quick", include_str!("../../../../../studies/quick.toml")),
        ("baseline", include_str!("../../../../../studies/baseline.toml")),
        ("pinning", include_str!("../../../../../studies/pinning.toml")),
        ("qos", include_str!("../../../../../studies/qos.toml")),
        ("enterprise", include_str!("../../../../../studies/enterprise.toml")),
        ("scaling", include_str!("../../../../../studies/scaling.toml")),
        ("engines", include_str!("../../../../../studies/engines.toml")),
        ("tune", include_str!("../../../../../studies/tune.toml")),
        ("snia", include_str!("../../../../../studies/snia.toml")),
    ]
}

/// The TOML text of a shipped study.
///
/// # Errors
/// No such study; the help names the nearest, or all.
pub fn study_by_name(name: &str) -> Result<&'static str, SourceError> {
    let studies = builtin_studies();
    if let Some((_, text)) = studies.iter().find(|(n, _)| *n == name) {
        return Ok(text);
    }
    let names: Vec<&str> = studies.iter().map(|(n, _)| *n).collect();
    let help = match fathom_units::nearest(name, names.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("shipped studies: {}; a plan of your own ends in .toml or .fio", names.join(", ")),
    };
    Err(SourceError::without_place("", format!("no study is called `{name}`"), Some(help)))
}
