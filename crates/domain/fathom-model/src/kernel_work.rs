//! What the kernel's threads do for storage, by their names, and what relieves them.

use fathom_message::{Message, msg};

/// What a kernel thread, or the work queue that it serves, does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KernelWork {
    /// The one thread of an md array with parity.
    MdParity,
    /// The workers of an md array with parity, as many as `group_thread_cnt` says.
    MdParityGroup,
    /// The one thread of another md array.
    Md,
    /// dm-crypt.
    Encryption,
    /// dm-crypt's one thread that hands over the writes.
    EncryptedWrites,
    /// Another target of the device mapper.
    DeviceMapper,
    /// A loop device.
    Loop,
    /// The journal of ext4.
    Journal,
    /// XFS, its log or its buffers.
    Xfs,
    /// btrfs.
    Btrfs,
    /// ZFS.
    Zfs,
    /// Writes that the page cache held.
    Writeback,
    /// Pages taken back for others.
    Reclaim,
    /// NVMe over a network, at either end.
    NvmeFabrics,
    /// The block layer.
    BlockLayer,
    /// io_uring's own workers.
    RingWorkers,
}

/// Beginnings of names. The first that fits counts.
const BEGINNINGS: &[(&str, KernelWork)] = &[
    ("raid5wq", KernelWork::MdParityGroup),
    ("dmcrypt_write", KernelWork::EncryptedWrites),
    ("kcryptd", KernelWork::Encryption),
    ("dm-", KernelWork::DeviceMapper),
    ("kdmflush", KernelWork::DeviceMapper),
    ("kverityd", KernelWork::DeviceMapper),
    ("kcopyd", KernelWork::DeviceMapper),
    ("dio/", KernelWork::BlockLayer),
    ("jbd2/", KernelWork::Journal),
    ("ext4-rsv-conver", KernelWork::Journal),
    ("xfs", KernelWork::Xfs),
    ("btrfs", KernelWork::Btrfs),
    ("z_", KernelWork::Zfs),
    ("txg_", KernelWork::Zfs),
    ("flush-", KernelWork::Writeback),
    ("writeback", KernelWork::Writeback),
    ("kswapd", KernelWork::Reclaim),
    ("nvme", KernelWork::NvmeFabrics),
    ("kblockd", KernelWork::BlockLayer),
    ("blk_", KernelWork::BlockLayer),
    ("iou-wrk-", KernelWork::RingWorkers),
];

impl KernelWork {
    /// What a thread or work queue of this name does for storage; `None` for any other work.
    pub(crate) fn of(name: &str) -> Option<KernelWork> {
        let numbered = |start: &str| {
            let rest = name.strip_prefix(start)?;
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            (digits > 0).then(|| &rest[digits..])
        };
        match numbered("md") {
            Some(role) if ["_raid4", "_raid5", "_raid6"].iter().any(|r| role.starts_with(r)) => {
                return Some(KernelWork::MdParity);
            }
            Some(role)
                if ["_raid", "_resync", "_reclaim", "_recovery", "_cluster"].iter().any(|r| role.starts_with(r)) =>
            {
                return Some(KernelWork::Md);
            }
            _ => {}
        }
        if numbered("loop").is_some_and(str::is_empty) {
            return Some(KernelWork::Loop);
        }
        BEGINNINGS.iter().find(|(start, _)| name.starts_with(start)).map(|(_, work)| *work)
    }

    /// Whether one thread at a time does it, however many take turns.
    pub(crate) fn is_single(self) -> bool {
        use KernelWork as Work;
        matches!(
            self,
            Work::MdParity
                | Work::Md
                | Work::EncryptedWrites
                | Work::Loop
                | Work::Journal
                | Work::Writeback
                | Work::Reclaim
        )
    }

    /// What it does, to follow the name in a sentence.
    pub(crate) fn message(self) -> Message {
        match self {
            KernelWork::MdParity => msg!("kernel-work-md-parity"),
            KernelWork::MdParityGroup => msg!("kernel-work-md-parity-group"),
            KernelWork::Md => msg!("kernel-work-md"),
            KernelWork::Encryption => msg!("kernel-work-encryption"),
            KernelWork::EncryptedWrites => msg!("kernel-work-encrypted-writes"),
            KernelWork::DeviceMapper => msg!("kernel-work-device-mapper"),
            KernelWork::Loop => msg!("kernel-work-loop"),
            KernelWork::Journal => msg!("kernel-work-journal"),
            KernelWork::Xfs => msg!("kernel-work-xfs"),
            KernelWork::Btrfs => msg!("kernel-work-btrfs"),
            KernelWork::Zfs => msg!("kernel-work-zfs"),
            KernelWork::Writeback => msg!("kernel-work-writeback"),
            KernelWork::Reclaim => msg!("kernel-work-reclaim"),
            KernelWork::NvmeFabrics => msg!("kernel-work-nvme-fabrics"),
            KernelWork::BlockLayer => msg!("kernel-work-block-layer"),
            KernelWork::RingWorkers => msg!("kernel-work-ring-workers"),
        }
    }

    /// What would relieve it.
    pub(crate) fn would_help(self) -> Vec<Message> {
        match self {
            KernelWork::MdParity => vec![msg!("help-md-group-threads"), msg!("help-full-stripes")],
            KernelWork::MdParityGroup => vec![msg!("help-md-more-group-threads"), msg!("help-full-stripes")],
            KernelWork::Md => vec![msg!("help-several-devices")],
            KernelWork::Encryption => vec![msg!("help-crypt-no-workqueue"), msg!("help-crypt-same-cpu")],
            KernelWork::EncryptedWrites => vec![msg!("help-crypt-no-write-workqueue")],
            KernelWork::Loop => vec![msg!("help-loop-direct"), msg!("help-several-devices")],
            KernelWork::Journal => vec![msg!("help-journal-device"), msg!("help-fewer-commits")],
            KernelWork::Writeback | KernelWork::Reclaim => vec![msg!("help-direct-io"), msg!("help-several-devices")],
            KernelWork::RingWorkers => vec![msg!("help-direct-io"), msg!("help-several-files")],
            KernelWork::DeviceMapper
            | KernelWork::Xfs
            | KernelWork::Btrfs
            | KernelWork::Zfs
            | KernelWork::NvmeFabrics
            | KernelWork::BlockLayer => vec![msg!("help-several-devices"), msg!("help-larger-blocks")],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_that_work_for_storage_are_told_from_others_by_name() {
        for (name, work) in [
            ("md0_raid5", Some(KernelWork::MdParity)),
            ("md127_raid6", Some(KernelWork::MdParity)),
            ("md1_raid10", Some(KernelWork::Md)),
            ("md127_resync", Some(KernelWork::Md)),
            ("md_raid5", None),
            ("mdadm", None),
            ("md0_other", None),
            ("kcryptd/253:0", Some(KernelWork::Encryption)),
            ("dmcrypt_write/253:0", Some(KernelWork::EncryptedWrites)),
            ("loop0", Some(KernelWork::Loop)),
            ("loopback", None),
            ("jbd2/vda1-8", Some(KernelWork::Journal)),
            ("xfsaild/loop1", Some(KernelWork::Xfs)),
            ("flush-254:0", Some(KernelWork::Writeback)),
            ("nvme_tcp_wq", Some(KernelWork::NvmeFabrics)),
            ("iou-wrk-123", Some(KernelWork::RingWorkers)),
            // A poller is always busy, and interrupts are counted apart.
            ("iou-sqp-123", None),
            ("ksoftirqd/0", None),
            ("rcu_preempt", None),
            ("kworker", None),
        ] {
            assert_eq!(KernelWork::of(name), work, "{name}");
        }
    }
}
