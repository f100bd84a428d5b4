//! A controller from reset to shutdown, and its admin queue (Base 2.0, section 3.5 "Controller Initialization").

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::doorbell::{Doorbell, ShadowDoorbells, Which};
use super::entries::{DELETE_COMPLETION_QUEUE, DELETE_SUBMISSION_QUEUE, Submission};
use super::error::DriverError;
use super::memory::{DmaMemory, PciFunction};
use super::queue::Rings;
use super::registers::{
    ACQ, AQA, ASQ, Bar, CAP, CC, CSTS, Capabilities, ControllerStatus, DOORBELLS, GONE, INTMS, PAGE_BYTES, VS,
    configuration,
};
use crate::command::{AdminCommand, Transfer};
use crate::features::queue_counts;
use crate::identify::{Controller, Namespace};

/// Entries of the admin queues.
const ADMIN_ENTRIES: u32 = 32;
/// Pairs of queues that are asked for: more threads than that drive no drive.
const PAIRS_WANTED: u16 = 256;
/// Pause between two looks at a register or at the admin queue.
const PAUSE: Duration = Duration::from_micros(20);

/// How long a drive may take to answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// A command for I/O that takes longer is aborted. As long as the kernel waits (`nvme_core.io_timeout`).
    pub command: Duration,
    /// How long a command that was aborted may take to come back, before the controller is switched off.
    pub after_abort: Duration,
    /// How long an admin command may take, before the controller counts as silent.
    pub admin: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Patience {
            command: Duration::from_secs(30),
            after_abort: Duration::from_secs(5),
            admin: Duration::from_secs(10),
        }
    }
}

/// A controller that this process alone drives. Dropping it shuts the controller down.
pub struct Driver {
    device: Arc<dyn PciFunction>,
    bar: Bar,
    capabilities: Capabilities,
    version: u32,
    patience: Patience,
    described: Controller,
    admin: Mutex<Admin>,
    shadow: Option<ShadowDoorbells>,
    /// Data may be named by SGLs.
    has_sgls: bool,
    /// Pairs of I/O queues that the controller granted.
    granted: u16,
    /// Numbers of pairs that nobody has.
    unused: Mutex<Vec<u16>>,
    /// No command can be on its way any more: the controller is off.
    is_stopped: AtomicBool,
}

impl std::fmt::Debug for Driver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Driver").field("serial", &self.described.serial).field("granted", &self.granted).finish()
    }
}

struct Admin {
    rings: Rings,
    /// Where pages are read into.
    page: DmaMemory,
    next_id: u16,
    /// No command goes any more: one was not answered.
    is_silent: bool,
}

impl Driver {
    /// Resets the controller, enables it and asks what it is.
    ///
    /// # Errors
    /// [`DriverError`]; then the controller is off.
    pub fn start(device: Arc<dyn PciFunction>) -> Result<Arc<Driver>, DriverError> {
        Driver::start_with(device, Patience::default())
    }

    /// The same for a drive that may take so long.
    ///
    /// # Errors
    /// As [`Driver::start`].
    pub fn start_with(device: Arc<dyn PciFunction>, patience: Patience) -> Result<Arc<Driver>, DriverError> {
        let (base, bar_bytes) = device.registers();
        if bar_bytes < DOORBELLS + 8 {
            return Err(DriverError::NotNvme { bar_bytes: bar_bytes as u64 });
        }
        // SAFETY: what the function maps, as long as it lives (`PciFunction`); the driver holds it.
        let bar = unsafe { Bar::new(base, bar_bytes) };
        if bar.read(CSTS) == GONE {
            return Err(DriverError::Gone);
        }
        let capabilities = Capabilities::of(bar.read_wide(CAP));
        if !capabilities.has_nvm_commands() && !capabilities.has_command_sets() {
            return Err(DriverError::NoNvmCommands);
        }
        if capabilities.page_bytes_min() > PAGE_BYTES {
            return Err(DriverError::PageSize { min_bytes: capabilities.page_bytes_min() as u64 });
        }
        let stride = capabilities.doorbell_stride_bytes();
        if !Doorbell::fits(bar, stride, 1) {
            return Err(DriverError::NotNvme { bar_bytes: bar_bytes as u64 });
        }
        disable(bar, capabilities)?;
        let bell = |which| Doorbell::new(bar, stride, 0, which, None);
        let entries = ADMIN_ENTRIES.min(capabilities.queue_entries_max());
        let rings = Rings::new(&device, entries, bell(Which::Tail), bell(Which::Head))?;
        let page = DmaMemory::new(&device, PAGE_BYTES)?;
        let (submissions, completions) = rings.addresses();
        bar.write(AQA, (entries - 1) | (entries - 1) << 16);
        bar.write_wide(ASQ, submissions);
        bar.write_wide(ACQ, completions);
        // Nobody waits for interrupts.
        bar.write(INTMS, u32::MAX);
        let all_sets = capabilities.has_command_sets() && !capabilities.has_nvm_commands();
        bar.write(CC, configuration(true, all_sets, false));
        let mut driver = Driver {
            device,
            bar,
            capabilities,
            version: bar.read(VS),
            patience,
            described: Controller::decode(&[0; 4096])?,
            admin: Mutex::new(Admin { rings, page, next_id: 0, is_silent: false }),
            shadow: None,
            has_sgls: false,
            granted: 0,
            unused: Mutex::default(),
            is_stopped: AtomicBool::new(false),
        };
        driver.until_ready(true)?;
        driver.get_to_know()?;
        Ok(Arc::new(driver))
    }

    fn get_to_know(&mut self) -> Result<(), DriverError> {
        let (page, _) = self.ask(&AdminCommand::identify_controller())?;
        self.described = Controller::decode(&page)?;
        self.has_sgls = offers_sgls(&page);
        let answer = self.run("Set Features, Number of Queues", |id| Submission::set_queue_count(id, PAIRS_WANTED))?;
        let (submissions, completions) = queue_counts(answer);
        let stride = self.capabilities.doorbell_stride_bytes();
        let granted = submissions.min(completions).min(PAIRS_WANTED.into()) as u16;
        self.granted = (1..=granted).take_while(|number| Doorbell::fits(self.bar, stride, *number)).count() as u16;
        self.unused = Mutex::new((1..=self.granted).rev().collect());
        // Only where the doorbells of all queues fit into a page.
        let fits = 2 * (usize::from(self.granted) + 1) * stride <= PAGE_BYTES;
        if offers_doorbell_buffers(&page) && fits {
            let memory = || DmaMemory::new(&self.device, PAGE_BYTES);
            let shadow = ShadowDoorbells { doorbells: memory()?, events: memory()? };
            let (doorbells, events) = (shadow.doorbells.address(), shadow.events.address());
            let taken = self.run("Doorbell Buffer Config", |id| Submission::doorbell_buffers(id, doorbells, events));
            match taken {
                Ok(_) => self.shadow = Some(shadow),
                // The drive says that it has them and does not take them: registers do as well.
                Err(DriverError::Refused { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// What the controller says of itself.
    #[must_use]
    pub fn described(&self) -> &Controller {
        &self.described
    }

    /// Version of the specification as its register tells: major, minor, tertiary.
    #[must_use]
    pub fn version(&self) -> (u16, u8, u8) {
        ((self.version >> 16) as u16, (self.version >> 8) as u8, self.version as u8)
    }

    /// How long it may take to answer.
    #[must_use]
    pub fn patience(&self) -> Patience {
        self.patience
    }

    /// NUMA node that the drive is attached to; `None`: none is nearer than another.
    #[must_use]
    pub fn numa_node(&self) -> Option<u32> {
        self.device.numa_node()
    }

    /// Whether it reaches memory without an IOMMU, so that buffers lie on large pages, each set on one.
    #[must_use]
    pub fn wants_large_pages(&self) -> bool {
        self.device.wants_large_pages()
    }

    /// Its capabilities.
    #[must_use]
    pub fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    /// Pairs of queues, and so threads, that it granted.
    #[must_use]
    pub fn granted_pairs(&self) -> u16 {
        self.granted
    }

    /// Whether doorbells are in memory that the controller looks at by itself.
    #[must_use]
    pub fn has_shadow_doorbells(&self) -> bool {
        self.shadow.is_some()
    }

    /// Whether a buffer longer than two pages is named by one SGL descriptor rather than by a list of its pages.
    #[must_use]
    pub fn has_sgls(&self) -> bool {
        self.has_sgls
    }

    /// Most bytes that one command moves: what the controller takes, and what one PRP list names.
    #[must_use]
    pub fn transfer_bytes_max(&self) -> u64 {
        let listed = (PAGE_BYTES / 8 * PAGE_BYTES) as u64;
        let page = self.capabilities.page_bytes_min() as u64;
        self.described.max_transfer_pages.map_or(listed, |pages| pages.saturating_mul(page).min(listed))
    }

    /// What a namespace says of itself.
    ///
    /// # Errors
    /// [`DriverError`].
    pub fn namespace(&self, number: u32) -> Result<Namespace, DriverError> {
        let (page, _) = self.ask(&AdminCommand::identify_namespace(number))?;
        Ok(Namespace::decode(&page)?)
    }

    /// Carries an admin command out that reads at most a page or nothing: its data and dword 0 of its completion.
    ///
    /// # Errors
    /// [`DriverError`].
    ///
    /// # Panics
    /// If the command moves more than a page of 4096 bytes.
    pub fn ask(&self, command: &AdminCommand) -> Result<(Vec<u8>, u32), DriverError> {
        let bytes = match command.transfer {
            Transfer::None => 0,
            Transfer::FromDrive(bytes) => bytes as usize,
        };
        assert!(bytes <= PAGE_BYTES, "one page at a time");
        let mut admin = self.lock_admin();
        let data = (admin.page.address(), 0);
        // SAFETY: a page of this program's own; the controller does not write it now.
        unsafe { admin.page.place::<u8>(0).write_bytes(0, PAGE_BYTES) };
        let entry = |id| {
            let entry = Submission::new(command.opcode, id, command.namespace).with_dwords(command.dwords);
            if bytes > 0 { entry.with_data(data) } else { entry }
        };
        let result = self.run_locked(&mut admin, command.name, entry)?;
        Ok((admin.page.copy_out(bytes), result))
    }

    fn lock_admin(&self) -> MutexGuard<'_, Admin> {
        self.admin.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self, name: &'static str, entry: impl FnOnce(u16) -> Submission) -> Result<u32, DriverError> {
        self.run_locked(&mut self.lock_admin(), name, entry)
    }

    fn run_locked(
        &self,
        admin: &mut Admin,
        name: &'static str,
        entry: impl FnOnce(u16) -> Submission,
    ) -> Result<u32, DriverError> {
        if admin.is_silent || self.is_stopped() {
            return Err(DriverError::Stopped);
        }
        let id = admin.next_id;
        admin.next_id = admin.next_id.wrapping_add(1);
        admin.rings.push(entry(id));
        admin.rings.ring();
        let begun = Instant::now();
        let failed = loop {
            if let Some(completion) = admin.rings.next() {
                admin.rings.free();
                if completion.id != id {
                    break DriverError::UnknownCompletion { id: completion.id, queue: 0 };
                }
                if completion.status.errno() != 0 {
                    return Err(DriverError::Refused { command: name, status: completion.status });
                }
                return Ok(completion.result);
            }
            if let Err(error) = self.health() {
                break error;
            }
            if begun.elapsed() > self.patience.admin {
                break DriverError::NoAnswer { command: name, waited_ms: begun.elapsed().as_millis() as u64 };
            }
            std::thread::sleep(PAUSE);
        };
        admin.is_silent = true;
        Err(failed)
    }

    /// Whether the controller works, as its registers and the operating system say.
    ///
    /// # Errors
    /// [`DriverError::Gone`], [`DriverError::Fatal`], [`DriverError::WantedBack`] or [`DriverError::Stopped`].
    pub(crate) fn health(&self) -> Result<(), DriverError> {
        if self.is_stopped() {
            return Err(DriverError::Stopped);
        }
        let status = self.bar.status();
        if status.is_gone() {
            return Err(DriverError::Gone);
        }
        if status.is_fatal() {
            return Err(DriverError::Fatal { status });
        }
        if self.device.is_wanted_back() {
            return Err(DriverError::WantedBack);
        }
        Ok(())
    }

    fn until_ready(&self, is_ready: bool) -> Result<(), DriverError> {
        until_ready(self.bar, self.capabilities, is_ready)
    }

    /// Makes a pair of I/O queues for `in_flight` commands at most.
    ///
    /// # Errors
    /// [`DriverError`].
    pub(crate) fn make_rings(&self, in_flight: u32) -> Result<(u16, Rings), DriverError> {
        // A ring with all places taken looks like an empty one.
        let (entries, max) = (in_flight.max(1) + 1, self.capabilities.queue_entries_max());
        if entries > max {
            return Err(DriverError::QueueTooShort { wanted: in_flight, max: max - 1 });
        }
        let number = self.lock_unused().pop().ok_or(DriverError::NoQueue { granted: self.granted })?;
        let made = self.make_numbered(number, entries);
        if made.is_err() {
            self.lock_unused().push(number);
        }
        made.map(|rings| (number, rings))
    }

    fn make_numbered(&self, number: u16, entries: u32) -> Result<Rings, DriverError> {
        let stride = self.capabilities.doorbell_stride_bytes();
        let bell = |which| Doorbell::new(self.bar, stride, number, which, self.shadow.as_ref());
        if let Some(shadow) = &self.shadow {
            shadow.forget(number, stride);
        }
        let rings = Rings::new(&self.device, entries, bell(Which::Tail), bell(Which::Head))?;
        let (submissions, completions) = rings.addresses();
        let made = self
            .run("Create I/O Completion Queue", |id| {
                Submission::create_completion_queue(id, number, entries, completions)
            })
            .and_then(|_| {
                let made = self.run("Create I/O Submission Queue", |id| {
                    Submission::create_submission_queue(id, number, entries, submissions)
                });
                if made.is_err() {
                    self.delete(DELETE_COMPLETION_QUEUE, number)?;
                }
                made
            });
        match made {
            Ok(_) => Ok(rings),
            Err(error @ DriverError::Refused { .. }) => Err(error),
            Err(error) => {
                // It may have the queue all the same, and write into it.
                self.stop();
                if !self.is_stopped() {
                    std::mem::forget(rings);
                }
                Err(error)
            }
        }
    }

    fn delete(&self, opcode: u8, number: u16) -> Result<(), DriverError> {
        let name = if opcode == DELETE_SUBMISSION_QUEUE {
            "Delete I/O Submission Queue"
        } else {
            "Delete I/O Completion Queue"
        };
        self.run(name, |id| Submission::delete_queue(opcode, id, number)).map(|_| ())
    }

    /// Takes a pair of queues away from the controller. False: it may still use their memory.
    pub(crate) fn delete_rings(&self, number: u16) -> bool {
        if self.is_stopped() {
            return true;
        }
        let deleted =
            self.delete(DELETE_SUBMISSION_QUEUE, number).and_then(|()| self.delete(DELETE_COMPLETION_QUEUE, number));
        match deleted {
            Ok(()) => {
                self.lock_unused().push(number);
                true
            }
            Err(_) => {
                self.stop();
                self.is_stopped()
            }
        }
    }

    fn lock_unused(&self) -> MutexGuard<'_, Vec<u16>> {
        self.unused.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks for a command to be given up (Abort). It completes, aborted or not, or nothing helps.
    ///
    /// # Errors
    /// [`DriverError`].
    pub(crate) fn abort(&self, queue: u16, command: u16) -> Result<(), DriverError> {
        self.run("Abort", |id| Submission::abort(id, queue, command)).map(|_| ())
    }

    /// Switches the controller off, so that nothing of it reaches memory any more; all queues end. What does not stop
    /// by itself loses its access to memory.
    pub(crate) fn stop(&self) {
        if self.is_stopped() {
            return;
        }
        let off = disable(self.bar, self.capabilities).is_ok() || self.device.cut_off().is_ok();
        self.is_stopped.store(off, Ordering::Release);
    }

    /// Whether the controller is off.
    pub(crate) fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Acquire)
    }

    /// The function that it drives.
    pub(crate) fn device(&self) -> &Arc<dyn PciFunction> {
        &self.device
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        if self.is_stopped() {
            return;
        }
        // Base 2.0, section 3.6.1 "Memory-based Controller Shutdown". The queues were deleted with their pairs.
        if self.health().is_ok() {
            let all_sets = self.capabilities.has_command_sets() && !self.capabilities.has_nvm_commands();
            self.bar.write(CC, configuration(true, all_sets, true));
            let patience = Duration::from_millis(self.capabilities.timeout_ms());
            let begun = Instant::now();
            while !self.bar.status().is_shut_down() && begun.elapsed() < patience {
                std::thread::sleep(PAUSE);
            }
        }
        self.stop();
    }
}

impl ShadowDoorbells {
    /// A new queue begins at 0, whatever the one of the same number before it left.
    fn forget(&self, number: u16, stride_bytes: usize) {
        for which in [Which::Tail, Which::Head] {
            let at = (2 * usize::from(number) + which as usize) * stride_bytes / 4;
            // SAFETY: within the pages; the queue is not there yet, so nobody else looks at them.
            unsafe {
                self.doorbells.place::<u32>(at).write_volatile(0);
                self.events.place::<u32>(at).write_volatile(0);
            }
        }
    }
}

/// Doorbell Buffer Config is implemented (Base, Identify Controller, OACS bit 8).
fn offers_doorbell_buffers(page: &[u8]) -> bool {
    page.get(257).is_some_and(|upper| upper & 1 == 1)
}

/// SGLs are supported in commands of the NVM command set (Base, Identify Controller, SGLS bits 1:0).
fn offers_sgls(page: &[u8]) -> bool {
    page.get(536).is_some_and(|lowest| lowest & 0b11 != 0)
}

/// Switches a controller off, whatever it was doing, and waits until it is.
fn disable(bar: Bar, capabilities: Capabilities) -> Result<(), DriverError> {
    if bar.status().is_gone() {
        // What is not there reaches no memory.
        return Ok(());
    }
    // Base, CC.EN: not before the last change took effect.
    if bar.read(CC) & 1 == 1 && !bar.status().is_ready() && !bar.status().is_fatal() {
        let _ = until_ready(bar, capabilities, true);
    }
    bar.write(CC, bar.read(CC) & !1);
    until_ready(bar, capabilities, false)
}

fn until_ready(bar: Bar, capabilities: Capabilities, is_ready: bool) -> Result<(), DriverError> {
    let patience = Duration::from_millis(capabilities.timeout_ms());
    let begun = Instant::now();
    loop {
        let status: ControllerStatus = bar.status();
        if status.is_gone() {
            return if is_ready { Err(DriverError::Gone) } else { Ok(()) };
        }
        if status.is_ready() == is_ready {
            return Ok(());
        }
        if is_ready && status.is_fatal() {
            return Err(DriverError::Fatal { status });
        }
        if begun.elapsed() > patience {
            return Err(DriverError::NotReady { waited_ms: begun.elapsed().as_millis() as u64, status });
        }
        std::thread::sleep(PAUSE);
    }
}
