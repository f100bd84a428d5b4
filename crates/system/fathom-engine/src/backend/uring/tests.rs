//! I/O that really is in flight for as long as a test likes: the kernel's copy into a buffer waits for a page that
//! userfaultfd(2) holds back.

use std::fs::File;
use std::os::fd::{AsRawFd as _, FromRawFd as _};
use std::time::{Duration, Instant};

use fathom_plan::EngineName;
use fathom_record::FeatureState;

use super::*;
use crate::backend::libaio::Libaio;
use crate::pages::page_bytes;

const SLOTS: u32 = 4;

/// linux/userfaultfd.h.
const UFFD_API: u64 = 0xaa;
const UFFDIO_API: libc::Ioctl = 0xc018_aa3f_u32 as libc::Ioctl;
const UFFDIO_REGISTER: libc::Ioctl = 0xc020_aa00_u32 as libc::Ioctl;
const UFFDIO_ZEROPAGE: libc::Ioctl = 0xc020_aa04_u32 as libc::Ioctl;
const REGISTER_MODE_MISSING: u64 = 1;

/// Pages that appear only when the test lets them.
struct HeldPages {
    fd: OwnedFd,
    first: u64,
    len: u64,
}

impl HeldPages {
    /// `None` where the kernel does not allow it.
    fn of(area: &Area, slots: u32) -> Option<HeldPages> {
        // SAFETY: takes flags and gives a descriptor.
        let fd = unsafe { libc::syscall(libc::SYS_userfaultfd, libc::O_CLOEXEC | libc::O_NONBLOCK) };
        if fd < 0 {
            return None;
        }
        // SAFETY: the descriptor was just opened, and nobody else has it.
        let fd = unsafe { OwnedFd::from_raw_fd(fd as i32) };
        let (first, len) = (area.slot(0) as u64, u64::from(slots) * page_bytes() as u64);
        let mut api = [UFFD_API, 0, 0];
        let mut register = [first, len, REGISTER_MODE_MISSING, 0];
        // SAFETY: structures of three and four integers, which outlive the calls; the range is the area's.
        let done = unsafe {
            libc::ioctl(fd.as_raw_fd(), UFFDIO_API, api.as_mut_ptr()) == 0
                && libc::ioctl(fd.as_raw_fd(), UFFDIO_REGISTER, register.as_mut_ptr()) == 0
        };
        done.then_some(HeldPages { fd, first, len })
    }

    /// Whether somebody waits for a page within `patience`.
    fn is_awaited(&self, patience: Duration) -> bool {
        let mut poll = libc::pollfd { fd: self.fd.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one entry that outlives the call.
        unsafe { libc::poll(&raw mut poll, 1, patience.as_millis() as i32) == 1 }
    }

    /// Lets all pages appear, zeroed.
    fn release(&self) {
        let mut zero = [self.first, self.len, 0, 0];
        // SAFETY: a structure of four integers that outlives the call; the range is registered with the descriptor.
        unsafe { libc::ioctl(self.fd.as_raw_fd(), UFFDIO_ZEROPAGE, zero.as_mut_ptr()) };
    }
}

/// A file full of 0xAB on a real file system.
fn file_of(bytes: usize) -> (tempfile::TempDir, File) {
    let program = std::env::current_exe().expect("the test itself");
    let dir = tempfile::tempdir_in(program.parent().expect("a folder")).expect("a temporary directory");
    let path = dir.path().join("data");
    std::fs::write(&path, vec![0xAB; bytes]).expect("room");
    (dir, File::open(path).expect("the file"))
}

fn spec() -> EngineSpec {
    EngineSpec { name: EngineName::IoUring, fixed_buffers: false, fixed_files: false, ..EngineSpec::default() }
}

fn read_all_slots<B: Backend>(rig: &mut Rig<B>) {
    for slot in 0..SLOTS {
        let (len, buffer) = (page_bytes() as u32, rig.area.slot(slot));
        rig.backend.push(&Io { slot, part: 0, op: Op::Read, len, offset: u64::from(slot * len), buffer });
    }
    rig.backend.submit().expect("submitted");
}

/// A rig whose reads through the page cache wait in a worker of the kernel for the pages of their buffers.
fn stuck_rig() -> Option<(Rig<Uring>, HeldPages, tempfile::TempDir)> {
    let page = page_bytes();
    let (dir, file) = file_of(SLOTS as usize * page);
    let area = Area::new(SLOTS as usize, page).expect("memory");
    let pages = HeldPages::of(&area, SLOTS)?;
    let mut rig = Rig::new(area, |_| Uring::bare(vec![OwnedFd::from(file)], SLOTS, spec())).ok()?;
    rig.backend.ring.files[0].flags |= squeue::Flags::ASYNC.bits();
    read_all_slots(&mut rig);
    assert!(pages.is_awaited(Duration::from_secs(10)), "no copy waits for a page");
    assert_eq!(rig.backend.in_flight(), SLOTS);
    Some((rig, pages, dir))
}

/// Whether the whole range lies in mappings of this process.
fn is_mapped(first: u64, len: u64) -> bool {
    let maps = std::fs::read_to_string("/proc/self/maps").expect("the kernel tells");
    let mut at = first;
    for line in maps.lines() {
        let Some((begin, end)) = line.split_ascii_whitespace().next().and_then(|range| range.split_once('-')) else {
            continue;
        };
        let bounds = [begin, end].map(|bound| u64::from_str_radix(bound, 16).unwrap_or(0));
        if (bounds[0]..bounds[1]).contains(&at) {
            at = bounds[1];
        }
    }
    at >= first + len
}

#[test]
fn copies_that_end_after_the_rig_land_in_its_own_memory() {
    let Some((rig, pages, _dir)) = stuck_rig() else { return };
    let at = rig.area.slot(0);
    drop(rig);
    assert!(is_mapped(pages.first, pages.len), "a copy in flight has nowhere to go");
    pages.release();
    let begun = Instant::now();
    loop {
        // SAFETY: the memory was leaked; a copy by the kernel that is under way only ever turns zeros into 0xAB.
        let all = (0..pages.len as usize).all(|i| unsafe { at.add(i).read_volatile() } == 0xAB);
        if all {
            break;
        }
        assert!(begun.elapsed() < Duration::from_secs(10), "the copies never came");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn the_end_of_a_rig_waits_for_copies_in_flight() {
    let Some((rig, pages, _dir)) = stuck_rig() else { return };
    let begun = Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(60));
            pages.release();
        });
        drop(rig);
        assert!(begun.elapsed() >= Duration::from_millis(60), "{:?}", begun.elapsed());
    });
}

fn counts_what_the_kernel_has<B: Backend>(mut rig: Rig<B>) {
    assert_eq!(rig.backend.in_flight(), 0);
    read_all_slots(&mut rig);
    let mut done = 0;
    while done < SLOTS {
        assert_eq!(rig.backend.in_flight(), SLOTS - done);
        rig.backend.submit_and_wait(1, None).expect("waited");
        rig.backend.reap(|_, moved| {
            assert_eq!(moved as usize, page_bytes());
            done += 1;
        });
    }
    assert_eq!(rig.backend.in_flight(), 0);
    // Pushed, never submitted: never in flight.
    let buffer = rig.area.slot(0);
    rig.backend.push(&Io { slot: 0, part: 0, op: Op::Read, len: 512, offset: 0, buffer });
    assert_eq!(rig.backend.in_flight(), 0);
    rig.backend.discard();
    rig.backend.submit().expect("nothing to submit");
    assert_eq!(rig.backend.in_flight(), 0);
}

#[test]
fn engines_know_what_the_kernel_has() {
    let page = page_bytes();
    let area = || Area::new(SLOTS as usize, page).expect("memory");
    for mode in [Mode::Interrupt, Mode::Sqpoll] {
        let (_dir, file) = file_of(SLOTS as usize * page);
        let spec = EngineSpec { mode, ..spec() };
        let Ok(rig) = Rig::new(area(), |_| Uring::bare(vec![OwnedFd::from(file)], SLOTS, spec)) else { return };
        counts_what_the_kernel_has(rig);
    }
    let (_dir, file) = file_of(SLOTS as usize * page);
    let Ok(rig) = Rig::new(area(), |_| Libaio::new(vec![OwnedFd::from(file)], SLOTS)) else { return };
    counts_what_the_kernel_has(rig);
}

#[test]
fn atomic_writes_come_from_buffers_that_are_not_registered() {
    let page = page_bytes();
    let area = Area::new(SLOTS as usize, page).expect("memory");
    let (_dir, file) = file_of(SLOTS as usize * page);
    let spec = EngineSpec { fixed_buffers: true, ..spec() };
    let Ok(mut rig) = Rig::new(area, |area| Uring::new(vec![OwnedFd::from(file)], SLOTS, spec, area)) else { return };
    let staged = |rig: &mut Rig<Uring>| {
        let io = Io { slot: 1, part: 0, op: Op::Write, len: page as u32, offset: 0, buffer: rig.area.slot(1) };
        rig.backend.stage(&io);
        rig.backend.batch_len = 0;
        rig.backend.batch[0].opcode
    };
    let row = |rig: &Rig<Uring>| {
        let rows = rig.backend.ring.features.iter().filter(|f| f.name == FeatureName::FixedBuffers);
        rows.map(|f| f.state).collect::<Vec<_>>()
    };
    if row(&rig) != [FeatureState::Used] {
        return; // More memory than this process may lock.
    }
    assert_eq!(staged(&mut rig), opcode::WriteFixed::CODE);
    rig.backend.write_atomically();
    assert_eq!((staged(&mut rig), row(&rig)), (opcode::Write::CODE, vec![FeatureState::Unavailable]));
}
