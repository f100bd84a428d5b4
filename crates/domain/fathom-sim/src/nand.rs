//! Flash at work: dies, write buffer and the programs that writes and cleaning cause.

use fathom_random::Rng;

use crate::exponential::exponential;
use crate::ftl::PageMap;
use crate::machine::{Nand, Service};

/// Factors in 1/65536.
pub(crate) const ONE_Q16: u64 = 1 << 16;

/// Draws a service time, stretched by `slow_q16`.
#[inline(always)]
pub(crate) fn draw(service: Service, slow_q16: u64, rng: &mut Rng) -> u64 {
    let mean = (service.mean_ps * slow_q16) >> 16;
    if service.exponential {
        exponential(rng, mean)
    } else if service.spread_pct == 0 {
        mean
    } else {
        let half = mean * u64::from(service.spread_pct) / 100;
        mean - half + rng.below(2 * half + 1)
    }
}

/// One die: reads go before programs that have not begun.
#[derive(Clone, Debug, Default)]
struct Die {
    read_free_ps: u64,
    /// When the programs that are planned without a gap between them begin.
    run_begin_ps: u64,
    program_free_ps: u64,
    programmed_bytes: u64,
    work_ps: u64,
}

/// All dies of a drive, with buffer and cleaning.
#[derive(Clone, Debug)]
pub(crate) struct NandState {
    spec: Nand,
    dies: Vec<Die>,
    next_die: u32,
    slow_die: Option<(u32, u64)>,
    /// Bytes in the unit that is being filled.
    filling_bytes: u64,
    /// Finish of unit u - capacity, at u % capacity: the unit whose room unit u takes.
    finish_ps: Vec<u64>,
    unit: u64,
    /// Programs per unit of host data, 1/65536.
    amplification_q16: u64,
    programs_due_q16: u64,
    pages: Option<PageMap>,
    pub(crate) host_units: u64,
    pub(crate) programs: u64,
    /// Host bytes that the filling of a purged drive has taken account of.
    pub(crate) written_before: u64,
}

impl NandState {
    pub(crate) fn new(spec: &Nand, amplification: f64, pages: Option<PageMap>) -> Self {
        let units = (spec.buffer_bytes / u64::from(spec.program_bytes)).max(1);
        NandState {
            dies: vec![Die::default(); spec.dies as usize],
            next_die: 0,
            slow_die: None,
            filling_bytes: 0,
            finish_ps: vec![0; units as usize],
            unit: 0,
            amplification_q16: q16(amplification),
            programs_due_q16: 0,
            pages,
            host_units: 0,
            programs: 0,
            written_before: 0,
            spec: spec.clone(),
        }
    }

    pub(crate) fn spec(&self) -> &Nand {
        &self.spec
    }

    pub(crate) fn set_amplification(&mut self, amplification: f64) {
        self.amplification_q16 = q16(amplification);
    }

    pub(crate) fn set_slow_die(&mut self, die: Option<(u32, u64)>) {
        self.slow_die = die;
    }

    /// Busy time of all dies.
    pub(crate) fn work_ps(&self) -> u64 {
        self.dies.iter().map(|d| d.work_ps).sum()
    }

    /// Reads the pages of an I/O that arrives at the dies at `now_ps`; returns when the last is in its register.
    #[inline]
    pub(crate) fn read(&mut self, now_ps: u64, offset_bytes: u64, pages: u32, slow_q16: u64, rng: &mut Rng) -> u64 {
        let first = offset_bytes / u64::from(self.spec.page_bytes);
        let dies = u64::from(self.spec.dies);
        let mut die = first % dies;
        let mut done = now_ps;
        for _ in 0..pages {
            done = done.max(self.read_die(die as u32, now_ps, slow_q16, rng));
            die = if die + 1 == dies { 0 } else { die + 1 };
        }
        done
    }

    /// Reads a page of a random die: a mapping entry.
    pub(crate) fn read_map(&mut self, now_ps: u64, slow_q16: u64, rng: &mut Rng) -> u64 {
        let die = rng.below(u64::from(self.spec.dies)) as u32;
        self.read_die(die, now_ps, slow_q16, rng)
    }

    #[inline]
    fn read_die(&mut self, index: u32, now_ps: u64, slow_q16: u64, rng: &mut Rng) -> u64 {
        let service = self.slowed(index, draw(self.spec.read, slow_q16, rng));
        let program = self.spec.program.mean_ps.max(1);
        let die = &mut self.dies[index as usize];
        let mut start = now_ps.max(die.read_free_ps);
        if die.program_free_ps > start && start >= die.run_begin_ps {
            // A program runs. The first read of several waits for it to be suspended or to end; the rest follow.
            if now_ps > die.read_free_ps {
                let left = (die.program_free_ps - start) % program;
                start += self.spec.suspend_ps.map_or(left, |suspend| left.min(suspend));
            }
            die.program_free_ps += service;
        }
        die.read_free_ps = start + service;
        die.work_ps += service;
        die.read_free_ps
    }

    #[inline]
    fn slowed(&self, die: u32, service_ps: u64) -> u64 {
        match self.slow_die {
            Some((slow, factor)) if slow == die => service_ps * factor,
            _ => service_ps,
        }
    }

    /// Takes the data of a write that arrives at the buffer at `now_ps`; returns when there is room for them.
    pub(crate) fn write(&mut self, now_ps: u64, block: u64, bytes: u64, slow_q16: u64, rng: &mut Rng) -> u64 {
        let unit_bytes = u64::from(self.spec.program_bytes);
        let mut admitted = now_ps.max(self.finish_ps[self.slot()]);
        if let Some(map) = &mut self.pages {
            // Cleaning is counted page by page; the dies see whole programs.
            let moved = map.write(block, bytes);
            self.programs_due_q16 += moved * ONE_Q16 * map.page_bytes() / unit_bytes;
        }
        self.filling_bytes += bytes;
        while self.filling_bytes >= unit_bytes {
            self.filling_bytes -= unit_bytes;
            self.program_unit(admitted, slow_q16, rng);
            if self.filling_bytes > 0 {
                admitted = admitted.max(self.finish_ps[self.slot()]);
            }
        }
        admitted
    }

    fn slot(&self) -> usize {
        (self.unit % self.finish_ps.len() as u64) as usize
    }

    /// Programs one unit of host data and as much of cleaning as belongs to it.
    fn program_unit(&mut self, now_ps: u64, slow_q16: u64, rng: &mut Rng) {
        let mut finish = self.program_next(now_ps, false, slow_q16, rng);
        self.host_units += 1;
        if self.pages.is_none() {
            self.programs_due_q16 += self.amplification_q16 - ONE_Q16;
        }
        while self.programs_due_q16 >= ONE_Q16 {
            self.programs_due_q16 -= ONE_Q16;
            finish = finish.max(self.program_next(now_ps, true, slow_q16, rng));
        }
        // Room is made when the cleaning that belongs to it is done too: else its backlog would grow without bound.
        let slot = self.slot();
        self.finish_ps[slot] = finish;
        self.unit += 1;
    }

    /// Programs the next die in turn; a unit of cleaning is read first, and each block is erased once.
    fn program_next(&mut self, now_ps: u64, moved: bool, slow_q16: u64, rng: &mut Rng) -> u64 {
        let index = self.next_die;
        self.next_die = if index + 1 == self.spec.dies { 0 } else { index + 1 };
        let mut service = draw(self.spec.program, slow_q16, rng);
        if moved {
            service += draw(self.spec.read, slow_q16, rng);
        }
        let service = self.slowed(index, service);
        let die = &mut self.dies[index as usize];
        let mut service = service;
        die.programmed_bytes += u64::from(self.spec.program_bytes);
        if die.programmed_bytes >= self.spec.block_bytes {
            die.programmed_bytes -= self.spec.block_bytes;
            service += self.spec.erase_ps;
        }
        let start = now_ps.max(die.program_free_ps).max(die.read_free_ps);
        if start > die.program_free_ps {
            die.run_begin_ps = start;
        }
        die.program_free_ps = start + service;
        die.work_ps += service;
        self.programs += 1;
        die.program_free_ps
    }

    /// Blocks the first `count` dies until `until_ps`: cleaning that nobody asked for.
    pub(crate) fn block_dies(&mut self, count: u32, until_ps: u64) {
        for die in self.dies.iter_mut().take(count as usize) {
            die.work_ps += until_ps.saturating_sub(die.read_free_ps);
            die.read_free_ps = die.read_free_ps.max(until_ps);
        }
    }
}

fn q16(amplification: f64) -> u64 {
    (amplification.clamp(1.0, 1000.0) * ONE_Q16 as f64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Ftl;

    const US: u64 = 1_000_000;

    fn spec() -> Nand {
        Nand {
            dies: 4,
            channels: 0,
            channel_bytes_per_s: 0,
            page_bytes: 4096,
            read: Service::fixed(50 * US),
            program: Service::fixed(1000 * US),
            program_bytes: 16_384,
            erase_ps: 0,
            block_bytes: 1 << 22,
            buffer_bytes: 8 * 16_384,
            ack_ps: 5 * US,
            spare_pct: 10.0,
            suspend_ps: None,
            map_miss_permille: 0,
            read_ahead_ps: 0,
            ftl: Ftl::MeanField,
        }
    }

    #[test]
    fn reads_of_one_die_queue_and_of_several_do_not() {
        let (mut nand, mut rng) = (NandState::new(&spec(), 1.0, None), Rng::new(1, 1));
        assert_eq!(nand.read(0, 0, 1, ONE_Q16, &mut rng), 50 * US);
        assert_eq!(nand.read(0, 4 * 4096, 1, ONE_Q16, &mut rng), 100 * US);
        assert_eq!(nand.read(0, 4096, 1, ONE_Q16, &mut rng), 50 * US);
        assert_eq!(nand.read(100 * US, 0, 4, ONE_Q16, &mut rng), 150 * US);
    }

    #[test]
    fn a_read_waits_for_the_program_in_progress_or_its_suspension() {
        for (suspend_ps, expected) in [(None, 1050 * US), (Some(20 * US), 320 * US)] {
            let mut nand = NandState::new(&Nand { suspend_ps, ..spec() }, 1.0, None);
            let mut rng = Rng::new(1, 1);
            for _ in 0..4 {
                nand.write(0, 0, 4096, ONE_Q16, &mut rng);
            }
            assert_eq!(nand.read(250 * US, 0, 1, ONE_Q16, &mut rng), expected);
        }
    }

    #[test]
    fn a_full_buffer_makes_writes_wait_for_programs() {
        let spec = Nand { buffer_bytes: 64 * 16_384, ..spec() };
        let (mut nand, mut rng) = (NandState::new(&spec, 2.0, None), Rng::new(1, 1));
        let mut last = 0;
        for i in 0..40_000_u64 {
            last = nand.write(last, i, 4096, ONE_Q16, &mut rng);
        }
        // 4 dies x 16 KiB / ms over an amplification of 2, less the reads that cleaning does.
        let rate = 40_000.0 * 4096.0 / (last as f64 / 1e12);
        let expected = 4.0 * 16_384.0 / 1e-3 / (2.0 + 0.05);
        assert!((rate / expected - 1.0).abs() < 0.02, "{rate} {expected}");
    }
}
