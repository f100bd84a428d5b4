# NVMe drives (fathom-nvme).

nvme-short-page = { $page } has { $found ->
    [one] 1 byte
   *[other] { $found } bytes
}, { $needed } are needed
nvme-open-failed = cannot open { $path }: { $source }
nvme-not-a-device = { $path } is not an NVMe device
nvme-not-a-device-help = name a controller (/dev/nvme0) or a namespace (/dev/nvme0n1, /dev/ng0n1)
nvme-command-failed = { $command } on { $path }: { $source }
nvme-command-refused = { $command } on { $path }: { $status }
nvme-needs-root = NVMe admin commands need root
nvme-no-such-device = no such device; `fathom inspect` lists the drives
nvme-gone = the drive is gone or its driver gave it up; see the kernel log
nvme-no-answer = the drive did not answer in time; see the kernel log
nvme-see-kernel-log = see the kernel log

nvme-status = { $meaning } (NVMe status type { $type }h code { $code }h)
nvme-status-success = successful
nvme-status-invalid-opcode = invalid command opcode
nvme-status-invalid-field = invalid field in command
nvme-status-id-conflict = command id conflict
nvme-status-transfer = data transfer error
nvme-status-power-loss = aborted because of a power loss
nvme-status-internal = internal drive error
nvme-status-abort-requested = abort was requested
nvme-status-queue-deleted = aborted because its queue was deleted
nvme-status-invalid-namespace = invalid namespace or format
nvme-status-sequence = command sequence error
nvme-status-denied = operation denied
nvme-status-sanitize-failed = sanitize failed
nvme-status-sanitize-running = a sanitize is in progress
nvme-status-write-protected = namespace is write protected
nvme-status-interrupted = interrupted, can be retried
nvme-status-lba-out-of-range = block number out of range
nvme-status-capacity = capacity exceeded
nvme-status-not-ready = namespace is not ready
nvme-status-reservation = reservation conflict
nvme-status-format-running = a format is in progress
nvme-status-firmware-slot = invalid firmware slot
nvme-status-log-page = invalid log page
nvme-status-invalid-format = invalid format
nvme-status-not-saveable = the feature cannot be saved
nvme-status-not-changeable = the feature cannot be changed
nvme-status-conflicting-attributes = conflicting attributes
nvme-status-invalid-protection = invalid protection information
nvme-status-read-only-range = write to a read-only range
nvme-status-write-fault = write fault
nvme-status-unrecovered-read = unrecovered read error
nvme-status-guard-check = guard check failed
nvme-status-application-tag = application tag check failed
nvme-status-reference-tag = reference tag check failed
nvme-status-compare = compare failed
nvme-status-access-denied = access denied
nvme-status-deallocated = deallocated or unwritten block
nvme-status-path-internal = internal path error
nvme-status-path-lost = path is permanently lost
nvme-status-path-inaccessible = path is inaccessible
nvme-status-path-transition = path is in transition
nvme-status-path-abandoned = the host gave up on the path
nvme-status-host-abort = aborted by the host
nvme-status-other-generic = generic error
nvme-status-other-command = command specific error
nvme-status-other-media = media or data integrity error
nvme-status-other-path = path error
nvme-status-other-vendor = vendor specific error
nvme-status-other-reserved = error of a reserved type

nvme-warning-spare = spare capacity is below its threshold
nvme-warning-temperature = the temperature is beyond a threshold
nvme-warning-degraded = reliability is degraded by media or internal errors
nvme-warning-read-only = the media is read-only
nvme-warning-backup = the backup of volatile memory has failed
nvme-warning-persistent-memory = persistent memory is unreliable

# The driver in user space.
nvme-driver-system = { $call } of { $path }: { $source }
nvme-driver-group = the IOMMU group of { $group } is not free: other devices of it have drivers of the kernel
nvme-driver-group-help = bind the other devices of the group to vfio-pci as well, or put the drive into a slot with a group of its own; `fathom nvme status` lists them
nvme-driver-no-iommu = the kernel has no IOMMU that VFIO can use
nvme-driver-no-iommu-help = switch it on in the firmware (VT-d, AMD-Vi) and with `intel_iommu=on` on the kernel command line, and load vfio_iommu_type1
nvme-driver-no-iommu-no-word = no IOMMU keeps the drive of { $group } to the memory of its program: a fault of either could write to any memory of this machine
nvme-driver-no-iommu-no-word-help = turn the IOMMU on (VT-d, AMD-Vi). Where data and machine may be lost: --no-iommu-i-accept-any-write-to-memory
nvme-driver-no-iommu-mode-off = VFIO's mode without an IOMMU is not switched on in this kernel
nvme-driver-no-iommu-mode-off-help = let Fathom switch it on with the drive: `fathom nvme unbind DRIVE`, then `fathom nvme bind DRIVE --no-iommu-i-accept-any-write-to-memory`
nvme-driver-no-large-pages-on-node = without an IOMMU a drive needs memory in one piece that never moves, and { $pages ->
    [one] no page of 2 MiB is free
   *[other] no { $pages } pages of 2 MiB in a row are free
 } on NUMA node { $node }: { $source }
nvme-driver-no-large-pages = without an IOMMU a drive needs memory in one piece that never moves, and { $pages ->
    [one] no page of 2 MiB is free
   *[other] no { $pages } pages of 2 MiB in a row are free
 }: { $source }
nvme-driver-no-large-pages-help = bind the drive with --hugepages 16 or more: each thread takes about eight; and keep a thread's buffers, queue depth times block size, below 2 MiB
nvme-driver-memory = { $bytes } of memory cannot be given to the drive: { $source }
nvme-driver-memory-help = memory that a drive reaches is locked: raise `ulimit -l`, run as root, or use a smaller block size or queue depth
nvme-driver-not-nvme = its first BAR has { $bytes } bytes and does not hold the registers of an NVMe controller
nvme-driver-no-nvm = the controller does not have the NVM command set
nvme-driver-page-size = the controller wants memory pages of { $bytes } at least; this driver has pages of 4 KiB
nvme-driver-kernel-path = measure it through the kernel: engines io_uring or io_uring_cmd
nvme-driver-not-ready = the controller changed to no other state within { $waited } (CSTS { $status })
nvme-driver-fatal = the controller says that it failed (CSTS { $status })
nvme-driver-gone = the drive no longer answers: every register reads as ones
nvme-driver-wanted-back = the operating system is removing the drive
nvme-driver-gone-help = see the kernel log; put the drive back, and `fathom restore` gives it back to the kernel's driver
nvme-driver-refused = the drive refused { $command }: { $status }
nvme-driver-no-answer = the drive did not answer { $command } within { $waited }; it was switched off
nvme-driver-unknown-completion = the drive completed command { $id } on queue { $queue }, which was not given to it; it was switched off
nvme-driver-stopped = the drive was switched off after an error of another queue
nvme-driver-faulty-help = give the drive back to the kernel's driver (`fathom nvme unbind`) and look at its health (`fathom inspect`)
nvme-driver-no-queue = all { $granted } pairs of queues that the drive grants are in use
nvme-driver-fewer-threads = use fewer threads: each has a pair of queues of its own
nvme-driver-queue-too-short = { $wanted } commands in flight are more than a queue of the drive takes ({ $max })
nvme-driver-fewer-in-flight = use a smaller queue depth, or more threads
nvme-driver-transfer-too-large = a block of { $bytes } is more than one command of the drive moves ({ $max })
nvme-driver-smaller-blocks = use smaller blocks: no layer splits them on this path
nvme-driver-permission = the file of the IOMMU group belongs to root: run as root, or give it to your user (`chown` of /dev/vfio/GROUP)
nvme-driver-bind-first = give the drive to vfio-pci first: `fathom nvme bind`
nvme-driver-busy = another process has the drive: close it first
nvme-driver-no-format = namespace { $namespace } is not there, or has blocks of no size
nvme-driver-metadata = namespace { $namespace } has { $bytes } bytes of metadata with each block, which this driver does not move
