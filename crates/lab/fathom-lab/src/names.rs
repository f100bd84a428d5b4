//! Names of targets: patterns over paths, and drives by their serial number.

use std::path::{Path, PathBuf};

use fathom_host::Root;
use fathom_host::inspect::Inventory;

use crate::simulated::expand_simulated;
use crate::targets::TargetError;

/// The targets that one name stands for: `/dev/nvme[0-3]n1` and `disk*` those that are there, in the order of their
/// numbers; `serial:S64GNE0R` the drive with that serial number; `sim:MACHINE` and `sim:MACHINE/PART` the simulated
/// drives or the array that it means; anything else itself.
///
/// # Errors
/// [`TargetError::NoMatch`] when nothing matches; [`TargetError::Machine`] for a simulated machine that cannot be had.
pub fn expand_target(root: &Root, name: &str) -> Result<Vec<String>, TargetError> {
    if let Some(serial) = name.strip_prefix("serial:") {
        return by_serial(root, name, serial);
    }
    if let Some(simulated) = expand_simulated(name)? {
        return Ok(simulated);
    }
    if !name.contains(['*', '?', '[']) || Path::new(name).exists() {
        return Ok(vec![name.to_owned()]);
    }
    let mut found = matches(Path::new(name));
    found.sort_by_key(|path| natural(path));
    if found.is_empty() {
        let near = "nothing matches it; quote a pattern so that the shell leaves it alone".to_owned();
        return Err(TargetError::NoMatch { name: name.to_owned(), help: near });
    }
    Ok(found)
}

fn by_serial(root: &Root, name: &str, serial: &str) -> Result<Vec<String>, TargetError> {
    let inventory = Inventory::read(root);
    let serial_of = |d: &fathom_host::BlockDevice| d.serial.clone().unwrap_or_default();
    let found: Vec<String> = inventory
        .drives
        .iter()
        .filter(|d| serial_of(&d.device) == serial)
        .map(|d| d.device.dev_path.to_string_lossy().into_owned())
        .collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let known: Vec<String> = inventory.drives.iter().map(|d| serial_of(&d.device)).filter(|s| !s.is_empty()).collect();
    let help = match (fathom_units::nearest(serial, known.iter().map(String::as_str)), known.is_empty()) {
        (Some(near), _) => format!("did you mean `serial:{near}`?"),
        (None, true) => "no drive of this machine tells a serial number".to_owned(),
        (None, false) => format!("serial numbers here: {}", known.join(", ")),
    };
    Err(TargetError::NoMatch { name: name.to_owned(), help })
}

/// Paths that match a pattern, component by component.
fn matches(pattern: &Path) -> Vec<String> {
    let mut found: Vec<PathBuf> = vec![PathBuf::new()];
    for component in pattern.components() {
        let text = component.as_os_str().to_string_lossy().into_owned();
        if !text.contains(['*', '?', '[']) {
            found.iter_mut().for_each(|path| path.push(&text));
            continue;
        }
        let list = |dir: &PathBuf| {
            let dir = if dir.as_os_str().is_empty() { PathBuf::from(".") } else { dir.clone() };
            std::fs::read_dir(dir).into_iter().flatten().flatten().map(|e| e.file_name().to_string_lossy().into_owned())
        };
        let parts: Vec<char> = text.chars().collect();
        found = found
            .iter()
            .flat_map(|dir| list(dir).map(move |name| (dir.clone(), name)))
            .filter(|(_, name)| is_match(&parts, &name.chars().collect::<Vec<_>>()))
            .map(|(dir, name)| dir.join(name))
            .collect();
    }
    found.into_iter().filter(|p| p.exists()).map(|p| p.to_string_lossy().into_owned()).collect()
}

/// Whether a name matches `*`, `?` and `[a-d]` of a pattern.
fn is_match(pattern: &[char], name: &[char]) -> bool {
    match pattern.split_first() {
        None => name.is_empty(),
        Some(('*', rest)) => (0..=name.len()).any(|skip| is_match(rest, &name[skip..])),
        Some(('[', rest)) if rest.contains(&']') => {
            let end = rest.iter().position(|c| *c == ']').unwrap_or(0);
            let (set, after) = (&rest[..end], &rest[end + 1..]);
            name.split_first().is_some_and(|(first, left)| in_set(set, *first) && is_match(after, left))
        }
        Some((wanted, rest)) => {
            name.split_first().is_some_and(|(first, left)| (*wanted == '?' || wanted == first) && is_match(rest, left))
        }
    }
}

fn in_set(set: &[char], c: char) -> bool {
    match set {
        [low, '-', high, rest @ ..] => (*low..=*high).contains(&c) || in_set(rest, c),
        [one, rest @ ..] => *one == c || in_set(rest, c),
        [] => false,
    }
}

/// Key that puts `nvme2n1` before `nvme10n1`.
fn natural(text: &str) -> Vec<(String, u64)> {
    let mut key = Vec::new();
    let (mut word, mut digits) = (String::new(), String::new());
    for c in text.chars() {
        if c.is_ascii_digit() {
            digits.push(c);
            continue;
        }
        if !digits.is_empty() {
            key.push((std::mem::take(&mut word), std::mem::take(&mut digits).parse().unwrap_or(u64::MAX)));
        }
        word.push(c);
    }
    key.push((word, digits.parse().unwrap_or(0)));
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_names_what_is_there_in_the_order_of_its_numbers() {
        let dir = tempfile::tempdir().expect("a directory");
        for name in ["nvme0n1", "nvme2n1", "nvme10n1", "nvme3n1p1", "sda"] {
            std::fs::write(dir.path().join(name), "").expect("a file");
        }
        let found = |pattern: &str| {
            let all = expand_target(&Root::live(), &format!("{}/{pattern}", dir.path().display()));
            all.map(|a| a.iter().map(|p| p.rsplit('/').next().unwrap_or("").to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(found("nvme*n1").expect("three"), ["nvme0n1", "nvme2n1", "nvme10n1"]);
        assert_eq!(found("nvme[0-3]n1").expect("two"), ["nvme0n1", "nvme2n1"]);
        assert_eq!(found("nvme[13]*").expect("two"), ["nvme3n1p1", "nvme10n1"]);
        assert_eq!(found("sd?").expect("one"), ["sda"]);
        assert_eq!(found("plain").expect("itself"), ["plain"]);
        let error = found("zz*").expect_err("nothing");
        assert!(error.help().contains("quote a pattern"), "{}", error.help());
    }

    #[test]
    fn an_unknown_serial_number_says_what_there_is() {
        let error = expand_target(&Root::live(), "serial:NO-SUCH-DRIVE").expect_err("unknown");
        assert!(error.to_string().contains("serial:NO-SUCH-DRIVE"));
        assert!(!error.help().is_empty());
    }
}
