//! A controller in memory, for tests and for the bench: what the driver writes is read and answered by [`FakeDrive::tick`],
//! on the thread that calls it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use super::entries::{
    ABORT, CREATE_COMPLETION_QUEUE, CREATE_SUBMISSION_QUEUE, DATASET_MANAGEMENT, DELETE_COMPLETION_QUEUE,
    DELETE_SUBMISSION_QUEUE, DOORBELL_BUFFER_CONFIG, FLUSH, READ, SET_FEATURES, SGL, Submission, WRITE,
};
use super::memory::PciFunction;
use super::registers::{ACQ, AQA, ASQ, Bar, CAP, CC, CSTS, DOORBELLS, PAGE_BYTES, VS};

/// Bytes of its registers.
const BAR_BYTES: usize = 16 << 10;
/// Bytes of a block.
pub const BLOCK_BYTES: usize = 512;
/// Serial number.
pub const SERIAL: &str = "FAKE0001";

/// How it behaves.
#[derive(Clone, Debug)]
pub struct Behaviour {
    /// Blocks of its namespace.
    pub blocks: u64,
    /// Pairs of queues that it grants.
    pub pairs: u16,
    /// Most entries of a queue.
    pub entries_max: u32,
    /// Has doorbells in memory.
    pub has_shadow_doorbells: bool,
    /// Takes SGLs.
    pub has_sgls: bool,
    /// Never says that it is ready.
    pub never_ready: bool,
    /// Says that it failed once it took so many I/O commands.
    pub fatal_after: Option<u64>,
    /// Answers no I/O command of this block.
    pub silent_block: Option<u64>,
    /// Refuses I/O on this block with an unrecovered read error.
    pub bad_block: Option<u64>,
    /// Names this command in a completion that nobody asked for, once.
    pub unasked_completion: Option<u16>,
    /// Aborts silent commands when it is asked to.
    pub aborts: bool,
    /// Takes and tells interrupt coalescing (feature 08h).
    pub has_coalescing: bool,
    /// Bytes that it answers Identify with, instead of its own.
    pub identify: Option<Vec<u8>>,
    /// Where its blocks are.
    pub data: Data,
}

/// Where the blocks of a drive are.
#[derive(Clone, Debug)]
pub enum Data {
    /// In memory.
    Memory,
    /// In a file, which others may look at and damage; what cannot be read there is a medium error.
    File(Arc<File>),
    /// Nowhere: commands only complete.
    Nowhere,
}

impl Default for Behaviour {
    fn default() -> Self {
        Behaviour {
            blocks: 16 << 10,
            pairs: 8,
            entries_max: 1024,
            has_shadow_doorbells: false,
            has_sgls: false,
            never_ready: false,
            fatal_after: None,
            silent_block: None,
            bad_block: None,
            unasked_completion: None,
            aborts: true,
            has_coalescing: false,
            identify: None,
            data: Data::Memory,
        }
    }
}

/// Pages of registers, aligned as a BAR is.
#[repr(C, align(4096))]
struct Registers([u8; BAR_BYTES]);

/// The drive. Its registers and data live as long as it does.
pub struct FakeDrive {
    registers: NonNull<Registers>,
    bar: Bar,
    behaviour: Behaviour,
    inside: Mutex<Inside>,
    wanted_back: AtomicBool,
    /// Accesses of the controller to memory that was not mapped for it.
    astray: AtomicU64,
}

// SAFETY: the registers are accessed by volatile loads and stores alone, everything else is behind a lock.
unsafe impl Send for FakeDrive {}
// SAFETY: as for `Send`.
unsafe impl Sync for FakeDrive {}

#[derive(Default)]
struct Inside {
    enabled: bool,
    mapped: BTreeMap<u64, u64>,
    queues: BTreeMap<u16, Queue>,
    /// Addresses of completion queues whose submission queue is not there yet.
    completions: BTreeMap<u16, (u64, u32)>,
    shadow: Option<(u64, u64)>,
    data: Vec<u8>,
    taken: u64,
    unasked: Option<u16>,
    silent: Vec<(u16, u16)>,
    is_cut_off: bool,
    flushes: u64,
    /// Value of feature 08h; a reset forgets it.
    coalescing: u32,
}

#[derive(Clone, Copy, Debug)]
struct Queue {
    submissions: u64,
    entries: u32,
    completions: u64,
    completion_entries: u32,
    head: u32,
    tail: u32,
    completed: u32,
    phase: bool,
}

// SAFETY: the registers live as long as the value; the "device" reaches only what is mapped, which `reach` checks.
unsafe impl PciFunction for FakeDrive {
    fn registers(&self) -> (NonNull<u8>, usize) {
        (self.registers.cast(), BAR_BYTES)
    }

    unsafe fn map(&self, at: NonNull<u8>, bytes: usize) -> io::Result<u64> {
        let address = at.as_ptr() as u64;
        self.lock().mapped.insert(address, bytes as u64);
        Ok(address)
    }

    fn unmap(&self, address: u64, _bytes: usize) {
        self.lock().mapped.remove(&address);
    }

    fn is_wanted_back(&self) -> bool {
        self.wanted_back.load(Ordering::Relaxed)
    }

    fn cut_off(&self) -> io::Result<()> {
        self.lock().is_cut_off = true;
        Ok(())
    }
}

impl FakeDrive {
    /// A drive that is switched on.
    #[must_use]
    pub fn new(behaviour: Behaviour) -> Arc<FakeDrive> {
        let registers = NonNull::from(Box::leak(Box::new(Registers([0; BAR_BYTES]))));
        // SAFETY: a box of its own, aligned to a page, that lives until `drop`.
        let bar = unsafe { Bar::new(registers.cast(), BAR_BYTES) };
        let inside = Inside {
            data: match behaviour.data {
                Data::Memory => vec![0; behaviour.blocks as usize * BLOCK_BYTES],
                Data::File(_) | Data::Nowhere => Vec::new(),
            },
            unasked: behaviour.unasked_completion,
            ..Inside::default()
        };
        // Timeout of 1 s, NVM commands, queues in one piece.
        bar.write_wide(CAP, u64::from(behaviour.entries_max - 1) | 1 << 16 | 2 << 24 | 1 << 37);
        bar.write(VS, 0x0001_0400);
        Arc::new(FakeDrive {
            registers,
            bar,
            behaviour,
            inside: Mutex::new(inside),
            wanted_back: AtomicBool::new(false),
            astray: AtomicU64::new(0),
        })
    }

    /// The same with a thread that works for it until the handle goes.
    #[must_use]
    pub fn running(behaviour: Behaviour) -> (Arc<FakeDrive>, Running) {
        let drive = FakeDrive::new(behaviour);
        let running = Running::of(drive.clone());
        (drive, running)
    }

    /// The same with a thread that works for it until nobody else has it.
    #[must_use]
    pub fn by_itself(behaviour: Behaviour) -> Arc<FakeDrive> {
        let drive = FakeDrive::new(behaviour);
        let own = drive.clone();
        std::thread::spawn(move || {
            while Arc::strong_count(&own) > 1 {
                own.work_or_pause();
            }
        });
        drive
    }

    fn work_or_pause(&self) {
        if self.tick() == 0 {
            std::thread::yield_now();
        }
    }

    /// Every register reads as ones from now on, as those of a drive that was pulled.
    pub fn pull(&self) {
        self.lock().is_cut_off = true;
        (0..DOORBELLS).step_by(4).for_each(|at| self.bar.write(at, u32::MAX));
    }

    /// The operating system wants it back.
    pub fn want_back(&self) {
        self.wanted_back.store(true, Ordering::Relaxed);
    }

    /// Accesses to memory that was not mapped for it.
    #[must_use]
    pub fn astray(&self) -> u64 {
        self.astray.load(Ordering::Relaxed)
    }

    /// Flush commands so far.
    #[must_use]
    pub fn flushes(&self) -> u64 {
        self.lock().flushes
    }

    /// Bytes that are mapped for it now.
    #[must_use]
    pub fn mapped_bytes(&self) -> u64 {
        self.lock().mapped.values().sum()
    }

    /// Writes a completion of its own making at the place where the next one of queue `number` is expected: dwords 0 to 3,
    /// whose phase tag is set so that the driver takes it.
    pub fn complete_by_hand(&self, number: u16, mut dwords: [u32; 4]) {
        let mut inside = self.lock();
        let Some(queue) = inside.queues.get(&number).copied() else { return };
        dwords[3] = dwords[3] & !(1 << 16) | u32::from(queue.phase) << 16;
        self.write_completion(&mut inside, number, dwords);
    }

    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The memory at an address of the device's, if it is mapped for it.
    fn reach(&self, inside: &Inside, address: u64, bytes: usize) -> Option<NonNull<u8>> {
        let mapping = inside.mapped.range(..=address).next_back();
        let is_mapped = mapping.is_some_and(|(from, len)| address + bytes as u64 <= from + len);
        if !is_mapped || inside.is_cut_off {
            self.astray.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        NonNull::new(address as *mut u8)
    }

    /// Does everything there is to do now; how many commands it took.
    pub fn tick(&self) -> u64 {
        let mut inside = self.lock();
        if inside.is_cut_off {
            return 0;
        }
        let configuration = self.bar.read(CC);
        let is_enabled = configuration & 1 == 1;
        if is_enabled != inside.enabled {
            inside.enabled = is_enabled;
            inside.queues.clear();
            inside.completions.clear();
            inside.shadow = None;
            if is_enabled && !self.behaviour.never_ready {
                // All doorbells begin at 0.
                (DOORBELLS..BAR_BYTES).step_by(4).for_each(|at| self.bar.write(at, 0));
                let sizes = self.bar.read(AQA);
                let entries = (sizes & 0xfff) + 1;
                let (submissions, completions) = (self.bar.read_wide(ASQ), self.bar.read_wide(ACQ));
                inside.queues.insert(0, Queue::new((submissions, entries), (completions, (sizes >> 16 & 0xfff) + 1)));
            }
            self.bar.write(CSTS, u32::from(is_enabled && !self.behaviour.never_ready));
        }
        if is_enabled && configuration >> 14 & 0b11 != 0 && self.bar.read(CSTS) & 0b1100 == 0 {
            self.bar.write(CSTS, self.bar.read(CSTS) | 0b10 << 2);
        }
        let numbers: Vec<u16> = inside.queues.keys().copied().collect();
        numbers.into_iter().map(|number| self.serve(&mut inside, number)).sum()
    }

    fn serve(&self, inside: &mut Inside, number: u16) -> u64 {
        let shadow = inside.shadow.filter(|_| number > 0);
        let at = 2 * usize::from(number) * 4;
        let tail = match shadow {
            // SAFETY: within the page that the driver gave (`reach`).
            Some((doorbells, _)) => self
                .reach(inside, doorbells + at as u64, 4)
                .map_or(0, |place| unsafe { place.cast::<u32>().read_volatile() }),
            None => self.bar.read(DOORBELLS + at),
        };
        fence(Ordering::Acquire);
        let mut taken = 0;
        while let Some(queue) = inside.queues.get(&number).copied().filter(|queue| queue.head != tail) {
            let place = queue.submissions + u64::from(queue.head) * 64;
            let Some(place) = self.reach(inside, place, 64) else { break };
            // SAFETY: mapped for the device; the driver does not change an entry before it is taken.
            let entry = unsafe { place.cast::<Submission>().read_volatile() };
            if let Some(queue) = inside.queues.get_mut(&number) {
                queue.head = (queue.head + 1) % queue.entries;
            }
            taken += 1;
            self.carry_out(inside, number, &entry);
        }
        if let Some((_, events)) = shadow
            && let Some(place) = self.reach(inside, events + at as u64, 4)
        {
            // SAFETY: as above.
            unsafe { place.cast::<u32>().write_volatile(tail) };
        }
        taken
    }

    fn carry_out(&self, inside: &mut Inside, number: u16, entry: &Submission) {
        let id = (entry.0[0] >> 16) as u16;
        let answer = if number == 0 {
            Some(self.administer(inside, entry))
        } else {
            inside.taken += 1;
            if self.behaviour.fatal_after.is_some_and(|after| inside.taken > after) {
                self.bar.write(CSTS, self.bar.read(CSTS) | 0b10);
                return;
            }
            self.transfer(inside, number, entry)
        };
        if number > 0
            && let Some(unasked) = inside.unasked.take()
        {
            self.complete(inside, number, unasked, (0, 0));
        }
        if let Some(answer) = answer {
            self.complete(inside, number, id, answer);
        }
    }

    /// Result and status of an admin command.
    fn administer(&self, inside: &mut Inside, entry: &Submission) -> (u32, u16) {
        const GET_FEATURES: u8 = 0x0a;
        const COALESCING: u32 = 0x08;
        const INVALID_OPCODE: u16 = 0x01;
        const INVALID_FIELD: u16 = 0x02;
        let data = u64::from(entry.0[6]) | u64::from(entry.0[7]) << 32;
        let second = u64::from(entry.0[8]) | u64::from(entry.0[9]) << 32;
        let queue = entry.0[10] as u16;
        let entries = (entry.0[10] >> 16) + 1;
        match entry.0[0] as u8 {
            0x06 => {
                let page = match (&self.behaviour.identify, entry.0[10] & 0xff) {
                    (Some(page), _) => page.clone(),
                    (None, 1) => self.identify_controller(),
                    (None, 0) => self.identify_namespace(),
                    (None, _) => vec![0; PAGE_BYTES],
                };
                self.put(inside, data, &page);
                (0, 0)
            }
            SET_FEATURES | GET_FEATURES if entry.0[10] & 0xff == COALESCING => {
                if !self.behaviour.has_coalescing {
                    return (0, INVALID_FIELD);
                }
                if entry.0[0] as u8 == SET_FEATURES {
                    inside.coalescing = entry.0[11] & 0xffff;
                }
                (inside.coalescing, 0)
            }
            SET_FEATURES => {
                let below = u32::from(self.behaviour.pairs - 1);
                (below | below << 16, 0)
            }
            CREATE_COMPLETION_QUEUE => {
                inside.completions.insert(queue, (data, entries));
                (0, 0)
            }
            CREATE_SUBMISSION_QUEUE => match inside.completions.get(&queue).copied() {
                Some(completions) => {
                    let at = DOORBELLS + 2 * usize::from(queue) * 4;
                    self.bar.write(at, 0);
                    inside.queues.insert(queue, Queue::new((data, entries), completions));
                    (0, 0)
                }
                None => (0, INVALID_FIELD),
            },
            DELETE_SUBMISSION_QUEUE => {
                inside.queues.remove(&queue);
                (0, 0)
            }
            DELETE_COMPLETION_QUEUE => {
                inside.completions.remove(&queue);
                (0, 0)
            }
            ABORT => {
                const ABORTED: u16 = 0x07;
                let of = (queue, (entry.0[10] >> 16) as u16);
                if self.behaviour.aborts && inside.silent.contains(&of) {
                    inside.silent.retain(|silent| *silent != of);
                    self.complete(inside, of.0, of.1, (0, ABORTED));
                }
                (0, 0)
            }
            DOORBELL_BUFFER_CONFIG if self.behaviour.has_shadow_doorbells => {
                inside.shadow = Some((data, second));
                (0, 0)
            }
            _ => (0, INVALID_OPCODE),
        }
    }

    /// Result and status of an I/O command; `None`: it is never answered.
    fn transfer(&self, inside: &mut Inside, number: u16, entry: &Submission) -> Option<(u32, u16)> {
        const INVALID_NAMESPACE: u16 = 0x0b;
        const OUT_OF_RANGE: u16 = 0x80;
        const UNRECOVERED_READ: u16 = 0x281;
        const INVALID_OPCODE: u16 = 0x01;
        let (opcode, id) = (entry.0[0] as u8, (entry.0[0] >> 16) as u16);
        if entry.0[1] != 1 {
            return Some((0, INVALID_NAMESPACE));
        }
        if opcode == FLUSH {
            inside.flushes += 1;
            return Some((0, 0));
        }
        let first = u64::from(entry.0[10]) | u64::from(entry.0[11]) << 32;
        let blocks = u64::from(entry.0[12] & 0xffff) + 1;
        if opcode == DATASET_MANAGEMENT {
            return Some(self.deallocate(inside, entry));
        }
        if opcode != READ && opcode != WRITE {
            return Some((0, INVALID_OPCODE));
        }
        if first + blocks > self.behaviour.blocks {
            return Some((0, OUT_OF_RANGE));
        }
        let touches = |block: Option<u64>| block.is_some_and(|block| (first..first + blocks).contains(&block));
        if touches(self.behaviour.silent_block) {
            inside.silent.push((number, id));
            return None;
        }
        if touches(self.behaviour.bad_block) {
            return Some((0, UNRECOVERED_READ));
        }
        if let Data::Nowhere = self.behaviour.data {
            return Some((0, 0));
        }
        let at = first as usize * BLOCK_BYTES;
        let is_moved = self.walk(inside, entry, blocks as usize * BLOCK_BYTES, opcode == READ, at);
        Some((0, if is_moved { 0 } else { UNRECOVERED_READ }))
    }

    fn deallocate(&self, inside: &mut Inside, entry: &Submission) -> (u32, u16) {
        let at = u64::from(entry.0[6]) | u64::from(entry.0[7]) << 32;
        let Some(place) = self.reach(inside, at, 16) else { return (0, 0x04) };
        // SAFETY: mapped for the device.
        let range = unsafe { place.cast::<[u8; 16]>().read_volatile() };
        let [_, _, _, _, b0, b1, b2, b3, first @ ..] = range;
        let (blocks, first) = (u32::from_le_bytes([b0, b1, b2, b3]), u64::from_le_bytes(first));
        let (from, bytes) = (first as usize * BLOCK_BYTES, blocks as usize * BLOCK_BYTES);
        if let Data::File(file) = &self.behaviour.data {
            let zeroed = file.write_all_at(&vec![0; bytes], from as u64);
            return (0, if zeroed.is_ok() { 0 } else { 0x06 });
        }
        if let Some(data) = inside.data.get_mut(from..from + bytes) {
            data.fill(0);
        }
        (0, 0)
    }

    /// Moves `bytes` between the data at `at` and what the PRPs of a command name. False: the data cannot be read or written.
    fn walk(&self, inside: &mut Inside, entry: &Submission, bytes: usize, is_read: bool, at: usize) -> bool {
        let first = u64::from(entry.0[6]) | u64::from(entry.0[7]) << 32;
        let second = u64::from(entry.0[8]) | u64::from(entry.0[9]) << 32;
        let by_sgl = entry.0[0] & SGL != 0;
        if by_sgl && (!self.behaviour.has_sgls || second != bytes as u64) {
            return false;
        }
        let in_first = if by_sgl { bytes } else { (PAGE_BYTES - first as usize % PAGE_BYTES).min(bytes) };
        let mut pieces = vec![(first, in_first)];
        let mut left = bytes - in_first;
        if left > 0 && left <= PAGE_BYTES {
            pieces.push((second, left));
        } else {
            let mut index = 0;
            while left > 0 {
                let Some(place) = self.reach(inside, second + index * 8, 8) else { return false };
                // SAFETY: mapped for the device.
                let page = unsafe { place.cast::<u64>().read_volatile() };
                let here = left.min(PAGE_BYTES);
                pieces.push((page, here));
                (left, index) = (left - here, index + 1);
            }
        }
        let mut at = at;
        for (address, bytes) in pieces {
            let Some(place) = self.reach(inside, address, bytes) else { return false };
            // SAFETY: mapped for the device; the driver does not touch a buffer whose command is on its way.
            let there = unsafe { std::slice::from_raw_parts_mut(place.as_ptr(), bytes) };
            let is_moved = match (&self.behaviour.data, is_read) {
                (Data::File(file), true) => file.read_exact_at(there, at as u64).is_ok(),
                (Data::File(file), false) => file.write_all_at(there, at as u64).is_ok(),
                (_, true) => {
                    there.copy_from_slice(&inside.data[at..at + bytes]);
                    true
                }
                (_, false) => {
                    inside.data[at..at + bytes].copy_from_slice(there);
                    true
                }
            };
            if !is_moved {
                return false;
            }
            at += bytes;
        }
        true
    }

    fn put(&self, inside: &Inside, address: u64, bytes: &[u8]) {
        if let Some(place) = self.reach(inside, address, bytes.len()) {
            // SAFETY: mapped for the device.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), place.as_ptr(), bytes.len()) };
        }
    }

    fn complete(&self, inside: &mut Inside, number: u16, id: u16, (result, status): (u32, u16)) {
        let Some(queue) = inside.queues.get(&number).copied() else { return };
        let dword_3 = u32::from(id) | u32::from(queue.phase) << 16 | u32::from(status) << 17;
        self.write_completion(inside, number, [result, 0, queue.head, dword_3]);
    }

    fn write_completion(&self, inside: &mut Inside, number: u16, dwords: [u32; 4]) {
        let Some(queue) = inside.queues.get(&number).copied() else { return };
        let Some(place) = self.reach(inside, queue.completions + u64::from(queue.tail) * 16, 16) else { return };
        let place = place.cast::<u32>();
        // SAFETY: mapped for the device; the dword with the phase tag comes last.
        unsafe {
            (0..3).for_each(|at| place.add(at).write_volatile(dwords[at]));
            fence(Ordering::Release);
            place.add(3).write_volatile(dwords[3]);
        }
        if let Some(queue) = inside.queues.get_mut(&number) {
            queue.completed += 1;
            queue.tail += 1;
            if queue.tail == queue.completion_entries {
                (queue.tail, queue.phase) = (0, !queue.phase);
            }
        }
    }

    fn identify_controller(&self) -> Vec<u8> {
        let mut page = vec![0; PAGE_BYTES];
        page[4..24].fill(b' ');
        page[4..4 + SERIAL.len()].copy_from_slice(SERIAL.as_bytes());
        page[24..64].fill(b' ');
        page[24..36].copy_from_slice(b"Fake in core");
        // 512 KiB per command.
        page[77] = 7;
        page[80..84].copy_from_slice(&0x0001_0400_u32.to_le_bytes());
        page[536] = u8::from(self.behaviour.has_sgls);
        page[257] = u8::from(self.behaviour.has_shadow_doorbells);
        page[516..520].copy_from_slice(&1_u32.to_le_bytes());
        page[520] = 1 << 2;
        page[525] = 1;
        page
    }

    fn identify_namespace(&self) -> Vec<u8> {
        let mut page = vec![0; PAGE_BYTES];
        for at in [0, 8, 16] {
            page[at..at + 8].copy_from_slice(&self.behaviour.blocks.to_le_bytes());
        }
        page[130] = BLOCK_BYTES.trailing_zeros() as u8;
        page
    }
}

impl Queue {
    fn new((submissions, entries): (u64, u32), (completions, completion_entries): (u64, u32)) -> Queue {
        Queue { submissions, entries, completions, completion_entries, head: 0, tail: 0, completed: 0, phase: true }
    }
}

impl Drop for FakeDrive {
    fn drop(&mut self) {
        // SAFETY: the box of `new`, which nobody else frees.
        drop(unsafe { Box::from_raw(self.registers.as_ptr()) });
    }
}

/// The thread that works for a drive.
pub struct Running {
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    /// Lets a thread work for `drive`.
    #[must_use]
    pub fn of(drive: Arc<FakeDrive>) -> Running {
        let ends = Arc::new(AtomicBool::new(false));
        let seen = ends.clone();
        let body = move || {
            while !seen.load(Ordering::Relaxed) {
                drive.work_or_pause();
            }
        };
        Running { ends, thread: Some(std::thread::spawn(body)) }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
