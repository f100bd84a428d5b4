//! The last look before a consent: an exclusive claim, and what is on the device, read under it.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::process::Command;

use crate::system::code;
use crate::system::files::OFlags;
use fathom_message::{Message, Say as _, msg};

use super::device::{Part, covers};
use super::{Permit, Refusal, RefusalKind, refuse, unreachable};
use crate::disk::BlockDevice;
use crate::node::{Node, OpenError};
use crate::signature::{Signature, signatures_of};

/// Word for data that nothing recognises.
const DATA: &str = "data";
/// Bytes at both ends that must be zero where nothing is recognised.
const END_BYTES: u64 = 1 << 20;

/// Claims the device and looks for data whose loss no `--destroy` allows.
pub(super) fn claim(device: &BlockDevice, parts: &[Part], node: &Node, permit: &Permit<'_>) -> Result<File, Refusal> {
    let path = &device.dev_path;
    let file = claim_alone(device, node)?;
    let found = all_findings(&file, device, parts, node).or_else(|error| unreachable(node.path(), &error))?;
    let given = permit.destroy.iter().filter_map(|d| covers(d, device.consent_name()));
    let named: Vec<&str> = given.flat_map(|words| words.split('+')).collect();
    let is_allowed = |f: &&Finding| named.contains(&&*f.word) || permit.own_data && f.word == DATA;
    if let Some(first) = found.iter().find(|f| !is_allowed(f)) {
        let mut words: Vec<&str> = found.iter().map(|f| &*f.word).collect();
        words.dedup();
        let what = first.what.clone();
        let message = match &first.part {
            Some(part) => msg!("guard-carries-on-part", path = path, what = what, part = part),
            None => msg!("guard-carries", path = path, what = what),
        };
        let consent = format!("{}:{}", device.consent_name(), words.join("+"));
        return refuse(RefusalKind::Signature, message, msg!("guard-carries-help", consent = consent));
    }
    Ok(file)
}

/// Claims the device: nobody can mount it or build on it while the file lives.
pub(super) fn claim_alone(device: &BlockDevice, node: &Node) -> Result<File, Refusal> {
    match node.open_to_read(OFlags::EXCL) {
        Ok(file) => Ok(file),
        Err(OpenError::Io { source, .. }) if source.raw_os_error() == Some(code::EBUSY) => {
            let message = msg!("guard-claimed", path = &device.dev_path);
            refuse(RefusalKind::Claimed, message, msg!("guard-claimed-help"))
        }
        Err(OpenError::Io { source, .. }) => unreachable(node.path(), &source),
        Err(error) => refuse(RefusalKind::Unreachable, error.message(), msg!("open-changed-help")),
    }
}

/// Something on the device that somebody may miss.
struct Finding {
    /// Partition it is on, where that is not the target itself.
    part: Option<String>,
    /// Word for `--destroy`.
    word: String,
    /// What it is, in words.
    what: Message,
}

impl Finding {
    fn of(part: Option<String>, signature: &Signature) -> Finding {
        Finding { part, word: signature.word.to_owned(), what: signature.message() }
    }
}

/// What is on the target, and for a whole device what is on its partitions; each sort once.
fn all_findings(file: &File, device: &BlockDevice, parts: &[Part], node: &Node) -> io::Result<Vec<Finding>> {
    let asked = device.partition.clone();
    let mut found: Vec<Finding> =
        signatures_of(&mut &*file)?.into_iter().map(|s| Finding::of(asked.clone(), &s)).collect();
    if found.is_empty() && ends_hold_data(&mut &*file)? {
        found.push(unrecognised(asked.clone(), node));
    }
    for part in parts.iter().skip(1).filter(|_| device.partition.is_none()) {
        let mut window = Window { file, start_bytes: part.start_bytes, size_bytes: part.size_bytes, at_bytes: 0 };
        let signatures = signatures_of(&mut window)?;
        let unknown = signatures.is_empty() && ends_hold_data(&mut window)?;
        let on_it = signatures.into_iter().map(|s| Finding::of(Some(part.name.clone()), &s));
        let unknown = unknown.then(|| Finding { part: Some(part.name.clone()), ..data() });
        for finding in on_it.chain(unknown) {
            if !found.iter().any(|known| known.word == finding.word) {
                found.push(finding);
            }
        }
    }
    Ok(found)
}

/// Whether the first or the last MiB holds anything but zeroes.
fn ends_hold_data(device: &mut (impl Read + Seek)) -> io::Result<bool> {
    let size_bytes = device.seek(SeekFrom::End(0))?;
    for start in [0, size_bytes.saturating_sub(END_BYTES)] {
        device.seek(SeekFrom::Start(start))?;
        let mut bytes = Vec::new();
        Read::take(&mut *device, END_BYTES).read_to_end(&mut bytes)?;
        if bytes.iter().any(|byte| *byte != 0) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn data() -> Finding {
    Finding { part: None, word: DATA.to_owned(), what: msg!("signature-data") }
}

/// What nobody here recognises; libblkid knows more formats, where it is installed.
fn unrecognised(part: Option<String>, node: &Node) -> Finding {
    let known = blkid(node.path()).map(|format| Finding {
        part: None,
        what: msg!("signature-by-blkid", format = format.clone()),
        word: format,
    });
    Finding { part, ..known.unwrap_or_else(data) }
}

/// The format that `blkid -p` finds, as a word.
fn blkid(path: &Path) -> Option<String> {
    // By its place and not by PATH: this runs as root.
    let program = ["/usr/sbin/blkid", "/sbin/blkid"].into_iter().find(|p| Path::new(p).exists())?;
    let output = Command::new(program).args(["-p", "-o", "export"]).arg(path).env_clear().output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let value = |key: &str| text.lines().find_map(|l| l.strip_prefix(key)?.strip_prefix('=').map(str::to_owned));
    let is_word = |w: &String| !w.is_empty() && w.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c));
    value("TYPE").or_else(|| value("PTTYPE")).map(|w| w.to_ascii_lowercase()).filter(is_word)
}

/// A partition read through its whole device, so that no node of it is needed.
struct Window<'f> {
    file: &'f File,
    start_bytes: u64,
    size_bytes: u64,
    at_bytes: u64,
}

impl Read for Window<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.size_bytes.saturating_sub(self.at_bytes)).unwrap_or(usize::MAX);
        let length = buffer.len().min(left);
        self.file.seek(SeekFrom::Start(self.start_bytes.saturating_add(self.at_bytes)))?;
        let count = self.file.read(&mut buffer[..length])?;
        self.at_bytes += count as u64;
        Ok(count)
    }
}

impl Seek for Window<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.size_bytes.checked_add_signed(by),
            SeekFrom::Current(by) => self.at_bytes.checked_add_signed(by),
        };
        self.at_bytes = at.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at_bytes)
    }
}
