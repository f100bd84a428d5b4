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
