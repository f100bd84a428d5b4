# fathom-engine

engine-on-target = engine { $engine } on target { $target }
engine-target = target { $target }
engine-null-alone = the engine `null` does no I/O and goes only with the target `null`
engine-null-alone-help = use `--engine null --target null`, or a real engine on a real target
engine-character-device = it is a character device
engine-character-device-help = name the block device (/dev/nvme0n1), or use `--engine io_uring_cmd` on the character device of an NVMe namespace (/dev/ng0n1)
engine-passthrough-kind = passthrough needs an NVMe namespace
engine-passthrough-kind-help = name a whole namespace by its block device (/dev/nvme0n1) or its character device (/dev/ng0n1), or use `--engine io_uring`
engine-by-block-device = name the block device (/dev/nvme0n1) and use `--engine io_uring`
engine-no-namespace = it is no character device of an NVMe namespace
engine-no-namespace-help = name one (/dev/ng0n1), see `fathom inspect`
engine-as-root = run as root
engine-namespace-contradicts = the drive describes its format in a way that contradicts itself
engine-metadata = its format has { $bytes } bytes of metadata per block
engine-metadata-help = use `--engine io_uring` on the block device, or a format without metadata
engine-not-identified = the namespace was not identified
engine-reading-size = reading the size of { $target }
engine-reading-size-help = look whether the drive still answers: `fathom inspect` and the kernel's log (dmesg)
engine-no-direct-io = its file system does not support O_DIRECT
engine-no-direct-io-help = `--direct 0` measures buffered I/O through the page cache, and the report says so
engine-no-such-target = no such file or device
engine-no-such-target-help = check the path, or give a size to have it laid out
engine-may-not-open = may not be opened: { $error }
engine-may-not-open-help = run as a user who may open it
engine-read-only-file-system = it is on a read-only file system
engine-read-only-file-system-help = choose a writable place, or only read
engine-device-gone = the device is gone or has no medium: { $error }
engine-device-gone-help = check `fathom inspect`
engine-cannot-open = cannot be opened: { $error }
engine-cannot-open-help = check the path and the device
engine-tmpfs = it is on tmpfs, which has no O_DIRECT: its data is memory
engine-tmpfs-help = `--direct 0` measures buffered I/O, or choose a file on a real disk
engine-block-not-a-multiple = block size { $block } is not a multiple of its logical block of { $logical } bytes
engine-block-not-a-multiple-help = use a multiple of { $logical }, or `--direct 0` on a file
engine-region-too-large = the region ends at byte { $end }, the target at { $size }: it is too small
engine-region-too-large-help = choose a smaller size or offset, or have a larger file laid out
engine-region-too-small = its region of { $size } bytes holds no block of { $block } bytes
engine-region-too-small-help = choose a larger size or a smaller block size
engine-not-bound = the run did not bind it to a file or device
engine-not-bound-help = this is a fault of Fathom; please report it with the command

# What a step asks for
engine-depth = queue depth { $depth }
engine-depth-range = it must be 1 to { $max } per thread
engine-depth-range-help = use more threads for more I/Os in flight
engine-threads-on-targets = { $threads ->
    [one] 1 thread
   *[other] { $threads } threads
} on each of { $targets ->
    [one] 1 target
   *[other] { $targets } targets
}
engine-threads-range = a step runs 1 to { $max } threads
engine-threads-range-help = choose another number of threads
engine-no-target = a step without a target
engine-no-target-why = there is nothing to measure
engine-no-target-help = name one with `--target`
engine-no-time = runtime 0
engine-no-time-why = nothing can be measured in no time
engine-no-time-help = give `--runtime`, for example 5s
engine-no-passes = 0 passes
engine-no-passes-why = nothing would be done
engine-one-or-more = use 1 or more
engine-rate = rate { $rate }
engine-rate-not-above-zero = a rate must be above 0
engine-rate-not-above-zero-help = give I/Os per second, for example 20k
engine-no-batch = batch 0
engine-no-batch-why = at least one I/O is submitted at once
engine-mix = the mix
engine-mix-not-whole = the shares of read, write and trim do not add up to 100 %
engine-mix-not-whole-help = correct the shares
engine-split = the block sizes
engine-split-not-whole = their shares do not add up to 100 %
engine-split-not-whole-help = correct the split
engine-block-size = block size { $bytes }
engine-block-size-range = it must be 1 byte to { $max }
engine-block-size-range-help = choose another block size
engine-pattern = the pattern
engine-pattern-help = choose another parameter
engine-zipf-theta = zipf has no exponent { $theta }
engine-mode-of-engine = mode { $mode } of engine { $engine }
engine-mode-of-ring-only = only io_uring and io_uring_cmd have modes other than interrupt
engine-mode-of-ring-only-help = use `--engine io_uring --mode { $mode }`
engine-iopoll-buffered = mode iopoll with buffered I/O
engine-iopoll-buffered-why = the kernel polls only O_DIRECT I/O
engine-use-direct = use `--direct 1`
engine-threads-on-target = { $threads ->
    [one] 1 thread
   *[other] { $threads } threads
} on target { $target }
engine-too-few-blocks = its region has only { $blocks ->
    [one] 1 block
   *[other] { $blocks } blocks
}, and each thread needs one of its own
engine-too-few-blocks-help = use fewer threads, a larger size or a smaller block size
engine-placement = placement { $placement }
engine-placement-unresolved = no CPUs were resolved for it on this host
engine-placement-unresolved-help = name the CPUs with `--cpus`, or run unpinned
engine-not-atomic = it has no atomic writes, or the kernel (before 6.11) does not tell
engine-atomic-size = it writes { $min } to { $max } atomically, in powers of two, and not { $block }
engine-no-uncached = the kernel (before 6.14) or its file system has no I/O that leaves nothing in the page cache (RWF_DONTCACHE)
engine-no-uncached-help = leave out `uncached`, or measure with direct=1
engine-array-uncached = an array in user space has no page cache of its own
engine-array-uncached-help = leave out `uncached`
engine-atomic-help = choose another block size or a drive with atomic writes (queue/atomic_write_unit_max_bytes), or leave out `atomic`
engine-priority = I/O priority { $priority }
engine-priority-forbidden-help = the class rt needs root or CAP_SYS_NICE; be and idle do not
engine-priority-help = choose a class, a level and a hint that the kernel has
engine-no-priority = taking back the I/O priority of the thread
engine-memory = memory of the threads by { $policy }
engine-no-node = this machine has no memory on NUMA node { $node }; nodes with memory: { $nodes }
engine-memory-help = name nodes that this machine has, or leave out `numa_mem_policy`
engine-depth-found = { $depth } in flight is the deepest queue found at which { $share } of the I/Os take at most { $lat }; the figures include the search
engine-depth-missed = not even one I/O at a time keeps { $share } of them within { $lat }
engine-depth-unfinished = the load ended before the deepest queue for { $share } of the I/Os within { $lat } was found; { $depth } in flight kept to it
engine-placement-on-cpus = placement on CPUs { $cpus }
engine-placement-on-cpus-help = name CPUs that exist, are online and are allowed to this process (see `fathom inspect`)
engine-verify = verify=crc32c
engine-verify-blocks = to describe itself a block must be a multiple of { $multiple } bytes, and there may be at most { $sizes } sizes
engine-verify-blocks-help = choose other block sizes
engine-verify-order = blocks are told apart by their place, so that each I/O must be one block
engine-verify-order-help = use one block size, and strides, zones and a size that are multiples of it
engine-verify-trims = what was trimmed, or never written at all, cannot be read back
engine-verify-trims-help = leave out trims, and use a real engine

# Remarks
engine-note-one-in-flight = engine { $engine } has one I/O in flight per thread; queue depth { $depth } counts as 1
engine-note-trims = trims are issued one at a time by their own system call, also with engine { $engine }
engine-note-no-ramp = a step that ends by passes has no ramp: every I/O of the passes is counted
engine-note-mmap-direct = engine mmap goes through the page cache unless the file is on DAX; O_DIRECT has no meaning for it
engine-note-verified-data = verified blocks describe themselves: 16 bytes per sector neither repeat nor compress
engine-left-behind = { $threads ->
    [one] 1 thread
   *[other] { $threads } threads
} still waited for I/O when the step ended; that I/O is not counted
engine-gave-up = stopped early: for a second every I/O failed
engine-drive-answered = the drive answered: { $status }, first at byte { $offset }
engine-warming-up = warming up
engine-reading-back = reading back what was written

# Engines
engine-call-failed = { $call }: { $error }
engine-at-depth = engine { $engine } with queue depth { $depth }
engine-aio-setup-help = raise /proc/sys/fs/aio-max-nr, or use fewer threads or a smaller queue depth
engine-iocp-help = see `Get-Volume` for what the target is on, and try a lower depth
engine-named = engine { $engine }
engine-not-on-windows = Windows has no such engine
engine-not-on-windows-help = use engine=iocp (overlapped I/O with completion ports), psync or null
engine-not-on-linux = Linux has no completion ports
engine-not-on-linux-help = use engine=io_uring, libaio or psync
engine-mmap-failed = mmap of { $bytes } bytes: { $error }
engine-mmap-failed-help = use a smaller size, or `--engine psync`
engine-ring = engine { $engine }, mode { $mode }, queue depth { $depth }
engine-io-uring-disabled = io_uring is disabled: /proc/sys/kernel/io_uring_disabled is { $value }
engine-io-uring-disabled-help = ask the administrator for `sysctl kernel.io_uring_disabled=0`, or use `--engine libaio`
engine-io-uring-forbidden = the kernel refuses io_uring_setup: { $error } (a container's seccomp filter does that)
engine-io-uring-forbidden-help = allow io_uring in the container, or use `--engine libaio`
engine-no-io-uring = this kernel has no io_uring (see also /proc/sys/kernel/io_uring_disabled)
engine-use-libaio = use `--engine libaio`
engine-ring-memory = no memory for the ring: { $error }
engine-ring-memory-help = raise the limit of locked memory (`ulimit -l`), or use fewer threads or a smaller queue depth
engine-ring-failed-help = use `--engine libaio`, or another mode
engine-mode-on-target = engine { $engine }, mode { $mode }, on target { $target }
engine-no-poll-queues = the device has no poll queues
engine-no-poll-queues-help = load the driver with some (for NVMe: `nvme.poll_queues=4` on the kernel command line), or use `--mode interrupt`
engine-no-passthrough = this kernel has no passthrough by io_uring (it came with 5.19)
engine-no-passthrough-help = use `--engine io_uring` on the block device
engine-passthrough-no-polling = this kernel cannot poll for passthrough commands (it can from 6.1 on)
engine-passthrough-no-polling-help = use `--mode interrupt`, or a newer kernel
engine-passthrough-forbidden = the kernel lets this user pass no commands to the drive
engine-passthrough-too-large = the kernel refuses a command of { $bytes } bytes: passthrough splits nothing
engine-passthrough-too-large-help = use a smaller block size (the drive's limit is queue/max_hw_sectors_kb of its block device)
engine-atomic-no-buffers = the kernel takes no atomic writes from registered buffers
engine-passthrough-no-buffers = this kernel takes no registered buffers for passthrough

# Features
engine-kernel-refuses = this kernel refuses it
engine-not-with-sqpoll = not possible with sqpoll
engine-sqpoll-cpu = polling thread on CPU { $cpu }
engine-buffers-registered = { $pieces ->
    [one] one piece
   *[other] { $pieces } pieces
} of contiguous memory
engine-buffers-refused = { $error }; `ulimit -l` bounds registered memory
engine-by-worker = the target cannot be submitted to without blocking ({ $probes ->
    [one] tried at 1 place
   *[other] tried at { $probes } places
}): a kernel thread (iou-wrk) does the I/O
engine-by-worker-as-batch = the target cannot be submitted to without blocking ({ $probes ->
    [one] tried at 1 place
   *[other] tried at { $probes } places
}): a kernel thread (iou-wrk) does the I/O; this thread runs as SCHED_BATCH
engine-user-reap = completions read from the mapped ring
engine-no-user-reap = no mapped ring; io_getevents
engine-msync = a write is done when msync(MS_SYNC) returns
engine-paranoid = every I/O stamped separately, submit and wait separate
engine-on-threads = on threads { $threads }: { $reason }

# Threads that fail
engine-thread = thread { $thread } on { $target }: { $doing }
engine-thread-panicked = it panicked
engine-thread-lost = it ended without a result
engine-fault-help = this is a fault of Fathom; please report it with the plan and the messages above
engine-failed = the engine failed
engine-failed-help = try another engine or mode, and look at the kernel's log (dmesg)
engine-not-ready = it did not get ready within { $time }
engine-hung = it showed no sign of life for { $time } after the end of the window
engine-drive-silent-help = look whether the drive still answers: `fathom inspect` and the kernel's log (dmesg)
engine-stream-beside = a stream that was to run with it cannot be run, or failed
engine-stream-beside-help = look at the other streams of the set for the reason
engine-rank-beside = another rank that was to run it cannot, or failed
engine-rank-beside-help = look at the other ranks for the reason
engine-no-thread = it could not be started
engine-no-thread-help = raise the limit of processes (`ulimit -u`), or use fewer threads
engine-no-buffers = no memory for { $count ->
    [one] an I/O buffer
   *[other] { $count } I/O buffers
} of { $bytes } bytes
engine-no-buffers-help = use fewer threads, a smaller queue depth or a smaller block size
engine-memory-left = needs { $need } of memory, and { $left } are left { $bound }
engine-memory-of-host = on this host
engine-memory-of-group = in its control group
engine-memory-of-address-space = of its address space (ulimit -v)
engine-no-memory-help = free some memory, or raise the limit of the control group or of `ulimit -v`

# What was read back
engine-block-torn = byte { $at }: torn, sectors of different writes
engine-block-misplaced = byte { $at }: misplaced, holds the block of byte { $found }
engine-block-stale = byte { $at }: stale, holds write { $found } of that place
engine-block-corrupt = byte { $at }: corrupt, its CRC-32C is wrong
engine-block-foreign = byte { $at }: foreign, no block of this kind
engine-block-unreadable = byte { $at }: cannot be read back

# The loop measured against itself
engine-nop-bench = the bench of NOPs
engine-nop-bench-range = the queue depth must be 1 to { $max }, the batch at least 1
engine-nop-bench-range-help = choose others
engine-no-bare-loop = only psync, libaio and io_uring have a bare loop
engine-no-bare-loop-help = use one of these
engine-cache-kept = the page cache of { $target } could not be emptied before the step ({ $error }): it may begin warm

engine-by-fio = a job that fio runs
engine-by-fio-why = none of Fathom's own engines does
engine-by-fio-help = this is a fault of Fathom; please report it with the plan
engine-files-alone = engine files makes, looks at and removes whole files in a folder that is made for it, and nothing else does
engine-files-alone-help = use rw=filecreate, filestat or filedelete on a folder
engine-making-files = making files in { $target }
engine-making-files-help = look for what the folder's file system says in dmesg, and whether the user may write to it
engine-trace = writing the trace { $path }
engine-trace-help = name a file in write_iolog that does not exist yet, in a folder with room that may be written to
engine-trace-name = a trace parts its words by white space, and this name holds some
engine-trace-name-help = give the target a name without white space (a link will do), or leave out write_iolog
engine-replay = replaying { $path }
engine-replay-changed = the trace is not the one that was planned
engine-replay-help = plan the job again with the trace as it is now

# Arrays in user space

engine-array-same = its members { $a } and { $b } are the same file or drive
engine-array-member-kind = its member { $member } is neither a file nor a block device
engine-array-member-kind-help = name files and block devices; of an NVMe drive /dev/nvme0n1, not /dev/ng0n1
engine-array-lost = too many of its members are missing or failed before in this run: { $count }
engine-array-lost-help = start again with members that work
engine-array-unequal = members of { $array } have different sizes: { $used } of each are used, though the largest has { $largest }
engine-array-trusted = the parities or copies on the members of { $array } were taken as right, as by mdadm --assume-clean: what this run did not write does not survive the loss of a member unless `fathom rebuild` made it so
engine-array-unfinished = { $done } of { $member } was rebuilt in { $array }: later steps of this run on the array do without it, and after the run it is to be called missing or rebuilt anew
engine-array-rebuild-failed = the rebuild of a member of { $array } ended early, because { $member } failed: { $error }
engine-array-degraded = { $array } ran without { $count } of its members: its figures are those of a degraded array
engine-array-engine = arrays in user space work over psync, libaio and io_uring
engine-array-engine-help = give one of them with `--engine`
engine-array-iopoll = arrays in user space do not poll for completions
engine-array-iopoll-help = leave out `mode=iopoll`
engine-array-trim = arrays in user space pass no trims to their members
engine-array-trim-help = leave trims out of the mix, or trim the members
engine-array-atomic = a write to an array in user space is several on its members, which do not become durable together
engine-array-atomic-help = leave out `atomic`, or write to a single drive
engine-array-priorities = an I/O on an array in user space is several on its members, which have the priority of the thread
engine-array-priorities-help = give the whole load a priority with `prioclass` and `prio`
engine-array-mixed = it stands beside an array in user space, and targets of one step are all arrays or none
engine-array-mixed-help = give each a step of its own
engine-array-shared = its member { $member } belongs to another array of the step as well
engine-array-shared-help = give each array members of its own
engine-array-stream = streams that run at once would change, or rebuild, the same stripes from several threads
engine-array-stream-help = write to the array, or have a member rebuilt, beside one load with `--threads`: its threads get stripes of their own
engine-array-offset = threads at an offset from each other would change the same stripes
engine-array-offset-help = leave out `offset_increment`: the threads then get stripes of their own
engine-array-no-memory = making room for the parities
engine-array-parity = by { $instructions }

# fathom rebuild

rebuild-no-array = it is no array in user space
rebuild-no-redundancy = a raid0 has nothing to rebuild from
rebuild-no-redundancy-help = raid10, raid5 and raid6 can be rebuilt
rebuild-beside = one of its members is to be rebuilt beside a load, and here there is none
rebuild-beside-help = put the word missing in the place of that member, and name it with `--onto`
rebuild-onto-what = a member is missing, and no new one is named
rebuild-onto-what-help = name the new one with `--onto`
rebuild-nothing-missing = none of its members is missing
rebuild-nothing-missing-help = put the word missing in the place of the member that is to be made, or leave out `--onto` to write the parities or second copies anew
rebuild-onto-member = it is a member of the array already
rebuild-onto-member-help = name another file or drive with `--onto`
rebuild-too-small = it has { $have } bytes, and each member of { $array } gives { $need }
rebuild-too-small-help = make the file longer (truncate -s), or take a larger drive
rebuild-failed-help = what was to be written is not whole: mend or replace the member that failed, and rebuild again

# Drives in user space.
engine-user-space = { $found } completions found, { $empty } looks that found none
engine-large-pages-on-node = { $pages ->
    [one] one page
   *[other] { $pages } pages
 } of 2 MiB on NUMA node { $node }
engine-large-pages = { $pages ->
    [one] one page
   *[other] { $pages } pages
 } of 2 MiB
engine-small-pages = no page of 2 MiB is free near the drive: { $bytes } of locked memory, { $pages ->
    [one] one page
   *[other] { $pages } pages
 } of 4 KiB that the IOMMU looks up one by one (fathom nvme bind --hugepages)
engine-drive-taken = the drive is in user space for this step
engine-drive-taken-help = a step of engine nvme has its drives for itself; measure them through the kernel in another step
engine-nvme-kind = engine nvme drives a whole NVMe drive by itself, and this target is none
engine-nvme-kind-help = name the namespace (/dev/nvme0n1) and allow that its drive leaves the kernel meanwhile: `--allow-unbind SERIAL`
engine-no-trim = the drive takes no trims (Dataset Management)
engine-no-trim-help = measure reads and writes only
