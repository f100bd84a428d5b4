# Inventory, advice and captures (fathom-inspect).

capture-look = cannot read the machine's tree: { $source }
capture-look-help = name a folder that holds proc and sys
capture-write = cannot write the capture: { $source }
capture-write-help = name another file with --capture
capture-read = cannot read the capture, it is not a tar file or damaged: { $source }
capture-unpack = cannot unpack the capture: { $source }
capture-unpack-help = the temporary folder needs room for it: set TMPDIR to another folder
capture-foreign = { $path } is not part of a capture: { $what }
capture-foreign-name = its name leads out of the tree
capture-foreign-link = a symlink that leads out of the tree
capture-foreign-empty-link = a symlink without a target
capture-foreign-size = the archive is larger than the tree of any machine
capture-foreign-kind = neither a file, a folder nor a symlink
capture-help = captures are written by: fathom inspect --capture FILE

part-cpu-cache = CPU caches
part-cpu-model = CPU model
part-cpu-quota = CPU quota
part-cpus = CPUs
part-node-cpus = CPUs of a NUMA node
part-queue-cpus = CPUs of a queue
part-io-limits = I/O limits
part-iommu-domain = IOMMU domain
part-device-node = NUMA node of a device
part-nvme-controller = NVMe controller
part-nvme-queues = NVMe queues
part-pci-configuration = PCI configuration space
part-pci-function = attributes of a PCI function
part-pci-functions = PCI functions
part-smt-control = SMT control
part-array = arrays
part-clock-source = clock source
part-container = container
part-control-group = control group
part-cpuset = cpuset
part-device-mapper = device mapper
part-drive-state = drive state
part-drive-temperature = drive temperature
part-driver-options = driver options
part-drives = drives
part-unsafe-names = entries with names that are not safe to print
part-file-systems = file systems
part-frequency = frequency settings
part-idle-state = idle states
part-interrupt-affinity = interrupt affinity
part-interrupts = interrupts
part-isolated-cpus = isolated CPUs
part-kernel-command-line = kernel command line
part-kernel-release = kernel release
part-pci-payload = largest PCIe payload and type of port
part-folder = list of a folder
part-memory = memory size
part-node-memory = memory of a NUMA node
part-memory-limit = memory limit
part-mitigations = mitigations
part-node-distances = distances of NUMA nodes
part-poll-queues = poll queues
part-queue-settings = queue settings
part-admin-pages = what NVMe drives report about themselves

pci-ide = IDE controller
pci-raid = RAID controller
pci-sata = SATA controller
pci-sas = SAS controller
pci-nvme = NVMe drive
pci-storage = storage controller
pci-ethernet = Ethernet
pci-infiniband = InfiniBand
pci-network = network controller
pci-display = display
pci-memory = memory
pci-host-bridge = host bridge
pci-bridge = PCI bridge
pci-other-bridge = bridge
pci-usb = USB controller
pci-iommu = IOMMU
pci-accelerator = accelerator
pci-system = system peripheral
pci-other = other

lanes-empty = empty
lanes-empty-switch = empty switch
lanes-switch-with = switch with { $list }
lanes-several = { $count } x { $what }
lanes-list = { $list }

missing-not-a-link = a file that contains the target of a link: copy the folder with its symbolic links (cp -a, tar)
missing-no-such-file = no such file
missing-not-a-file = not a regular file
missing-no-number = expected a number, found "{ $text }"
missing-no-cpu-heading = there is no heading with CPUs
missing-link-leads-nowhere = the symlink leads nowhere
missing-only-64-bytes = only the first 64 bytes can be read

limit-read-rate = reads at { $rate }
limit-write-rate = writes at { $rate }
limit-reads = { $count ->
    [one] 1 read per second
   *[other] { $count } reads per second
}
limit-writes = { $count ->
    [one] 1 write per second
   *[other] { $count } writes per second
}

advice-of-switch = switch { $address }
advice-of-cpus = CPUs { $cpus }
advice-trained-down = the link runs at { $link }, { $rate } for large transfers; both ends support { $best }
advice-trained-down-doubtful = the link runs at { $link }, { $rate } for large transfers; the drive claims no better, but the port above it supports { $best }
advice-trained-down-effect = up to { $rate } for large transfers
advice-trained-down-remedy = reseat the drive, check riser and cable, then the firmware's link settings for the slot
advice-slot = the drive supports { $device }, its port { $port }; the link runs at { $link }
advice-slot-effect = in a faster slot up to { $better } instead of { $now } for large transfers, if the drive is that fast
advice-uplink = the { $links } links below carry { $down } in total, the uplink { $up }: oversubscribed { $ratio }
advice-uplink-effect = all its drives together are limited to { $up }; one or a few are not held back
advice-one-core = the interrupts of all { $queues } queues go to CPU { $cpu }
advice-one-core-effect = completions of all threads wait for CPU { $cpu }; spread out, each core takes its own
advice-one-core-remedy = let the driver place them (managed interrupts), or write one CPU each to /proc/irq/N/smp_affinity_list
advice-few-queues = { $queues ->
    [one] 1 I/O queue
   *[other] { $queues } I/O queues
} for { $cores ->
    [one] 1 core
   *[other] { $cores } cores
}
advice-few-queues-effect = cores that share a queue contend for its lock and its interrupt; noticeable with several busy threads
advice-no-poll = no poll queues, so I/O cannot be polled
advice-no-poll-effect = polled completion saves the interrupt and the wake-up, about 2 us of each I/O at queue depth 1, at the cost of a core that is always busy
advice-no-poll-remedy = boot with nvme.poll_queues=N, one per core that will poll (then --mode iopoll)
advice-irqbalance-others = irqbalance runs; it cannot move the queues of NVMe drives, but those of network cards and others
advice-irqbalance-others-effect = now and then other work lands on a CPU that is measured: a few long latencies, and results that repeat less well
advice-irqbalance-drives = irqbalance runs and may move the interrupts of these drives
advice-irqbalance-drives-effect = results change in the middle of a run when it moves one
advice-irqbalance-remedy = stop it while measuring: systemctl stop irqbalance
advice-remote = attached to NUMA node { $node }; the load is limited to NUMA node { $load }
advice-remote-effect = each I/O crosses the link between the nodes: longer latency, and all remote I/O shares that link; compare placement local and remote to see by how much
advice-unbound = attached to NUMA node { $node }, and the load may run on NUMA nodes { $load }
advice-unbound-effect = results differ by the node that the scheduler picks; bound to the node of the drive they repeat
advice-local-remedy = --placement local (CPUs { $cpus })
advice-powersave = governor powersave of { $driver }
advice-powersave-preference = governor powersave of { $driver }, energy preference { $preference }
advice-powersave-picks-effect = the clock follows the load with a delay: light loads (queue depth 1) see slower cores, and latencies that repeat less well
advice-powersave-lowest = governor powersave of { $driver }: the lowest clock
advice-powersave-lowest-effect = the cost per I/O grows as the clock falls; the IOPS of a busy core rise in proportion to the clock
advice-powersave-remedy = cpupower frequency-set -g performance
advice-deep-idle = idle state { $state } is allowed and takes { $exit } to leave
advice-deep-idle-effect = at queue depth 1 a core that waits for its I/O may sleep: up to { $exit } on top of the drive's latency
advice-deep-idle-remedy = while measuring: cpupower idle-set -D { $us }
advice-slow-clock = clock source { $clock }
advice-slow-clock-effect = each time stamp costs about a microsecond instead of some 20 ns, in every program that reads the time
advice-slow-clock-remedy = see the kernel log for why tsc was rejected; boot with tsc=reliable where it is sound
advice-smt-on = SMT is on: { $cpus } CPUs on { $cores ->
    [one] 1 core
   *[other] { $cores } cores
}
advice-smt-on-effect = two threads on one core together do about 1.6 times the I/O of one, not twice; figures per core and per CPU differ
advice-smt-on-remedy = compare --placement cores with --placement smt
advice-smt-off = SMT is off: { $cpus ->
    [one] 1 CPU, on a core of its own
   *[other] { $cpus } CPUs, one per core
}
advice-smt-off-effect = steadier latencies; with all cores busy on I/O, SMT would give about 1.6 times their throughput
advice-smt-off-remedy = echo on > /sys/devices/system/cpu/smt/control, if the firmware allows it
advice-iommu = their IOMMU domain is strict
advice-iommu-asked = their IOMMU domain is strict (iommu.strict is on the kernel command line)
advice-iommu-effect = each I/O waits until its mapping is flushed; with deep queues on many cores they wait for each other. Lazy flushing costs less, passthrough nothing
advice-iommu-remedy = boot with iommu.strict=0 or iommu=pt, where devices are trusted
advice-cgroup-cpu = the control group allows { $limit-figure } CPUs of time on { $cpus } CPUs
advice-cgroup-cpu-effect = above that all threads stop until the next period (usually 100 ms): a ceiling on IOPS, and tail latencies of tens of milliseconds
advice-cgroup-cpu-remedy = raise cpu.max of the group, or measure outside it
advice-cpuset = this process may run on { $allowed } of { $all } CPUs ({ $list })
advice-cpuset-effect = what all cores could do cannot be measured from here
advice-cgroup-io = the control group allows { $parts }
advice-cgroup-io-effect = this limit is measured, not the drive
advice-cgroup-io-remedy = raise io.max of the group, or measure outside it
advice-scheduler = I/O scheduler { $scheduler } on an NVMe drive
advice-scheduler-effect = it sorts under a lock what the drive sorts itself: more CPU per I/O, and fewer IOPS from many cores
advice-scheduler-remedy = echo none > /sys/block/NAME/queue/scheduler
advice-write-cache = a volatile write cache is on
advice-write-cache-effect = writes are fast until the cache is full, and each fsync waits for a flush; drives with power-loss protection report write through
advice-throttled = the drive reports thermal throttling (level { $level })
advice-warns-of-heat = the drive warns of its temperature
advice-hot-at = { $what }, temperature { $now }
advice-throttled-effect = the throughput is that of a hot drive
advice-hot = temperature { $now }
advice-hot-near = temperature { $now }; the drive warns from { $warns } on
advice-hot-effect = a hot drive slows itself down in the middle of a run: throughput falls in steps
advice-hot-remedy = more air over the drive, then measure
advice-drive-warns = the drive warns: { $warning }
advice-life-used = { $share } of the rated life is used
advice-media-errors = { $count ->
    [one] 1 media error
   *[other] { $count } media errors
} so far
advice-worn-effect = worn flash needs more retries and repairs: reads slow down, tail latencies grow, and results do not hold for a new drive
advice-worn-remedy = measure another drive, and replace this one
advice-coalescing = interrupts wait for { $completions } completions or { $wait }
advice-coalescing-effect = up to { $wait } more latency at low queue depth, fewer interrupts at high queue depth
advice-coalescing-remedy = nvme set-feature /dev/NAME -f 8 -V 0, and measure both
advice-sleeps = after { $idle } without I/O the drive enters power state { $state }
advice-sleeps-effect = the first I/O after a pause waits until the drive wakes
advice-sleeps-effect-exit = the first I/O after a pause waits up to { $exit } until the drive wakes
advice-sleeps-remedy = boot with nvme_core.default_ps_max_latency_us=0
advice-format = formatted with { $current } blocks; the drive reports { $best } blocks as faster
advice-format-effect = smaller blocks cost the drive more work per write
advice-format-remedy = nvme format with another --lbaf; this destroys all data
advice-state = the drive is in state { $states }
advice-state-effect = I/O waits or fails; results measured on it mean nothing
advice-see-kernel-log = see the kernel log
advice-array-missing = { $count ->
    [one] 1 member is missing
   *[other] { $count } members are missing
}
advice-array-busy = busy with { $action }
advice-array-missing-effect = reads of what is missing are calculated from the other members, and the rebuild, now or later, shares the drives with the load
advice-array-busy-effect = its own reads and writes share the drives with the load
