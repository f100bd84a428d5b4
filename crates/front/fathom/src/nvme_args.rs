//! The words of `nvme` as typed.

use clap::{Args as ClapArgs, Subcommand};

/// `fathom nvme`.
#[derive(Debug, ClapArgs)]
pub(crate) struct NvmeArgs {
    #[command(subcommand)]
    pub(crate) action: NvmeAction,
}

/// What to do with the drives.
#[derive(Debug, Subcommand)]
pub(crate) enum NvmeAction {
    /// Every NVMe drive: who has it, what uses it, whether it could be bound, and why not
    Status {
        /// Print JSON alone
        #[arg(long)]
        json: bool,
    },
    /// Take a drive that nothing uses from the kernel's driver and bind it to vfio-pci, until it is unbound. Nothing is
    /// written to it
    Bind {
        /// PCI address, serial number, or a block device of it (/dev/nvme0n1)
        #[arg(value_name = "DRIVE")]
        drive: String,
        /// Large pages of 2 MiB that are to be free on the drive's NUMA node; without any, programs use ordinary memory
        #[arg(long, value_name = "N", default_value_t = 0)]
        hugepages: u64,
        /// Where no IOMMU guards memory: accept that a fault of the drive, or of the program that drives it, may write to
        /// any memory of this machine
        #[arg(long)]
        no_iommu_i_accept_any_write_to_memory: bool,
        /// Print JSON alone
        #[arg(long)]
        json: bool,
    },
    /// What a drive that is bound says of itself: Identify, health, features, read past the kernel
    Identify {
        /// PCI address or serial number
        #[arg(value_name = "DRIVE")]
        drive: String,
        /// Write the Identify page as it is, 4096 bytes: of the controller, or of --namespace
        #[arg(long)]
        raw: bool,
        /// Namespace whose page --raw writes
        #[arg(long, value_name = "N", requires = "raw")]
        namespace: Option<u32>,
        /// Of a drive that was bound with this word
        #[arg(long)]
        no_iommu_i_accept_any_write_to_memory: bool,
    },
    /// Give a drive that was bound back to the kernel's driver, and wait until its block devices are there again
    Unbind {
        /// PCI address or serial number
        #[arg(value_name = "DRIVE")]
        drive: String,
        /// Print JSON alone
        #[arg(long)]
        json: bool,
    },
}
