# This machine (fathom-host).

probe-unreadable = cannot read { $path }: { $source }
probe-not-understood = cannot understand { $path }: { $what }
probe-help = mount /proc and /sys, or run outside the sandbox that hides them
probe-no-number = expected a number, found "{ $text }"
probe-not-text = it is not text
probe-no-line = expected these lines: { $line }
probe-bad-line = bad line "{ $line }"
probe-line-no-number = line { $line }: expected a number, found "{ $text }"
probe-few-fields = line { $line }: expected at least { $min } fields, found { $found }
probe-disk-not-listed = device { $device } is not listed

disk-none-below-file-system = { $path } is on { $fs }, which has no block device
disk-none = { $path } is on a file system that has no block device
disk-unknown = the kernel shows no block device { $name }

placement-no-siblings = placement smt: this machine has no SMT siblings online
placement-no-node = placement on NUMA nodes: this machine has no CPUs on NUMA node { $node }; nodes with CPUs: { $nodes }
placement-no-node-help = name nodes that this machine has (see `fathom inspect`)
placement-one-node = placement { $placement }: this machine has one NUMA node
placement-node-unknown = placement { $placement }: the kernel does not report which NUMA node the target is attached to
placement-cpu-offline = CPU { $cpu } is not online; available CPUs: { $usable }
placement-cpu-withheld = CPU { $cpu } is outside the cpuset of this process; available CPUs: { $usable }
placement-none-named = no CPU is named to run on
placement-no-cpu = placement { $placement }: no CPU there may be used by this process
placement-other-help = use placement unpinned or cores, or name CPUs: 0,1
placement-node-unknown-help = name the CPUs instead: the firmware assigns this device no node
placement-usable-help = name CPUs from the available ones
placement-none-named-help = name at least one CPU, for example 0
placement-no-cpu-help = name CPUs, or widen the affinity or cpuset of this process

poll-md = { $device } is an md array, and md completes by interrupt only
poll-md-help = use mode interrupt or sqpoll, or name the drives below the array
poll-mapped = { $device } is built on devices that cannot be polled
poll-no-queues = { $device } has no poll queues
poll-nvme-help = load the driver with poll queues (for NVMe: `nvme.poll_queues=4` on the kernel command line), or use mode interrupt
poll-help = use mode interrupt or sqpoll

erase-stopped = stopped while the drive was sanitizing: it goes on by itself, and refuses all I/O until it is done
erase-not-one-drive = it is not one drive
erase-partition = { $partition } is a part of the drive, and Format and Sanitize erase all of it
erase-not-nvme = it is no NVMe drive
erase-namespaces-unknown = it does not report its namespaces: { $error }
erase-all-namespaces = { $command } erases all { $count } namespaces of this drive, and only one was named
erase-no-format = the drive does not support Format NVM
erase-after-format = after the Format: { $error }
erase-format-changed = the Format changed the block format or the size of the drive; check it with `fathom inspect`
erase-formatted = NVMe Format with erasure of user data, block format unchanged ({ $block } blocks)
erase-formatted-as-before = NVMe Format with erasure of user data, block format unchanged
erase-by-blocks = block erase
erase-by-key = cryptographic erase
erase-by-overwriting-only = the drive supports Sanitize by overwriting only, which wears it and takes hours
erase-no-sanitize = the drive does not support Sanitize
erase-progress-unknown = the drive does not report its progress: { $error }
erase-sanitized = NVMe Sanitize by { $action }
erase-sanitize-failed = the drive reports that its Sanitize failed
erase-sanitize-failed-and-stays = the drive reports that its Sanitize failed and stays in failure mode: { $error }

generic-missing = no character device { $generic } beside { $block }, by which commands are passed to the drive
generic-missing-help = kernels from 5.13 on make one; `--engine io_uring` needs none
generic-other = { $generic } is not the character device of the namespace that { $block } is
generic-other-help = name the right one as the target; `ls -l /sys/class/nvme-generic` shows whose each is
