//! Has an NVMe drive erase itself, by Format or by Sanitize. Both need the guard's consent to the whole namespace.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use fathom_nvme::{
    AdminCommand, Controller, Device, DeviceError, FormatRequest, Namespace, SanitizeAction, SanitizeState,
    SanitizeStatus, SecureErase, ShortPage, namespace_ids,
};
use fathom_units::format_bytes;

use crate::consent::WriteConsent;

/// Longest that the kernel waits for a Format. It cannot be taken back, so a drive that works on is not disturbed.
const FORMAT_TIMEOUT_MS: u32 = 4 * 3600 * 1000;
/// Between two questions how far the drive is.
const POLL: Duration = Duration::from_millis(500);
/// Between two looks whether a Format has ended: small ones take a moment only.
const LOOK: Duration = Duration::from_millis(10);

/// How far a drive is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EraseProgress {
    /// Since the command.
    pub elapsed: Duration,
    /// Done, 0 to 1; `None` when the drive does not tell.
    pub done: Option<f64>,
}

/// Why a drive did not erase itself.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EraseError {
    /// It cannot, or must not: nothing was begun, and another way may be tried.
    #[error("{0}")]
    Unable(String),
    /// It was begun and did not end well.
    #[error("{0}")]
    Failed(String),
    /// The user stopped waiting; the drive goes on by itself.
    #[error("stopped while the drive sanitizes itself: it goes on, and refuses all I/O until it is done")]
    Stopped,
}

/// Erases the namespace by NVMe Format with erasure of user data. It keeps the block format, metadata and protection
/// that it has. What was done, for people. A Format cannot be stopped.
///
/// # Errors
/// [`EraseError`]; [`EraseError::Unable`] when Format would reach beyond the namespace that the consent is for.
pub fn format_namespace(
    consent: &WriteConsent,
    on_progress: &mut dyn FnMut(EraseProgress),
) -> Result<String, EraseError> {
    let (device, namespace) = open(consent)?;
    format_by(&device, namespace, on_progress)
}

/// Erases the drive by NVMe Sanitize: block erase, else cryptographic erase; joins one that is under way. What was done,
/// for people. Ends early when `stop` is set.
///
/// # Errors
/// [`EraseError`]; [`EraseError::Unable`] when the drive has more namespaces than the one that the consent is for.
pub fn sanitize_drive(
    consent: &WriteConsent,
    stop: &AtomicBool,
    on_progress: &mut dyn FnMut(EraseProgress),
) -> Result<String, EraseError> {
    let (device, namespace) = open(consent)?;
    sanitize_by(&device, namespace, stop, POLL, on_progress)
}

fn unable<T>(why: impl Into<String>) -> Result<T, EraseError> {
    Err(EraseError::Unable(why.into()))
}

/// The namespace that the consent is for, open.
fn open(consent: &WriteConsent) -> Result<(Device, u32), EraseError> {
    let [target] = consent.devices() else { return unable("it is not one drive") };
    if let Some(partition) = &target.partition {
        return unable(format!("{partition} is a part of the drive, and Format and Sanitize erase all of it"));
    }
    let node: &Path = &target.dev_path;
    let device = Device::open(node).or_else(|error| unable(error.to_string()))?;
    match device.namespace() {
        Ok(namespace) => Ok((device, namespace)),
        Err(_) => unable("it is no NVMe drive"),
    }
}

/// What takes admin commands: a [`Device`], or a made-up drive in tests.
trait Port: Sync {
    fn ask(&self, command: &AdminCommand) -> Result<Vec<u8>, DeviceError>;
}

impl Port for Device {
    fn ask(&self, command: &AdminCommand) -> Result<Vec<u8>, DeviceError> {
        self.admin(command).map(|(data, _)| data)
    }
}

fn short(error: ShortPage) -> EraseError {
    EraseError::Unable(error.to_string())
}

/// The answer to a question that changes nothing.
fn asked(port: &dyn Port, command: &AdminCommand) -> Result<Vec<u8>, EraseError> {
    port.ask(command).or_else(|error| unable(error.to_string()))
}

/// What the controller says of itself, and its namespaces other than `namespace`, attached here or not.
fn described(port: &dyn Port, namespace: u32) -> Result<(Controller, usize), EraseError> {
    let page = asked(port, &AdminCommand::identify_controller())?;
    let controller = Controller::decode(&page).map_err(short)?;
    let list = match controller.can_manage_namespaces {
        true => AdminCommand::allocated_namespaces(),
        false => AdminCommand::active_namespaces(),
    };
    let others = match port.ask(&list) {
        Ok(list) => namespace_ids(&list).into_iter().filter(|id| *id != namespace).count(),
        // Drives of the first specification have no list; one that can have one namespace only has no other.
        Err(_) if controller.namespaces_max <= 1 => 0,
        Err(error) => return unable(format!("it does not tell its namespaces: {error}")),
    };
    Ok((controller, others))
}

fn refuse_others(command: &str, others: usize) -> Result<(), EraseError> {
    match others {
        0 => Ok(()),
        n => unable(format!("{command} erases all {} namespaces of this drive, and only one was named", n + 1)),
    }
}

fn format_by(
    port: &dyn Port,
    namespace: u32,
    on_progress: &mut dyn FnMut(EraseProgress),
) -> Result<String, EraseError> {
    let (controller, others) = described(port, namespace)?;
    if !controller.can_format {
        return unable("the drive has no Format NVM");
    }
    if controller.format_all_namespaces || controller.erase_all_namespaces {
        refuse_others("Format", others)?;
    }
    let identify = AdminCommand::identify_namespace(namespace);
    let page = asked(port, &identify)?;
    let before = Namespace::decode(&page).map_err(short)?;
    let request =
        FormatRequest::unchanged(namespace, &page, SecureErase::UserData, FORMAT_TIMEOUT_MS).map_err(short)?;
    let remaining = || Namespace::decode(&port.ask(&identify).ok()?).ok()?.format_remaining_pct;
    carry_out(port, &AdminCommand::format(request), &remaining, on_progress)?;
    let page = port.ask(&identify).map_err(|error| EraseError::Failed(format!("after the Format: {error}")))?;
    let after = Namespace::decode(&page).map_err(short)?;
    if (after.format, after.size_blocks) != (before.format, before.size_blocks) {
        let why = "the drive changed its block format or size by the Format; look at it with `fathom inspect`";
        return Err(EraseError::Failed(why.to_owned()));
    }
    let block = before.block_bytes().map_or_else(String::new, |b| format!(" ({} blocks)", format_bytes(u64::from(b))));
    Ok(format!("NVMe Format with erasure of user data, in the format that it had{block}"))
}

/// Sends the Format from a thread of its own, because it returns at its end only, and asks meanwhile how far it is.
fn carry_out(
    port: &dyn Port,
    format: &AdminCommand,
    remaining_pct: &dyn Fn() -> Option<u8>,
    on_progress: &mut dyn FnMut(EraseProgress),
) -> Result<(), EraseError> {
    let begun = Instant::now();
    let answer = thread::scope(|scope| {
        let sent = scope.spawn(|| port.ask(format));
        let mut asked = begun;
        while !sent.is_finished() {
            thread::sleep(LOOK);
            if asked.elapsed() >= POLL {
                asked = Instant::now();
                let done = remaining_pct().map(|pct| 1.0 - f64::from(pct.min(100)) / 100.0);
                on_progress(EraseProgress { elapsed: begun.elapsed(), done });
            }
        }
        sent.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
    match answer {
        Ok(_) => Ok(()),
        Err(refused @ DeviceError::Refused { .. }) => unable(refused.to_string()),
        Err(other) => Err(EraseError::Failed(other.to_string())),
    }
}

fn sanitize_by(
    port: &dyn Port,
    namespace: u32,
    stop: &AtomicBool,
    poll: Duration,
    on_progress: &mut dyn FnMut(EraseProgress),
) -> Result<String, EraseError> {
    let (controller, others) = described(port, namespace)?;
    let (action, name) = match controller.sanitize {
        s if s.block_erase => (SanitizeAction::BlockErase, "block erase"),
        s if s.crypto_erase => (SanitizeAction::CryptoErase, "cryptographic erase"),
        s if s.overwrite => return unable("the drive sanitizes by overwriting only, which wears it and takes hours"),
        _ => return unable("the drive has no Sanitize"),
    };
    refuse_others("Sanitize", others)?;
    let begun = Instant::now();
    let status = || -> Result<SanitizeStatus, EraseError> {
        let failed = |why: String| EraseError::Failed(format!("the drive does not tell how far it is: {why}"));
        let page = port.ask(&AdminCommand::sanitize_status()).map_err(|error| failed(error.to_string()))?;
        SanitizeStatus::decode(&page).map_err(|error| failed(error.to_string()))
    };
    if status()?.state != SanitizeState::Running {
        asked(port, &AdminCommand::sanitize(action))?;
    }
    loop {
        let now = status()?;
        match now.state {
            SanitizeState::Done => return Ok(format!("NVMe Sanitize by {name}")),
            SanitizeState::Running => {
                let done = Some(f64::from(now.done_65536ths) / 65536.0);
                on_progress(EraseProgress { elapsed: begun.elapsed(), done });
            }
            SanitizeState::Failed | SanitizeState::Never => {
                // A drive in its failure mode answers nothing else before it is told to leave it.
                let left = port.ask(&AdminCommand::sanitize(SanitizeAction::ExitFailure));
                let after = left.err().map_or_else(String::new, |error| format!(", and {error}"));
                return Err(EraseError::Failed(format!("the drive says that its Sanitize failed{after}")));
            }
        }
        if stop.load(Ordering::Relaxed) {
            return Err(EraseError::Stopped);
        }
        thread::sleep(poll);
    }
}

#[cfg(test)]
mod tests;
