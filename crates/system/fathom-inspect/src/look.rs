//! Reading a machine that may hide, lack or fake parts of itself: every look that fails is noted, none ends the whole.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::part::Part;

use fathom_host::{ProbeError, Root};
use fathom_message::{Message, msg};

/// No file of the kernel that is read here is larger, except in a tree that was tampered with.
const FILE_BYTES_MAX: u64 = 16 << 20;
/// Characters kept of one value; the longest real ones are names of CPUs and drives.
const VALUE_CHARS_MAX: usize = 160;

/// Why something is missing from an inventory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// The kernel does not offer it here.
    Absent,
    /// Root may read it, this process may not.
    NeedsRoot,
    /// It could not be read, or does not look as the kernel documents it.
    Unreadable,
}

/// Something an inventory lacks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    /// What part of the machine.
    pub what: Message,
    /// The reason.
    pub why: Why,
    /// How many files it concerns.
    pub count: u32,
    /// One of them, below the root.
    pub example: String,
    /// What the system said of that one, or what is wrong with it.
    pub detail: Message,
}

/// A text of the kernel, a drive or a stranger made safe to print: one line, no control or invisible formatting
/// characters (each becomes U+FFFD), at most 160 characters.
#[must_use]
pub fn clean(text: &str) -> String {
    let invisible = |c: char| {
        matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{feff}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
    };
    let safe = |c: char| if c.is_control() || invisible(c) { char::REPLACEMENT_CHARACTER } else { c };
    text.trim().chars().take(VALUE_CHARS_MAX).map(safe).collect()
}

/// Orders names as people count: nvme2n1 before nvme10n1.
pub(crate) fn natural_key(name: &str) -> Vec<(String, u64)> {
    let mut key = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        let text_len = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        let (text, tail) = rest.split_at(text_len);
        let digits_len = tail.find(|c: char| !c.is_ascii_digit()).unwrap_or(tail.len());
        let (digits, tail) = tail.split_at(digits_len);
        key.push((text.to_owned(), digits.parse().unwrap_or(u64::MAX)));
        rest = tail;
    }
    key
}

/// Why a file gave no bytes.
enum NotRead {
    /// A pipe in a tree that somebody sent would hold us for ever.
    NotRegular,
    Io(io::Error),
}

impl From<io::Error> for NotRead {
    fn from(error: io::Error) -> NotRead {
        NotRead::Io(error)
    }
}

/// A reader below a root that remembers what it could not have.
pub(crate) struct Look<'a> {
    root: &'a Root,
    base: PathBuf,
    missing: RefCell<BTreeMap<(Part, Why), Missing>>,
}

impl<'a> Look<'a> {
    pub(crate) fn new(root: &'a Root) -> Self {
        let plain = root.join("");
        let base = fs::canonicalize(&plain).unwrap_or(plain);
        Look { root, base, missing: RefCell::default() }
    }

    pub(crate) fn root(&self) -> &Root {
        self.root
    }

    /// What was missed so far, in the order of the parts.
    pub(crate) fn into_missing(self) -> Vec<Missing> {
        self.missing.into_inner().into_values().collect()
    }

    /// Notes a failure. Paths are shown without the root's own folder, so that captured trees read alike.
    pub(crate) fn miss(&self, what: Part, why: Why, path: &str, detail: Message) {
        let base = self.base.to_string_lossy();
        let safe = |text: &str| clean(&if base.len() > 1 { text.replace(&*base, "") } else { text.to_owned() });
        let mut missing = self.missing.borrow_mut();
        let entry = missing.entry((what, why)).or_insert_with(|| Missing {
            what: what.message(),
            why,
            count: 0,
            example: clean(path),
            detail: detail.map_texts(&safe),
        });
        entry.count += 1;
    }

    fn miss_io(&self, what: Part, path: &str, error: &io::Error) {
        let why = if error.kind() == io::ErrorKind::PermissionDenied { Why::NeedsRoot } else { Why::Unreadable };
        self.miss(what, why, path, Message::verbatim(error.to_string()));
    }

    /// Notes why one of the host's readers failed.
    pub(crate) fn miss_probe(&self, what: Part, path: &str, error: &ProbeError) {
        match error {
            ProbeError::Read { source, .. } if source.kind() == io::ErrorKind::NotFound => {
                self.miss(what, Why::Absent, path, msg!("missing-no-such-file"));
            }
            ProbeError::Read { source, .. } => self.miss_io(what, path, source),
            ProbeError::Parse { what: found, .. } => self.miss(what, Why::Unreadable, path, found.clone()),
        }
    }

    fn open(&self, path: &str) -> Result<Vec<u8>, NotRead> {
        let full = self.root.join(path);
        if !fs::metadata(&full)?.is_file() {
            return Err(NotRead::NotRegular);
        }
        let mut bytes = Vec::new();
        File::open(&full)?.take(FILE_BYTES_MAX).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Bytes of a file; `None` when it does not exist, also (with a note) when it cannot be read.
    pub(crate) fn bytes(&self, path: &str, what: Part) -> Option<Vec<u8>> {
        match self.open(path) {
            Ok(bytes) => Some(bytes),
            Err(NotRead::Io(e)) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => None,
            Err(NotRead::Io(e)) => {
                self.miss_io(what, path, &e);
                None
            }
            Err(NotRead::NotRegular) => {
                self.miss(what, Why::Unreadable, path, msg!("missing-not-a-file"));
                None
            }
        }
    }

    /// Whole text of a file, as it is: for files that are parsed line by line.
    pub(crate) fn text(&self, path: &str, what: Part) -> Option<String> {
        self.bytes(path, what).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Text of a file that may come and go, or that many drivers refuse to show: without a note.
    pub(crate) fn quietly(&self, path: &str) -> Option<String> {
        self.open(path).ok().map(|bytes| String::from_utf8_lossy(&bytes).trim().to_owned())
    }

    /// Like [`Look::text`], noting also that the file does not exist.
    pub(crate) fn expect_text(&self, path: &str, what: Part) -> Option<String> {
        let text = self.text(path, what);
        if text.is_none() && !self.exists(path) {
            self.miss(what, Why::Absent, path, msg!("missing-no-such-file"));
        }
        text
    }

    /// One value, made safe to print; `None` when missing or empty.
    pub(crate) fn word(&self, path: &str, what: Part) -> Option<String> {
        let text = self.text(path, what)?;
        let word = clean(text.trim_matches(|c: char| c.is_whitespace() || c == '\0'));
        (!word.is_empty()).then_some(word)
    }

    /// One number; what is no number is noted.
    pub(crate) fn number(&self, path: &str, what: Part) -> Option<u64> {
        let word = self.word(path, what)?;
        let number = word.parse().ok();
        if number.is_none() {
            self.miss(what, Why::Unreadable, path, msg!("missing-no-number", text = word));
        }
        number
    }

    /// A node number; the kernel writes -1 for "unknown".
    pub(crate) fn node(&self, path: &str) -> Option<u32> {
        self.word(path, Part::DeviceNode)?.parse().ok()
    }

    /// Names in a folder in natural order; a name that is not safe to print is noted and left out.
    pub(crate) fn names(&self, path: &str) -> Vec<String> {
        let entries = match fs::read_dir(self.root.join(path)) {
            Ok(entries) => entries,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Vec::new(),
            Err(e) => {
                self.miss_io(Part::Folder, path, &e);
                return Vec::new();
            }
        };
        let mut names = Vec::new();
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if clean(&name) == name && !name.contains(char::REPLACEMENT_CHARACTER) {
                names.push(name);
            } else {
                self.miss(Part::UnsafeNames, Why::Unreadable, path, Message::verbatim(name));
            }
        }
        names.sort_by_cached_key(|name| natural_key(name));
        names
    }

    pub(crate) fn exists(&self, path: &str) -> bool {
        self.root.join(path).exists()
    }

    /// Where `path` really is, below the root and without a leading slash; `None` when it does not exist or leads out.
    pub(crate) fn real(&self, path: &str) -> Option<String> {
        let real = fs::canonicalize(self.root.join(path)).ok()?;
        Some(real.strip_prefix(&self.base).ok()?.to_string_lossy().into_owned())
    }

    /// Last component of a link's target: the name of a driver, a subsystem, a group. The target need not exist.
    pub(crate) fn link_name(&self, path: &str) -> Option<String> {
        let target = fs::read_link(self.root.join(path)).ok()?;
        target.file_name().map(|name| clean(&name.to_string_lossy()))
    }
}

/// Whether a path names a folder below which the kernel keeps the devices of a PCI domain (`pci0000:3a`).
pub(crate) fn is_root_complex(component: &str) -> bool {
    component.strip_prefix("pci").and_then(|rest| rest.split_once(':')).is_some_and(|(domain, bus)| {
        domain.len() >= 4 && bus.len() == 2 && [domain, bus].iter().all(|t| t.bytes().all(|b| b.is_ascii_hexdigit()))
    })
}

/// Whether a path component is the address of a PCI function (`0000:3b:00.0`).
pub(crate) fn is_pci_address(component: &str) -> bool {
    let mut parts = component.split(':');
    let (Some(domain), Some(bus), Some(rest), None) = (parts.next(), parts.next(), parts.next(), parts.next()) else {
        return false;
    };
    let Some((device, function)) = rest.split_once('.') else { return false };
    domain.len() >= 4
        && (bus.len(), device.len(), function.len()) == (2, 2, 1)
        && [domain, bus, device, function].iter().all(|t| t.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// The function a device is attached to: the last PCI address of its real path.
pub(crate) fn pci_address_of(real_path: &str) -> Option<String> {
    Path::new(real_path).components().rev().find_map(|c| {
        let text = c.as_os_str().to_str()?;
        is_pci_address(text).then(|| text.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_host::testing::Tree;
    use proptest::prelude::*;

    #[test]
    fn failures_are_counted_by_their_part() {
        let tree = Tree::new();
        tree.file("sys/a", "twelve\n").file("sys/b", "x\n").file("sys/c", " 12 \n").folder("sys/d");
        let root = tree.root();
        let look = Look::new(&root);
        assert_eq!((look.number("sys/a", Part::Memory), look.number("sys/b", Part::Memory)), (None, None));
        assert_eq!((look.number("sys/c", Part::Memory), look.number("sys/none", Part::Memory)), (Some(12), None));
        assert_eq!(look.bytes("sys/d", Part::Folder), None);
        assert_eq!(look.expect_text("sys/none", Part::Cpus), None);
        let missing = look.into_missing();
        let found: Vec<_> = missing.iter().map(|m| (m.what.id(), m.why, m.count)).collect();
        let expected =
            [("part-cpus", Why::Absent, 1), ("part-folder", Why::Unreadable, 1), ("part-memory", Why::Unreadable, 2)];
        assert_eq!(found, expected);
        assert_eq!(missing[2].detail, msg!("missing-no-number", text = "twelve"));
    }

    #[test]
    fn a_link_that_leads_out_of_the_tree_is_not_followed() {
        let tree = Tree::new();
        tree.link("sys/out", "/").link("sys/in", "../proc").file("proc/x", "1");
        let root = tree.root();
        let look = Look::new(&root);
        assert_eq!((look.real("sys/out"), look.real("sys/in").as_deref()), (None, Some("proc")));
    }

    #[test]
    fn names_that_could_fool_a_terminal_are_noted_and_left_out() {
        let tree = Tree::new();
        tree.file("sys/block/sda", "").file("sys/block/sd\u{1b}[2J", "").file("sys/block/sd\u{202e}b", "");
        let root = tree.root();
        let look = Look::new(&root);
        assert_eq!(look.names("sys/block"), ["sda"]);
        let missing = look.into_missing();
        assert_eq!((missing.len(), missing[0].count), (1, 2));
        assert!(!missing[0].detail.to_string().contains('\u{1b}'));
    }

    #[test]
    fn names_are_counted_as_people_do() {
        let mut names = ["nvme10n1", "nvme2n1", "sda", "nvme2n10", "nvme2"];
        names.sort_by_key(|n| natural_key(n));
        assert_eq!(names, ["nvme2", "nvme2n1", "nvme2n10", "nvme10n1", "sda"]);
    }

    #[test]
    fn pci_addresses_and_root_complexes_are_distinguished_from_other_names() {
        assert!(is_pci_address("0000:3b:00.0") && is_pci_address("10000:e1:00.0"));
        assert!(!is_pci_address("0000:3b:00") && !is_pci_address("pci0000:3b") && !is_pci_address("254:0"));
        assert!(is_root_complex("pci0000:3a") && is_root_complex("pci10000:e0") && !is_root_complex("pci_bus"));
        let path = "sys/devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0/nvme/nvme0/nvme0n1";
        assert_eq!(pci_address_of(path).as_deref(), Some("0000:3b:00.0"));
    }

    proptest! {
        #[test]
        fn a_cleaned_text_is_one_short_visible_line(text in any::<String>()) {
            let cleaned = clean(&text);
            prop_assert!(!cleaned.chars().any(char::is_control));
            let hidden = ['\u{202e}', '\u{200b}', '\u{2066}', '\u{2028}'];
            prop_assert!(!cleaned.contains(hidden));
            prop_assert!(cleaned.chars().count() <= VALUE_CHARS_MAX);
            prop_assert_eq!(clean(&cleaned), cleaned.clone());
        }

        #[test]
        fn plain_text_passes_unchanged(text in "[!-~]([ -~]{0,60}[!-~])?") {
            prop_assert_eq!(clean(&text), text);
        }
    }
}
