//! The files of the shipped catalogue.

macro_rules! file {
    ($name:literal) => {
        ($name, include_str!(concat!("../../../../../catalogue/", $name)))
    };
}

/// Name and text of each file.
pub(super) const FILES: &[(&str, &str)] = &[
    file!("devices/intel-optane.toml"),
    file!("devices/intel-nand.toml"),
    file!("devices/samsung.toml"),
    // Before others whose families have the same number.
    file!("devices/current.toml"),
    file!("devices/micron.toml"),
    file!("devices/unnamed.toml"),
    file!("controllers.toml"),
    file!("cpus.toml"),
    file!("links.toml"),
    file!("engines.toml"),
    file!("results/p4800x-windows-pinning.toml"),
    file!("results/r740xd-oracle.toml"),
    file!("results/storagereview-intel-windows.toml"),
    file!("results/epyc-nvme-tuning.toml"),
    file!("results/perc11-nvme-raid.toml"),
    file!("results/spdk-p4800x-2018.toml"),
    file!("results/anandtech-p4800x-2017.toml"),
    file!("results/spdk-per-core.toml"),
    file!("results/io-uring.toml"),
    file!("results/issue-trackers.toml"),
    file!("results/press.toml"),
];
