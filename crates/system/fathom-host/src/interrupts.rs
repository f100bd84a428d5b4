//! The text of /proc/interrupts.

/// /proc/interrupts at one moment, as far as it was asked for (proc_interrupts(5)).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InterruptTable {
    /// CPUs of the heading.
    pub cpus: Vec<u32>,
    /// Rows in the kernel's order.
    pub rows: Vec<InterruptRow>,
}

/// An interrupt vector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InterruptRow {
    /// Number of the interrupt.
    pub irq: u32,
    /// Name its driver gave it: `nvme0q3`, `virtio1-req.0`.
    pub name: String,
    /// Driver's device: `nvme0`, `virtio1`.
    pub device: String,
    /// I/O queue: NVMe counts from 1 (0 is the admin queue), virtio from 0; `None` for other purposes.
    pub queue: Option<u32>,
    /// Interrupts since boot, in the order of the CPUs.
    pub counts: Vec<u64>,
}

impl InterruptTable {
    /// Parses rows like ` 36:  0  12  PCI-MSIX-0000:00:02.0   1-edge      virtio1-req.0` whose number and device are
    /// wanted. Rows without a name or with too few counts are left out.
    #[must_use]
    pub fn parse(text: &str, is_wanted: impl Fn(u32, &str) -> bool) -> InterruptTable {
        let mut lines = text.lines();
        let heading = lines.next().unwrap_or("");
        let number = |word: &str| word.strip_prefix("CPU")?.parse().ok();
        let cpus: Vec<u32> = heading.split_ascii_whitespace().filter_map(number).collect();
        let rows = lines.filter_map(|line| row(line, cpus.len(), &is_wanted)).collect();
        InterruptTable { cpus, rows }
    }
}

fn row(line: &str, cpus: usize, is_wanted: impl Fn(u32, &str) -> bool) -> Option<InterruptRow> {
    let (irq, rest) = line.split_once(':')?;
    let irq = irq.trim().parse().ok()?;
    // The name first: a large machine has a thousand rows of hundreds of counts, and few are wanted.
    let (counts, name) = rest.trim_ascii_end().rsplit_once(|c: char| c.is_ascii_whitespace())?;
    let (device, queue) = device_and_queue(name);
    if !is_wanted(irq, &device) {
        return None;
    }
    let counts: Vec<u64> = counts.split_ascii_whitespace().take(cpus).map_while(|w| w.parse().ok()).collect();
    (cpus > 0 && counts.len() == cpus).then(|| InterruptRow { irq, name: name.to_owned(), device, queue, counts })
}

/// Whether a driver's device is an NVMe controller: `nvme0`.
#[must_use]
pub fn is_nvme_controller(device: &str) -> bool {
    device.strip_prefix("nvme").is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
}

/// `nvme0q3` -> nvme0, queue 3; `nvme0q0` is for administration; `virtio1-req.0` -> virtio1, queue 0.
fn device_and_queue(name: &str) -> (String, Option<u32>) {
    if let Some((device, queue)) = name.rsplit_once('q')
        && is_nvme_controller(device)
    {
        return (device.to_owned(), queue.parse().ok().filter(|q| *q > 0));
    }
    if let Some((device, purpose)) = name.split_once('-')
        && device.starts_with("virtio")
    {
        let queue = purpose.strip_prefix("req.").or_else(|| purpose.strip_prefix("request."));
        return (device.to_owned(), queue.and_then(|q| q.parse().ok()));
    }
    (name.to_owned(), None)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "           CPU0       CPU2\n  0:         33          0   IO-APIC   2-edge      timer\n\
         30:          1          0  IR-PCI-MSIX-0000:01:00.0    0-edge      nvme0q0\n\
         31:        100          0  IR-PCI-MSIX-0000:01:00.0    1-edge      nvme0q1\n\
         36:          0          7 PCI-MSIX-0000:00:02.0   1-edge      virtio1-req.0\n\
        NMI:          0          0   Non-maskable interrupts\n";

    #[test]
    fn wanted_rows_are_read_with_their_device_and_queue() {
        let table = InterruptTable::parse(TEXT, |irq, device| irq == 36 || device == "nvme0");
        assert_eq!(table.cpus, [0, 2]);
        let rows: Vec<_> = table.rows.iter().map(|r| (r.irq, &*r.device, r.queue, &r.counts[..])).collect();
        assert_eq!(
            rows,
            [
                (30, "nvme0", None, &[1, 0][..]),
                (31, "nvme0", Some(1), &[100, 0][..]),
                (36, "virtio1", Some(0), &[0, 7][..]),
            ]
        );
    }

    #[test]
    fn garbage_gives_nothing() {
        for text in ["", "CPU0\n", "CPU0 CPU1\n5: 1 nvme0q1\n", "CPU0 CPU1\n 5: 1 x nvme0q1\n 6: 1 2\n:\n7\n"] {
            assert_eq!(InterruptTable::parse(text, |_, _| true).rows, [], "{text}");
        }
        // Without CPUs in the heading there is nothing to count.
        assert!(InterruptTable::parse("x\n7: nvme0q1\n", |_, _| true).rows.is_empty());
    }
}
