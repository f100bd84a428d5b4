//! The shipped studies, embedded.

use fathom_message::{Arg, Join, Message, msg};
use fathom_units::did_you_mean;

use crate::error::SourceError;

/// What plans of loads by hand are called.
pub(crate) const IO: &str = "io";

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
        ("commit", include_str!("../../../../../studies/commit.toml")),
        ("files", include_str!("../../../../../studies/files.toml")),
        ("surface", include_str!("../../../../../studies/surface.toml")),
        ("raid", include_str!("../../../../../studies/raid.toml")),
        ("md", include_str!("../../../../../studies/md.toml")),
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
    let all = || msg!("study-shipped", studies = Arg::names(names.iter().copied(), Join::Comma));
    let help = did_you_mean(name, names.iter().copied()).unwrap_or_else(all);
    Err(SourceError::without_place("", msg!("study-unknown", name = name.to_owned()), Some(help)))
}

/// Whether the shipped study of that name asks this question.
pub(crate) fn is_shipped(study: &str, question: &str) -> bool {
    let asks = format!("question = \"{question}\"");
    builtin_studies().iter().any(|(name, text)| *name == study && text.lines().any(|line| line == asks))
}

/// The question of a shipped study, or of `io`, by its name. `None`: a study of the user's, whose question is his own text.
#[must_use]
pub fn question_message(study: &str) -> Option<Message> {
    Some(match study {
        IO => msg!("study-io-question"),
        "quick" => msg!("study-quick-question"),
        "baseline" => msg!("study-baseline-question"),
        "pinning" => msg!("study-pinning-question"),
        "qos" => msg!("study-qos-question"),
        "enterprise" => msg!("study-enterprise-question"),
        "scaling" => msg!("study-scaling-question"),
        "engines" => msg!("study-engines-question"),
        "tune" => msg!("study-tune-question"),
        "snia" => msg!("study-snia-question"),
        "commit" => msg!("study-commit-question"),
        "files" => msg!("study-files-question"),
        "surface" => msg!("study-surface-question"),
        "raid" => msg!("study-raid-question"),
        "md" => msg!("study-md-question"),
        _ => return None,
    })
}
