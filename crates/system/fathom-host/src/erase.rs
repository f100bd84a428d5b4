//! Has an NVMe drive erase itself, by Format or by Sanitize. Both need the guard's consent to the whole namespace.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use fathom_message::{Message, Quantity, Say, msg, say_error};
use fathom_nvme::{
    AdminCommand, Controller, Device, DeviceError, FormatRequest, Namespace, SanitizeAction, SanitizeState,
    SanitizeStatus, SecureErase, ShortPage, namespace_ids,
};

use crate::guard::WriteConsent;

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
    /// Done, 0 to 1; `None` when the drive does not report it.
    pub done: Option<f64>,
}

/// Why a drive did not erase itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EraseError {
    /// It cannot, or must not: nothing was begun, and another way may be tried.
    Unable(Message),
    /// It was begun and did not end well.
    Failed(Message),
    /// The user stopped waiting; the drive goes on by itself.
    Stopped,
}

impl Say for EraseError {
    fn message(&self) -> Message {
        match self {
            EraseError::Unable(why) | EraseError::Failed(why) => why.clone(),
            EraseError::Stopped => msg!("erase-stopped"),
        }
    }
}

say_error!(EraseError);

/// Erases the namespace by NVMe Format with erasure of user data. It keeps the block format, metadata and protection
/// that it has. What was done, for people. A Format cannot be stopped.
///
/// # Errors
/// [`EraseError`]; [`EraseError::Unable`] when Format would reach beyond the namespace that the consent is for.
pub fn format_namespace(
    consent: &WriteConsent,
    on_progress: &mut dyn FnMut(EraseProgress),
) -> Result<Message, EraseError> {
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
) -> Result<Message, EraseError> {
    let (device, namespace) = open(consent)?;
    sanitize_by(&device, namespace, stop, POLL, on_progress)
}

fn unable<T>(why: Message) -> Result<T, EraseError> {
    Err(EraseError::Unable(why))
}

/// The namespace that the consent is for, open.
fn open(consent: &WriteConsent) -> Result<(Device, u32), EraseError> {
    let mut targets = consent.devices();
    let (Some(target), None) = (targets.next(), targets.next()) else { return unable(msg!("erase-not-one-drive")) };
    if let Some(partition) = &target.partition {
        return unable(msg!("erase-partition", partition = partition));
    }
    // What was judged, and nothing that took its name: these commands erase through a descriptor that only reads.
    let node = consent.open_to_command().map_err(|error| EraseError::Unable(error.message()))?;
    let device = Device::of(node, &target.dev_path);
    match device.namespace() {
        Ok(namespace) => Ok((device, namespace)),
        Err(_) => unable(msg!("erase-not-nvme")),
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
    EraseError::Unable(error.message())
}

/// The answer to a question that changes nothing.
fn asked(port: &dyn Port, command: &AdminCommand) -> Result<Vec<u8>, EraseError> {
    port.ask(command).or_else(|error| unable(error.message()))
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
        Err(error) => return unable(msg!("erase-namespaces-unknown", error = error.message())),
    };
    Ok((controller, others))
}

fn refuse_others(command: &'static str, others: usize) -> Result<(), EraseError> {
    match others {
        0 => Ok(()),
        n => unable(msg!("erase-all-namespaces", command = command, count = n + 1)),
    }
}

fn format_by(
    port: &dyn Port,
    namespace: u32,
    on_progress: &mut dyn FnMut(EraseProgress),
) -> Result<Message, EraseError> {
    let (controller, others) = described(port, namespace)?;
    if !controller.can_format {
        return unable(msg!("erase-no-format"));
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
    execute(port, &AdminCommand::format(request), &remaining, on_progress)?;
    let page = port.ask(&identify);
    let page = page.map_err(|error| EraseError::Failed(msg!("erase-after-format", error = error.message())))?;
    let after = Namespace::decode(&page).map_err(short)?;
    if (after.format, after.size_blocks) != (before.format, before.size_blocks) {
        return Err(EraseError::Failed(msg!("erase-format-changed")));
    }
    Ok(match before.block_bytes() {
        Some(block) => msg!("erase-formatted", block = Quantity::bytes(block.into())),
        None => msg!("erase-formatted-as-before"),
    })
}

/// Sends the Format from a thread of its own, because it returns at its end only, and asks meanwhile how far it is.
fn execute(
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
        Err(refused @ DeviceError::Refused { .. }) => unable(refused.message()),
        Err(other) => Err(EraseError::Failed(other.message())),
    }
}

fn sanitize_by(
    port: &dyn Port,
    namespace: u32,
    stop: &AtomicBool,
    poll: Duration,
    on_progress: &mut dyn FnMut(EraseProgress),
) -> Result<Message, EraseError> {
    let (controller, others) = described(port, namespace)?;
    let (action, name) = match controller.sanitize {
        s if s.block_erase => (SanitizeAction::BlockErase, msg!("erase-by-blocks")),
        s if s.crypto_erase => (SanitizeAction::CryptoErase, msg!("erase-by-key")),
        s if s.overwrite => return unable(msg!("erase-by-overwriting-only")),
        _ => return unable(msg!("erase-no-sanitize")),
    };
    refuse_others("Sanitize", others)?;
    let begun = Instant::now();
    let status = || -> Result<SanitizeStatus, EraseError> {
        let failed = |error: &dyn Say| EraseError::Failed(msg!("erase-progress-unknown", error = error.message()));
        let page = port.ask(&AdminCommand::sanitize_status()).map_err(|error| failed(&error))?;
        SanitizeStatus::decode(&page).map_err(|error| failed(&error))
    };
    if status()?.state != SanitizeState::Running {
        asked(port, &AdminCommand::sanitize(action))?;
    }
    loop {
        let now = status()?;
        match now.state {
            SanitizeState::Done => return Ok(msg!("erase-sanitized", action = name)),
            SanitizeState::Running => {
                let done = Some(f64::from(now.done_65536ths) / 65536.0);
                on_progress(EraseProgress { elapsed: begun.elapsed(), done });
            }
            SanitizeState::Failed | SanitizeState::Never => {
                // A drive in its failure mode answers nothing else before it gets the command to leave it.
                let left = port.ask(&AdminCommand::sanitize(SanitizeAction::ExitFailure));
                return Err(EraseError::Failed(match left {
                    Ok(_) => msg!("erase-sanitize-failed"),
                    Err(error) => msg!("erase-sanitize-failed-and-stays", error = error.message()),
                }));
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
