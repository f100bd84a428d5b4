# NVMe drives taken from the kernel's driver and given back to it (fathom-host).

setting-driver = driver of { $address }
setting-driver-of-drive = driver of { $address } (drive { $serial })
setting-hugepages-of-node = hugepages of { $kib } KiB on node { $node }
setting-hugepages = hugepages of { $kib } KiB
setting-hugepages-help = memory is too fragmented or too full for so many; ask for fewer, or reserve them right after boot
setting-vfio-without-iommu = VFIO without an IOMMU
setting-in-use = { $setting } cannot change: { $program } (process { $pid }) has the drive open
setting-in-use-help = stop process { $pid } first
setting-namespaces-gone = { $setting }: the kernel has the drive again, but { $found } of its { $wanted } block devices came back

bind-no-drive = there is no NVMe drive { $text }
bind-no-drive-help = `fathom nvme status` lists the NVMe drives of this machine: name one by its PCI address, serial number or block device
bind-not-nvme = { $address } is no NVMe controller
bind-not-allowed = drive { $name } ({ $address }) would be taken from the kernel, and no --allow-unbind names it
bind-not-allowed-help = if its block devices may be gone meanwhile: --allow-unbind { $name }
bind-mounted-help = choose another drive, or unmount it first
bind-root-drive-help = choose another drive; the kernel never lets go of this one
bind-shared = the namespace { $namespace } of { $address } is also reached through the controller { $controller }: the kernel would go on using its blocks
bind-shared-help = choose a drive that has one controller, or first unbind the other path, { $controller }
bind-other-driver = { $address } is bound to { $driver }, and it was not Fathom that did it
bind-other-driver-help = whoever bound it can give it back: driverctl unset-override, dpdk-devbind.py, or setup.sh of SPDK
bind-no-driver = { $address } has no driver, so that nobody can tell whether it is in use
bind-no-driver-help = let the kernel look at it first: echo { $address } > /sys/bus/pci/drivers_probe
bind-already = { $address } was taken from the kernel already, by `{ $command }`
bind-already-help = it can be used as it is; to give it back: fathom nvme unbind { $address }
bind-already-foreign = { $address } is bound to vfio-pci already, and it was not Fathom that did it
bind-not-bound = { $address } has the driver { $driver }, and it was not Fathom that bound it
bind-group-in-use = { $node }, the group of { $address }, is open in { $program } (process { $pid })
bind-kernel-has-it = the kernel has { $address }: it is not bound, and there is nothing to give back
bind-no-access = { $node }, the group of { $address }, is not for this user: it belongs to { $user } and the group { $group } ({ $mode })
bind-no-access-help = run it as root, or join the group { $group } where that may open it, or as root: chown $USER { $node }
bind-no-iommu = no IOMMU guards memory from { $address }: a fault of the program or the drive could write to any memory of this machine
bind-no-iommu-help = turn it on in the firmware (VT-d, AMD-Vi) and with the kernel option intel_iommu=on or amd_iommu=on; iommu=pt spares other drives its cost. Where data and machine may be lost: --no-iommu-i-accept-any-write-to-memory
bind-no-iommu-not-built = no IOMMU guards memory from { $address }, and this kernel was built without VFIO's mode for that (CONFIG_VFIO_NOIOMMU)
bind-no-iommu-not-built-help = turn the IOMMU on in the firmware (VT-d, AMD-Vi) and with the kernel option intel_iommu=on or amd_iommu=on
bind-group-shared = the IOMMU cannot tell { $address } from others that work for the kernel, in group { $group }: { $others }
bind-group-shared-help = put the drive into another slot, or turn on ACS of the port above it in the firmware
bind-no-vfio = this kernel has no vfio-pci
bind-no-vfio-help = install the package with the extra modules of this kernel, then: modprobe vfio-pci
bind-no-node = { $address } was bound to vfio-pci, and its group { $node } did not appear; the kernel has it again
bind-no-group = { $address } was bound to vfio-pci, and came into no group; the kernel has it again
