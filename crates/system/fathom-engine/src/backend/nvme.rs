//! Queues of a drive that the thread polls itself: no system call and no interrupt per I/O.

use std::io;
use std::ptr::NonNull;
use std::time::Duration;

use fathom_message::{Quantity, Say as _, msg};
use fathom_nvme::Status;
use fathom_nvme::driver::{DrivenNamespace, DriverError, LARGE_PAGE_BYTES, QueuePair};
use fathom_plan::{Op, SyncKind, WriteThrough};
use fathom_record::{FeatureName, FeatureUse, Polling, StepFailure};

use super::{Backend, Io, NVME_STATUS, SubmitStamp, no_detail, refused};
use crate::buffer::Area;
use crate::target::{Target, target_message};
use crate::worker::Part;

/// What the IOMMU looks up where buffers lie on no large page.
const PAGE_BYTES: usize = 4096;

/// A pair of queues for each of the thread's targets.
pub(crate) struct Nvme {
    pairs: Box<[QueuePair]>,
    /// `[part]`
    places: Box<[Place]>,
    /// Writes complete when they are on the medium.
    is_durable: bool,
    submits: u64,
    /// Where its buffers are.
    memory: FeatureUse,
    /// Found while completions were taken; said at the next call that can fail.
    failed: Option<DriverError>,
}

/// How commands address a namespace.
#[derive(Clone, Copy)]
struct Place {
    namespace: u32,
    block_shift: u32,
    trims: bool,
}

fn place_of(namespace: &DrivenNamespace) -> Place {
    let trims = namespace.driver().described().has_trim;
    Place { namespace: namespace.number(), block_shift: namespace.block_shift(), trims }
}

/// The namespace of a target that a drive in user space is.
fn driven(target: &Target) -> &DrivenNamespace {
    target.driven().unwrap_or_else(|| unreachable!("no other target goes with this engine"))
}

/// Queues for `slots` I/Os on the buffers of `area`.
fn pair(target: &Target, slots: u32, area: &Area) -> Result<QueuePair, StepFailure> {
    let failed = |error: &DriverError| refused(target_message(&target.id), error.message(), help_of(error));
    let base = NonNull::new(area.slot(0)).unwrap_or_else(|| unreachable!("a mapping is not at 0"));
    // SAFETY: the area is a mapping of whole pages, and `Rig` drops it after its engine, or never where something is in
    // flight; the hot loop touches no slot whose I/O is in flight.
    unsafe { QueuePair::new(driven(target).driver(), slots, base, area.slot_bytes(), area.len_bytes()) }
        .map_err(|e| failed(&e))
}

/// Where the drive finds the buffers, and what it costs where no large page was free.
fn memory_of(area: &Area) -> FeatureUse {
    let pages = area.drive_pages().map(|pages| (pages.bytes() / pages.page_bytes(), pages.page_bytes(), pages.node()));
    let how = match pages {
        Some((count, LARGE_PAGE_BYTES, Some(node))) => msg!("engine-large-pages-on-node", pages = count, node = node),
        Some((count, LARGE_PAGE_BYTES, None)) => msg!("engine-large-pages", pages = count),
        small => {
            let count = small.map_or(area.len_bytes() / PAGE_BYTES, |(count, ..)| count);
            msg!("engine-small-pages", bytes = Quantity::bytes(area.len_bytes() as u64), pages = count)
        }
    };
    FeatureUse::used(FeatureName::DriveMemory, how)
}

/// What to do about an error of a drive.
pub(crate) fn help_of(error: &DriverError) -> fathom_message::Message {
    error.help().unwrap_or_else(no_detail)
}

impl Nvme {
    /// Queues for `depth` I/Os on each target of `parts` with the buffers of `area`.
    ///
    /// # Errors
    /// A refusal: the drive has no queues left or too short ones, or a block is more than a command moves.
    pub(crate) fn new(
        parts: &[Part],
        depth: u32,
        write_through: WriteThrough,
        area: &Area,
    ) -> Result<Self, StepFailure> {
        let pairs = parts.iter().map(|part| pair(&part.target, depth, area)).collect::<Result<_, _>>()?;
        let places = parts.iter().map(|part| place_of(driven(&part.target))).collect();
        let (is_durable, memory) = (write_through != WriteThrough::None, memory_of(area));
        Ok(Nvme { pairs, places, is_durable, submits: 0, memory, failed: None })
    }

    fn checked(&mut self) -> io::Result<()> {
        self.failed.take().map_or(Ok(()), |error| Err(io::Error::other(error)))
    }
}

impl Backend for Nvme {
    const SUBMIT_STAMP: SubmitStamp = SubmitStamp::Sampled;

    #[inline(always)]
    fn push(&mut self, io: &Io) {
        let Place { namespace, block_shift, .. } = self.places[usize::from(io.part)];
        let pair = &mut self.pairs[usize::from(io.part)];
        let first_block = io.offset >> block_shift;
        if io.op == Op::Read {
            pair.read(io.slot, namespace, first_block, io.len, block_shift);
        } else {
            pair.write(io.slot, namespace, first_block, io.len, block_shift, self.is_durable);
        }
    }

    #[cold]
    fn push_sync(&mut self, slot: u32, part: u16, _kind: SyncKind) {
        self.pairs[usize::from(part)].flush(slot, self.places[usize::from(part)].namespace);
    }

    fn takes_trims(&self, part: u16) -> bool {
        self.places[usize::from(part)].trims
    }

    fn push_trim(&mut self, io: &Io) {
        let Place { namespace, block_shift, .. } = self.places[usize::from(io.part)];
        let first_block = io.offset >> block_shift;
        self.pairs[usize::from(io.part)].deallocate(io.slot, namespace, first_block, io.len, block_shift);
    }

    #[inline(always)]
    fn submit(&mut self) -> io::Result<()> {
        self.submits += 1;
        self.pairs.iter_mut().for_each(QueuePair::submit);
        self.checked()
    }

    #[inline(always)]
    fn submit_and_wait(&mut self, min: u32, timeout_ns: Option<u64>) -> io::Result<()> {
        self.submit()?;
        let timeout = timeout_ns.map(Duration::from_nanos);
        match &mut *self.pairs {
            [pair] => pair.wait(min, timeout),
            _ if min == 0 && timeout.is_none() => Ok(()),
            pairs => QueuePair::wait_for_any(pairs, timeout),
        }
        .map_err(io::Error::other)
    }

    #[inline(always)]
    fn reap(&mut self, mut done: impl FnMut(u32, i32)) {
        for pair in &mut self.pairs {
            let reaped = pair.reap(
                #[inline(always)]
                |slot, result| {
                    done(
                        slot,
                        match result {
                            Ok(len) => len as i32,
                            Err(status) => failure_of(status),
                        },
                    );
                },
            );
            if let Err(error) = reaped {
                self.failed = Some(error);
            }
        }
    }

    fn in_flight(&self) -> u32 {
        self.pairs.iter().map(QueuePair::in_flight).sum()
    }

    fn discard(&mut self) {
        self.pairs.iter_mut().for_each(QueuePair::discard);
    }

    fn poll(&mut self) -> io::Result<()> {
        self.checked()
    }

    fn submit_calls(&self) -> u64 {
        self.submits
    }

    /// A thread looks at all its drives at once.
    fn polling(&self) -> Option<Polling> {
        let first = self.pairs.first()?.poll_counts();
        Some(Polling { waited_ns: first.waited.as_nanos() as u64, lasted_ns: first.lasted.as_nanos() as u64 })
    }

    fn features(&self) -> Vec<FeatureUse> {
        let counts = self.pairs.iter().map(QueuePair::poll_counts);
        let (empty, found) = counts.fold((0, 0), |(empty, found), one| (empty + one.empty, found + one.found));
        let mut features =
            vec![FeatureUse::used(FeatureName::UserSpace, msg!("engine-user-space", empty = empty, found = found))];
        features.push(self.memory.clone());
        if self.pairs.iter().all(QueuePair::has_shadow_doorbells) {
            features.push(FeatureUse::used(FeatureName::ShadowDoorbells, no_detail()));
        }
        features
    }
}

#[cold]
fn failure_of(status: Status) -> i32 {
    -(NVME_STATUS | i32::from(status.field()))
}

/// Reads a drive in user space back, one command at a time, by queues of its own.
pub(crate) struct Reader {
    // Before the buffer that it reads into.
    pair: QueuePair,
    area: Area,
    place: Place,
}

impl Reader {
    /// Most bytes per command: every known drive takes so many.
    const COMMAND_BYTES_MAX: usize = 64 << 10;

    /// # Errors
    /// As [`Nvme::new`].
    pub(crate) fn new(target: &Target) -> Result<Reader, StepFailure> {
        let most = driven(target).driver().transfer_bytes_max().min(Self::COMMAND_BYTES_MAX as u64) as usize;
        let area = Area::for_drive(1, most, driven(target)).map_err(|source| {
            StepFailure::failed(target_message(&target.id), &source, msg!("engine-no-buffers-help"))
        })?;
        Ok(Reader { pair: pair(target, 1, &area)?, area, place: place_of(driven(target)) })
    }

    /// Bytes read into the front of `buffer`: whole blocks of the drive.
    ///
    /// # Errors
    /// What went wrong with the drive, or the errno that stands for its answer.
    pub(crate) fn read_at(&mut self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let Place { namespace, block_shift, .. } = self.place;
        let len = buffer.len().min(self.area.slot_bytes());
        self.pair.read(0, namespace, offset >> block_shift, len as u32, block_shift);
        self.pair.submit();
        let mut answer = None;
        while answer.is_none() {
            self.pair.wait(1, None).map_err(io::Error::other)?;
            self.pair.reap(|_, result| answer = Some(result)).map_err(io::Error::other)?;
        }
        match answer {
            Some(Ok(moved)) => {
                let moved = (moved as usize).min(len);
                buffer[..moved].copy_from_slice(self.area.bytes_mut(0, moved));
                Ok(moved)
            }
            Some(Err(status)) => Err(io::Error::from_raw_os_error(status.errno())),
            None => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }
}
