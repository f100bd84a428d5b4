//! The operational laws, checked on every run. They hold for any system whatever its distributions (Denning and Buzen
//! 1978), so a run that breaks one is a fault of the simulator.

use crate::world::{NS, Stage, World};

/// Largest relative error that is not called a violation.
pub const LAW_ERROR_MAX: f64 = 1e-9;

/// How far each law was off, relative; 0 when it holds exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LawErrors {
    /// Little's law over all threads, N = X R, with the ends of the window.
    pub little_threads: f64,
    /// Little's law inside the drives; the largest error of any.
    pub little_drives: f64,
    /// Utilisation law, U = X D, of CPUs, links, controllers, data paths; the largest error of any.
    pub utilisation: f64,
    /// Forced flow: commands at the drives against those the I/Os must cause.
    pub forced_flow: f64,
}

impl LawErrors {
    /// The largest of them.
    #[must_use]
    pub fn largest(&self) -> f64 {
        self.little_threads.max(self.little_drives).max(self.utilisation).max(self.forced_flow)
    }
}

fn relative(a: u128, b: u128) -> f64 {
    if a == b { 0.0 } else { a.abs_diff(b) as f64 / a.max(b) as f64 }
}

/// What the threads saw over the window, for the record and for Little's law.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct InFlight {
    /// Integral of I/Os in flight, ns.
    pub(crate) area_ns: u128,
    /// Summed ages at the beginning and the end.
    pub(crate) ages_ns: [u64; 2],
}

impl World {
    /// Brings the threads' integrals to the end of the window and sums the ages.
    pub(crate) fn in_flight(&mut self, end_ns: u64) -> InFlight {
        let start_ns = self.meter.start_ns;
        let mut ages_ns = [self.meter.age_before_ns + self.late_age_before_ns, self.late_age_ns];
        for io in self.ios.iter().filter(|io| io.in_flight && io.created_ns < end_ns) {
            ages_ns[0] += start_ns.saturating_sub(io.created_ns);
            ages_ns[1] += end_ns - io.created_ns;
        }
        let mut area_ns = 0;
        for thread in &mut self.threads {
            thread.advance(end_ns);
            area_ns += thread.area_ns;
        }
        InFlight { area_ns, ages_ns }
    }

    /// Checks the laws at the end of a run.
    pub(crate) fn laws(&self, in_flight: &InFlight) -> LawErrors {
        let mut errors = LawErrors::default();
        let latencies: u128 = self.meter.residence_ns + u128::from(self.meter.age_before_ns);
        let by_latency = latencies + u128::from(in_flight.ages_ns[1]) - u128::from(in_flight.ages_ns[0]);
        errors.little_threads = relative(in_flight.area_ns, by_latency);
        self.drive_laws(&mut errors);
        for (busy, work) in self.cpus.iter().map(crate::cpu::Cpu::utilisation_law) {
            errors.utilisation = errors.utilisation.max(relative(busy.into(), work.into()));
        }
        let pipes = self.uplinks.iter().flat_map(|l| [l.down.utilisation_law(), l.up.utilisation_law()]);
        for (busy, work) in pipes {
            errors.utilisation = errors.utilisation.max(relative(busy.into(), work.into()));
        }
        errors
    }

    fn drive_laws(&self, errors: &mut LawErrors) {
        let now = self.drives.iter().map(|d| d.count.last_ps()).max().unwrap_or(0);
        let mut inside = vec![0_u128; self.drives.len()];
        for io in self.ios.iter().filter(|io| io.in_drive) {
            inside[io.drive as usize] += u128::from(now - io.arrived_ps);
        }
        let mut arrived = 0;
        for (drive, inside_ps) in self.drives.iter().zip(inside) {
            let count = drive.count.at(now);
            errors.little_drives = errors.little_drives.max(relative(count.area_ps, count.residence_ps + inside_ps));
            arrived += u128::from(count.arrived);
            for (busy, work) in drive.parts().into_iter().flat_map(|part| part.laws) {
                errors.utilisation = errors.utilisation.max(relative(busy.into(), work.into()));
            }
        }
        let on_the_way = self.ios.iter().filter(|io| io.stage == Stage::AtDrive).count() as u128
            + self.plans.values().map(|due| due.commands() as u128).sum::<u128>();
        errors.forced_flow = relative(arrived + on_the_way, self.counters.commands_planned.into());
    }

    /// Busy shares of everything that serves, over the whole run up to `end_ns`.
    pub(crate) fn utilisation(&self, end_ns: u64) -> Vec<Utilisation> {
        let elapsed = (end_ns * NS).max(1) as f64;
        let mut out = Vec::new();
        let mut add = |part: String, servers: u64, work_ps: u64| {
            let share = work_ps as f64 / servers.max(1) as f64 / elapsed;
            out.push(Utilisation { part, servers, busy_share: share.min(1.0) });
        };
        for (index, cpu) in self.cpus.iter().enumerate() {
            add(format!("cpu {index}"), 1, cpu.utilisation_law().1);
        }
        for link in &self.uplinks {
            add(format!("{} down", link.name), 1, link.down.work_ps());
            add(format!("{} up", link.name), 1, link.up.work_ps());
        }
        for drive in &self.drives {
            for part in drive.parts() {
                add(format!("{} {}", drive.name, part.name), part.servers, part.work_ps);
            }
        }
        for array in &self.arrays {
            for part in array.parts() {
                add(format!("{} {}", array.spec.name, part.name), part.servers, part.work_ps);
            }
        }
        out
    }
}

/// How busy a part of the machine was: the truth that an attribution can be tested against.
#[derive(Clone, Debug, PartialEq)]
pub struct Utilisation {
    /// Part: `cpu 3`, `nvme0 link up`, `nvme0 dies`, `slot1 up`...
    pub part: String,
    /// Equal servers it consists of.
    pub servers: u64,
    /// Mean busy share of them, in [0, 1].
    pub busy_share: f64,
}
