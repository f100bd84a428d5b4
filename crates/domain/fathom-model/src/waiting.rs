//! What I/Os wait for at the parts that threads and drives share, before any of them is full.
//!
//! Each part is a queue of equal servers that take a fixed time per I/O; who comes finds there what the others have left
//! (approximate mean value analysis: Schweitzer 1979; fixed times by the residual life of the one that is being served, Reiser
//! 1979). A part that alone could give much more adds nothing; where two parts could give about the same, the load stays below
//! both.

use crate::ceilings::Ceiling;
use crate::closed::{OpModel, Operating};
use crate::machine::Shape;

/// Rounds of the search; each halves what the rate may be wrong by.
const ROUNDS: u32 = 30;

/// The point of a closed loop: one drive's network, and in front of it what all share. `op`: of one drive, with what the host
/// adds.
pub(crate) fn closed_loop(op: OpModel, ceilings: &[Ceiling], shape: &Shape) -> Operating {
    let drives = f64::from(shape.drives.max(1));
    let per_drive = (shape.in_flight / shape.drives.max(1)).max(1);
    let parts: Vec<Part> = ceilings.iter().filter_map(|c| Part::of(c, shape)).collect();
    if parts.is_empty() {
        let point = op.at(per_drive);
        return Operating { iops: point.iops * drives, ..point };
    }
    // What a load gives falls as the load rises that the waiting is counted for: one rate is both.
    let gives = |per_ns: f64| {
        let wait_ns: f64 = parts.iter().map(|part| part.wait_ns(per_ns)).sum();
        OpModel { fixed_ns: op.fixed_ns + wait_ns, ..op }.at(per_drive)
    };
    let (mut low, mut high) = (0.0, parts.iter().map(Part::most_per_ns).fold(f64::INFINITY, f64::min));
    let mut point = gives(high);
    if point.iops * drives / 1e9 < high {
        for _ in 0..ROUNDS {
            let middle = f64::midpoint(low, high);
            point = gives(middle);
            if point.iops * drives / 1e9 < middle { high = middle } else { low = middle }
        }
    }
    Operating { iops: point.iops * drives, ..point }
}

/// A shared part: so many servers, each of which takes so long for an I/O.
struct Part {
    servers: f64,
    service_ns: f64,
    /// I/Os that come to one server, all together.
    population: f64,
}

impl Part {
    fn of(ceiling: &Ceiling, shape: &Shape) -> Option<Part> {
        let servers = ceiling.servers?;
        let population = f64::from(shape.in_flight.max(1)) / servers.min(f64::from(shape.in_flight.max(1)));
        Some(Part { servers, service_ns: servers * 1e9 / ceiling.iops, population })
    }

    fn most_per_ns(&self) -> f64 {
        self.servers / self.service_ns
    }

    /// Time before it begins with an I/O, of a load of so many I/Os per nanosecond, no more than it can take.
    fn wait_ns(&self, per_ns: f64) -> f64 {
        // W = S (Q - U / 2), Q = X (W + S): solved for W, with the share of both that the others have left there. A full part
        // lets everybody wait for half of the others.
        let others = (self.population - 1.0).max(0.0) / self.population;
        let busy = (per_ns * self.service_ns / self.servers).min(1.0) * others;
        self.service_ns * busy / 2.0 / (1.0 - busy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attribution::LimitName;
    use fathom_message::Message;

    fn shape(drives: u32, in_flight: u32) -> Shape {
        Shape {
            read_share: 1.0,
            block_bytes: 4096.0,
            sequential: false,
            drives,
            threads: drives,
            in_flight,
            siblings_first: false,
            buffered: false,
            rate_iops: None,
        }
    }

    fn part(iops: f64, servers: f64) -> Ceiling {
        let sentence = Message::verbatim(String::new());
        Ceiling { name: LimitName::Core, iops, bytes_per_s: None, part: None, sentence, servers: Some(servers) }
    }

    const DRIVE: OpModel = OpModel { units: 64.0, unit_ns: 80_000.0, stage_ns: 1_000.0, fixed_ns: 10_000.0 };

    #[test]
    fn who_is_alone_waits_for_nobody_and_wide_parts_cost_nothing() {
        let alone = closed_loop(DRIVE, &[part(50e3, 1.0)], &shape(1, 1));
        assert!((alone.iops / DRIVE.at(1).iops - 1.0).abs() < 1e-9);
        let wide = closed_loop(DRIVE, &[part(100e6, 1.0)], &shape(1, 16));
        assert!((wide.iops / DRIVE.at(16).iops - 1.0).abs() < 0.01);
        let own_each = closed_loop(DRIVE, &[part(200e3, 4.0)], &shape(4, 4));
        assert!((own_each.iops / (4.0 * DRIVE.at(1).iops) - 1.0).abs() < 1e-9, "each has its own");
    }

    /// The exact mean value analysis of exponential servers waits longer than fixed times do, and both lie below the bounds.
    #[test]
    fn a_shared_part_costs_less_than_an_exponential_one_and_more_than_none() {
        for (n, iops) in [(4, 60e3), (8, 80e3), (16, 160e3), (32, 300e3)] {
            let got = closed_loop(DRIVE, &[part(iops, 1.0)], &shape(1, n)).iops.min(iops);
            let (mut at_units, mut at_part, mut x) = (0.0, 0.0, 0.0);
            for customers in 1..=n {
                let units_ns = DRIVE.unit_ns * (1.0 + at_units / DRIVE.units);
                let part_ns = 1e9 / iops * (1.0 + at_part);
                x = f64::from(customers) / (DRIVE.fixed_ns + units_ns + part_ns);
                (at_units, at_part) = (x * units_ns, x * part_ns);
            }
            let free = DRIVE.at(n).iops.min(iops);
            assert!(x * 1e9 < got && got <= free * (1.0 + 1e-9), "{n}: {} < {got} < {free}", x * 1e9);
        }
    }

    #[test]
    fn more_in_flight_never_gives_less() {
        let parts = [part(400e3, 2.0), part(300e3, 1.0)];
        let mut last = 0.0;
        for n in 1..=512 {
            let iops = closed_loop(DRIVE, &parts, &shape(1, n)).iops.min(300e3);
            assert!(iops >= last * (1.0 - 1e-6), "{n}: {iops} after {last}");
            last = iops;
        }
    }
}
