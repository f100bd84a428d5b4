//! Names of targets: patterns over paths, and drives by their serial number.

use std::path::{Path, PathBuf};

use fathom_host::Root;
use fathom_inspect::Inventory;
use fathom_message::{Arg, Join, Message, msg};
use fathom_plan::ArrayTarget;

use crate::site::{TargetError, expand_simulated};

/// The targets that one name stands for: `/dev/nvme[0-3]n1` and `disk*` those that are there, in the order of their
/// numbers; `serial:S64GNE0R` the drive with that serial number; `sim:MACHINE` and `sim:MACHINE/PART` the simulated
/// drives or the array that it means; of an array in user space the members may be any of these; anything else itself.
///
/// # Errors
/// [`TargetError::NoMatch`] when nothing matches, or a serial number means several drives; [`TargetError::Machine`] for a
/// simulated machine that cannot be had.
pub fn expand_target(root: &Root, name: &str) -> Result<Vec<String>, TargetError> {
    if let Some(serial) = name.strip_prefix("serial:") {
        return by_serial(root, name, serial).map(|path| vec![path]);
    }
    if let Some(simulated) = expand_simulated(name)? {
        return Ok(simulated);
    }
    if let Some(array) = expand_array(root, name)? {
        return Ok(vec![array]);
    }
    if !is_pattern(name) {
        return Ok(vec![name.to_owned()]);
    }
    let mut found = matches(Path::new(name));
    found.sort_by_key(|path| natural(path));
    if found.is_empty() {
        return Err(TargetError::NoMatch { name: name.to_owned(), help: msg!("target-pattern-help") });
    }
    Ok(found)
}

/// An array in user space with its members' patterns and serial numbers expanded; `None` for a name of anything else.
fn expand_array(root: &Root, name: &str) -> Result<Option<String>, TargetError> {
    if ArrayTarget::parse(name).is_none() {
        return Ok(None);
    }
    let mut parts = name.splitn(3, ':');
    let (Some(level), Some(chunk), Some(members)) = (parts.next(), parts.next(), parts.next()) else {
        // Whoever reads the name says what it lacks.
        return Ok(Some(name.to_owned()));
    };
    let mut expanded = Vec::new();
    for member in members.split(',') {
        expanded.extend(expand_target(root, member)?);
    }
    let whole = format!("{level}:{chunk}:{}", expanded.join(","));
    match ArrayTarget::parse(&whole) {
        Some(Err(error)) => Err(TargetError::Array(error)),
        _ => Ok(Some(whole)),
    }
}

/// Whether a name is a pattern over paths rather than a path.
#[must_use]
pub fn is_pattern(name: &str) -> bool {
    name.contains(['*', '?', '[']) && !Path::new(name).exists()
}

fn by_serial(root: &Root, name: &str, serial: &str) -> Result<String, TargetError> {
    let no_match = |help: Message| Err(TargetError::NoMatch { name: name.to_owned(), help });
    let inventory = Inventory::read(root);
    let drives = inventory.drives.iter().filter_map(|d| Some((d.device.serial.as_deref()?, &d.device.dev_path)));
    let found: Vec<&PathBuf> =
        drives.clone().filter(|(own, _)| *own == serial && !serial.is_empty()).map(|(_, path)| path).collect();
    match &found[..] {
        [one] => return Ok(one.to_string_lossy().into_owned()),
        [] => {}
        // Namespaces of one drive, or a maker's default number: which of them is for the user to say.
        several => {
            let paths = Arg::names(several.iter().map(|p| p.display().to_string()), Join::Comma);
            return no_match(msg!("target-serial-of-several-help", paths = paths));
        }
    }
    let known: Vec<&str> = drives.map(|(own, _)| own).filter(|own| !own.is_empty()).collect();
    no_match(match (fathom_units::nearest(serial, known.iter().copied()), known.is_empty()) {
        (Some(near), _) => msg!("did-you-mean", near = format!("serial:{near}")),
        (None, true) => msg!("target-no-serials-help"),
        (None, false) => msg!("target-serials-help", serials = Arg::names(known, Join::Comma)),
    })
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

/// Whether a name matches `*`, `?` and `[a-d]` of a pattern. A star that matched too little is widened by one and tried
/// again from there: only the last star needs that, so that the time is at most the product of both lengths.
fn is_match(pattern: &[char], name: &[char]) -> bool {
    let (mut p, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        if pattern.get(p) == Some(&'*') {
            star = Some((p, n));
            p += 1;
        } else if let Some(length) = one_matches(&pattern[p..], name[n]) {
            p += length;
            n += 1;
        } else if let Some((at, from)) = star {
            (p, n) = (at + 1, from + 1);
            star = Some((at, from + 1));
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

/// How many characters of the pattern stand for `c`, if its first element does.
fn one_matches(pattern: &[char], c: char) -> Option<usize> {
    match pattern {
        ['?', ..] => Some(1),
        ['[', rest @ ..] if rest.contains(&']') => {
            let end = rest.iter().position(|c| *c == ']').unwrap_or(0);
            in_set(&rest[..end], c).then_some(end + 2)
        }
        [wanted, ..] => (*wanted == c).then_some(1),
        [] => None,
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
    use fathom_message::Say;

    use super::*;
    use crate::samples::words;

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
        assert!(words(&error.help())[0].contains("quote a pattern"), "{:?}", error.help());
    }

    #[test]
    fn members_of_an_array_are_named_as_targets_are() {
        let dir = tempfile::tempdir().expect("a directory");
        for name in ["d10", "d2", "d1"] {
            std::fs::write(dir.path().join(name), "").expect("a file");
        }
        let dir = dir.path().display();
        let all = expand_target(&Root::live(), &format!("raid6:64k:{dir}/d*,missing")).expect("an array");
        assert_eq!(all, [format!("raid6:64k:{dir}/d1,{dir}/d2,{dir}/d10,missing")]);
        for (name, said) in
            [("raid5:64k:a,b", "needs 3 members"), ("raid5", ""), ("raid0:64k:a,sim:speed", "sim:speed")]
        {
            match expand_target(&Root::live(), name) {
                Err(error) => assert!(words(&Some(error.message()))[0].contains(said), "{name}: {error}"),
                Ok(itself) => assert_eq!((itself, said), (vec![name.to_owned()], "")),
            }
        }
    }

    #[test]
    fn an_unknown_serial_number_says_what_there_is() {
        let error = expand_target(&Root::live(), "serial:NO-SUCH-DRIVE").expect_err("unknown");
        assert!(error.to_string().contains("serial:NO-SUCH-DRIVE"));
        assert!(error.help().is_some());
    }
}
