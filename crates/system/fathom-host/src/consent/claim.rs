//! The last look before a consent: an exclusive claim, and signatures read under it.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::device::{Part, covers};
use super::{Refusal, RefusalKind, refuse, unreachable};
use crate::disk::BlockDevice;
use crate::root::Root;
use crate::signature::{Signature, signatures_of};

/// Claims the device and looks for signatures that no `--destroy` names.
pub(super) fn claim(
    root: &Root,
    device: &BlockDevice,
    parts: &[Part],
    node: &Path,
    destroy: &[String],
) -> Result<File, Refusal> {
    let node = root.join(node.strip_prefix("/").unwrap_or(node));
    let file = match OpenOptions::new().read(true).custom_flags(libc::O_EXCL).open(&node) {
        Ok(file) => file,
        Err(error) if error.raw_os_error() == Some(libc::EBUSY) => {
            let message = format!("{} is claimed by another user of this machine", device.dev_path.display());
            let help = "another namespace, container or program has it; choose another drive or stop that user";
            return refuse(RefusalKind::Claimed, message, help);
        }
        Err(error) => return unreachable(&node, &error),
    };
    let found = all_signatures(&file, device, parts).or_else(|error| unreachable(&node, &error))?;
    let named: Vec<&str> =
        destroy.iter().filter_map(|d| covers(d, device.consent_name())).flat_map(|words| words.split('+')).collect();
    if let Some((place, first)) = found.iter().find(|(_, s)| !named.contains(&s.word)) {
        let mut words: Vec<&str> = found.iter().map(|(_, s)| s.word).collect();
        words.dedup();
        let on = place.as_ref().map_or(String::new(), |part| format!(" ({part})"));
        let message = format!("{} carries {first}{on}", device.dev_path.display());
        let help = format!(
            "choose another drive, or allow the loss of what is on it: --destroy {}:{}",
            device.consent_name(),
            words.join("+")
        );
        return refuse(RefusalKind::Signature, message, help);
    }
    Ok(file)
}

/// Signatures of the target, and for a whole device those of its partitions with their names.
fn all_signatures(file: &File, device: &BlockDevice, parts: &[Part]) -> io::Result<Vec<(Option<String>, Signature)>> {
    let asked = device.partition.clone();
    let mut found: Vec<_> = signatures_of(&mut &*file)?.into_iter().map(|s| (asked.clone(), s)).collect();
    if device.partition.is_some() {
        return Ok(found);
    }
    for part in parts.iter().skip(1) {
        let mut window = Window { file, start_bytes: part.start_bytes, size_bytes: part.size_bytes, at_bytes: 0 };
        for signature in signatures_of(&mut window)? {
            if !found.iter().any(|(_, known)| known.word == signature.word) {
                found.push((Some(part.name.clone()), signature));
            }
        }
    }
    Ok(found)
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
