//! Buffered steps that begin with an empty page cache.
#![allow(unsafe_code)] // mincore(2) has no safe form here.

use std::fs::File;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use crate::support::{BLOCK, Bench, run};
use fathom_plan::EngineName;

const BLOCKS: u64 = 512;

/// Pages of the file in memory.
fn cached_pages(path: &Path) -> usize {
    let file = File::open(path).expect("the file");
    let bytes = (BLOCKS * BLOCK) as usize;
    let mut pages = vec![0_u8; bytes / 4096];
    // SAFETY: maps the file for reading and asks which of its pages are in memory; `pages` has a byte for each.
    unsafe {
        let at = libc::mmap(std::ptr::null_mut(), bytes, libc::PROT_READ, libc::MAP_SHARED, file.as_raw_fd(), 0);
        assert_ne!(at, libc::MAP_FAILED);
        assert_eq!(libc::mincore(at, bytes, pages.as_mut_ptr()), 0);
        libc::munmap(at, bytes);
    }
    pages.iter().filter(|page| **page & 1 == 1).count()
}

#[test]
fn a_step_begins_cold_when_asked_and_warm_otherwise() {
    let bench = Bench::new(BLOCKS * BLOCK);
    let file = File::open(&bench.path).expect("the file");
    let mut block = vec![0; BLOCK as usize];
    (0..BLOCKS).for_each(|at| file.read_exact_at(&mut block, at * BLOCK).expect("readable"));
    assert!(cached_pages(&bench.path) > 400, "read, and so in memory");
    let mut step = bench.step(EngineName::Psync);
    step.workload.direct = false;
    // The last block alone: what else is in memory afterwards was there before.
    step.workload.region.offset_bytes = (BLOCKS - 1) * BLOCK;
    step.length.passes = Some(1);
    run(&step).expect("a record");
    assert!(cached_pages(&bench.path) > 400, "nobody asked");
    step.workload.drop_cache = true;
    let record = run(&step).expect("a record");
    assert_eq!(record.errors(), 0);
    assert!(cached_pages(&bench.path) < 100, "{} pages stayed", cached_pages(&bench.path));
}
