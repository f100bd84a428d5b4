# What a record means, and what to expect before it (fathom-model).

# The limit of a step. `limit` in a sentence is one of these two.
limit-word = limit
limit-word-probable = limit ({ $probability })

limit-name-queue-depth = queue depth
limit-name-device = the device
limit-name-link = the PCIe link
limit-name-uplink = the shared link
limit-name-core = the core
limit-name-all-cores = all cores
limit-name-cpu-taken = CPU taken by others
limit-name-irq-core = the core that takes the interrupts
limit-name-kernel-thread = a kernel thread
limit-name-file-system = the file system
limit-name-network = the network
limit-name-server = the server
limit-name-client = the client
limit-name-raid = the array
limit-name-memory = memory bandwidth
limit-name-flush = the flush between the writes
limit-name-page-cache = the page cache
limit-name-rate = the rate
limit-name-unknown = an unknown part

limit-pauses = The load itself is the limit: its threads paused for { $share } of the time.
limit-rate-asked = The asked rate of { $rate } is the limit: it was kept.
limit-rate-allowed = The rate allowed by { $source } is the { $limit }: { $allowed }, and it was met.
limit-rate-allowed-not-met = The rate allowed by { $source } is the { $limit }: { $allowed }. { $reached } of it was reached, and each I/O took { $wait } the time that the device needed.
limit-rate-of-control-group = the control group's io.max for { $device }
limit-rate-outside = A cap outside this host, of the hypervisor or the provider, is the { $limit }: { $rate } at every depth, to 2 %.
limit-token-bucket = A cap outside this host with an allowance for bursts is the { $limit }: { $first } fell to { $refill } after { $after }, when { $burst } I/Os of the allowance were used up.
limit-flush = The flush is the limit: { $call } takes { $mean } each, { $share } of the time; an I/O beside it takes { $io }.
limit-page-cache = The page cache answered: only { $share } of the bytes reached the device. This is memory speed, not the drive's.
limit-all-cores = All { $cpus } CPUs are the { $limit }: { $busy } busy at { $cost } of CPU per I/O.
limit-cpu-taken-programs = CPU time that other programs took is the { $limit }: { $share } of the time of an I/O the load was ready to run and had no CPU.
limit-cpu-taken-hypervisor = CPU time that the hypervisor took is the { $limit }: { $share } of the time of an I/O.
limit-cpu-taken-quota = A CPU limit of the control group is the { $limit }: it stopped the load for { $share } of the time of an I/O.
limit-irq-cores = { $cpus ->
    [one] CPU { $cpu }, which takes the interrupts, is
   *[other] The { $cpus } CPUs that take the interrupts are
  } the { $limit }: { $busy } busy, { $interrupts } of that in interrupts.
limit-allocation = The file system is the { $limit }: { $share } of the written bytes went to space that the file did not have, which it finds for one write at a time.
help-write-it-once = write the file once from start to end first: then its blocks are only overwritten
help-block-device = a block device instead of a file
limit-network = The network is the { $limit }: of { $total } that an I/O takes, the way to the server and back is { $way } ({ $share }).
limit-network-link = The network is the { $limit }: { $device }, which leads to the server, carries { $share } of its rate.
limit-server = The server is the { $limit }: of { $total } that an I/O takes, { $time } pass there ({ $share }).
limit-client = The client is the { $limit }: of { $total } that an I/O takes, { $time } pass on this host before it is sent and after the answer ({ $share }).
limit-unknown-server-or-client = Limit unknown: { $share } of the time of an I/O is outside the network. This client has no counter that separates its own time from the server's.
help-hide-the-way = more I/Os in flight: each waits as long, and more of them at once
help-larger-transfers = larger I/Os: one way there and back for more bytes
help-look-at-server = its own drives, threads and CPUs: measure its drives on itself
help-client-connections = more connections or slots of the client (NFS: nconnect, max_session_slots), or more hosts
limit-kernel-thread = { $cpus ->
    [one] Kernel thread { $name } ({ $work }) is the { $limit }: { $busy } of a CPU
   *[other] Kernel threads of { $name } ({ $work }) are the { $limit }: { $busy } of { $cpus } CPUs
  }, the wait for a CPU counted.
kernel-work-md-parity = parity of the md array, computed in one thread
kernel-work-md-parity-group = parity of the md array
kernel-work-md = I/O of the md array, in one thread
kernel-work-encryption = encryption by dm-crypt
kernel-work-encrypted-writes = the writes that dm-crypt encrypted, in one thread
kernel-work-device-mapper = a device-mapper target
kernel-work-loop = the image file behind the loop device, one thread at a time
kernel-work-journal = the journal of ext4
kernel-work-xfs = XFS
kernel-work-btrfs = btrfs
kernel-work-zfs = ZFS
kernel-work-writeback = writing back what the page cache holds, in one thread
kernel-work-reclaim = taking back memory of the page cache
kernel-work-nvme-fabrics = NVMe over a network
kernel-work-block-layer = the block layer
kernel-work-ring-workers = io_uring's own workers
limit-cores = { $workers ->
    [one] One core is
   *[other] The { $workers } workers' cores are
  } the { $limit }: { $busy } busy, { $cost } of CPU per I/O.
limit-polling-core = The polling core is the { $limit }: { $cost } of CPU per I/O.
limit-link = The PCIe link is the { $limit }: { $rate } of data are { $used } of what it carries ({ $ceiling }).
limit-link-or-drive = The drive's PCIe link, or the drive itself, is the { $limit }: { $rate } of data are { $used } of what the link carries ({ $ceiling }).
limit-uplink = The shared link is the { $limit }: { $rate } of data are { $used } of what it carries ({ $ceiling }).
limit-memory = Memory bandwidth is the { $limit }: { $rate } of data are { $used } of what it carries ({ $ceiling }).
limit-array = The array is the { $limit }: { $iops } are { $used } of its ceiling ({ $ceiling }).
limit-array-writes = The array is the { $limit }: each write costs { $ios } I/Os of its members.
limit-shared-device = The device is the { $limit }: all { $targets } targets are on it, and fewer of them give as much in total.
limit-shared-part = Something the drives share is the { $limit }: fewer of them give as much in total.
limit-queue-depth = Queue depth is the { $limit }: { $in_flight ->
    [one] one I/O at a time, { $latency } each
   *[other] { $in_flight } in flight at { $latency } each
  }.
limit-shared-with-streams = The device is the { $limit }: beside { $streams ->
    [one] another stream
   *[other] { $streams } other streams
} this one gives { $share } the IOPS that it gives alone, and nothing that the host counts is full.
limit-as-alone = As alone: { $cause }
limit-unknown-not-alone = Limit unknown: streams share the host's counters, and this one was not measured alone.
limit-unknown-as-alone = Limit unknown: beside the others it gives what it gives alone, and what holds it then is not known.
limit-unknown-shared-among-streams = Limit unknown: beside { $streams ->
    [one] another stream
   *[other] { $streams } other streams
} on several devices this one gives { $share } the IOPS that it gives alone.
help-stream-on-its-own = a drive of its own: up to { $iops } ({ $gain }), as it gives alone
evidence-share-of-alone = IOPS of what it gives alone
evidence-sum-of-shares = these shares of all streams together
limit-at-rating = The device is the { $limit }: it gives { $share } of its rated { $rate }.
limit-device = The device is the { $limit }: { $in_flight } in flight take { $latency } each, and no core is saturated.
limit-less-at-depth = Limit unknown: this step gave { $gain } the IOPS of { $in_flight } in flight, which gave the same before and after. More in flight gets in its own way, in the device or in the host.
limit-state-may-have-changed = Limit unknown: this step gave { $gain } the IOPS of { $in_flight } in flight, beyond both intervals; the device changed, or it gives less at this depth.
limit-state-changed-slower = Limit unknown: the device became slower during the ladder. This step gave { $gain } the IOPS of { $in_flight } in flight, which gave only { $again } when measured again.
limit-state-changed-faster = Limit unknown: the device changed during the ladder and became faster again. This step gave { $gain } the IOPS of { $in_flight } in flight, which gave { $again } when measured again.
limit-unknown-no-io = Limit unknown: no I/O completed.
limit-unknown-no-signature = Limit unknown: no counter is at its limit, and the steps at nearby loads do not show the limit.
limit-unknown-less-gave-more = Limit unknown: a later step with no more in flight gave more, so the state of the device changed between the steps.
limit-unknown-deeper-held-by-threads = Limit unknown: a deeper queue gave little more because the cores of its threads were full, which says nothing about the device.
limit-unknown-shallower-held-by-threads = Limit unknown: the step with fewer in flight was limited by its threads, so the gain since then says nothing about queue depth.
limit-unknown-waits-above-device = Limit unknown: few of the I/Os in flight are at the device. The others wait above it: for a lock of the file system or driver, a thread of the kernel, or a limit on the rate.

limit-probe-more-in-flight = { $in_flight } in flight gave { $gain } the IOPS{ $gain-ci }.
limit-probe-fewer-in-flight = The IOPS are { $growth } those at { $in_flight } in flight{ $growth-ci }.
limit-probe-more-threads = { $threads } threads gave { $gain } the IOPS{ $gain-ci }.
limit-probe-other-engine = { $engine } { $mode } gave { $gain } the IOPS{ $gain-ci }.
limit-probe-fewer-targets = { $targets ->
    [one] One target alone gave { $gain } the IOPS{ $gain-ci }.
   *[other] { $targets } targets gave { $gain } the IOPS each{ $gain-ci }.
  }
limit-probe-other-block = Blocks of { $block } moved { $gain } the bytes{ $gain-ci }.
limit-probe-repeated = { $in_flight } in flight, measured again, gave { $gain } the IOPS{ $gain-ci }.
limit-probe-faster-link = The same model on a faster link gave { $gain } the IOPS{ $gain-ci }.
limit-caveat-noise = The intervals leave room for another answer.
limit-caveat-cpu-taken-programs = Other programs had the CPUs for { $share } of the time in which the workers were to run.
limit-caveat-cpu-taken-hypervisor = The hypervisor took { $share } of the workers' time.
limit-caveat-cpu-taken-quota = A CPU limit stopped the workers for { $share } of the time.

evidence-iops = IOPS
evidence-mean-latency = mean latency
evidence-mean-in-flight = mean in flight
evidence-cpu-per-io = CPU per I/O
evidence-allowed-cpus-busy = mean busy share of the CPUs the run may use
evidence-own-share-of-busy = share of the busy time that is this run's
evidence-cpu-busy = busy share of CPU { $cpu }
evidence-cpu-interrupts = interrupts' share of the busy time of CPU { $cpu }
evidence-allocated-share = share of the written bytes that the file system had to find space for
evidence-network-way = the way to the server and back (a TCP connection)
evidence-rpc-round-trip = mean time from sending a call to its answer
evidence-rpc-execute = mean time of a call
evidence-rpc-sent-again = calls that were sent again
evidence-network-share = share of the time of an I/O on the network
evidence-server-share = share of the time of an I/O at the server
evidence-client-share = share of the time of an I/O in the client
evidence-network-link-used = share of the link's rate that is used
evidence-kernel-threads-busy = share of the CPUs that its threads could use which they took or waited for
evidence-workers-busy = mean busy share of the worker threads
evidence-cpu-taken = share of their time with the CPU taken by others
evidence-workers-waited = share of the time they waited for a CPU
evidence-gain-of-threads = IOPS with { $threads } threads against this step
evidence-gain-of-depth = IOPS at { $in_flight } in flight against this step
evidence-growth-of-depth = IOPS of this step against { $in_flight } in flight
evidence-gain-of-repeat = IOPS of { $in_flight } in flight measured again against the first time
evidence-gain-per-target = { $targets ->
    [one] IOPS of one target alone against this step
   *[other] IOPS per target with { $targets } targets against this step
  }
evidence-bytes-at-device = bytes that reached the device
evidence-page-cache-bytes = bytes in the page cache
evidence-intended-rate = intended rate
evidence-allowed-rate = allowed rate
evidence-at-device = share of the I/Os in flight that are at the device
evidence-interval-spread = spread of the IOPS from interval to interval
evidence-expected-interval-spread = spread that the latencies would make it
evidence-latency-over-device = latency over the device's own time
evidence-ceiling = ceiling
evidence-ceiling-used = used share of the ceiling
evidence-rated-over-link = rating of the drives over what their links carry
evidence-array-ceiling = ceiling of the array
evidence-member-ios-per-write = member I/Os per write
evidence-member-reads = member reads under pure writes

help-up-to-measured = { $help }: up to { $iops } ({ $gain }), the most that this run measured
help-up-to = { $help }: up to { $iops } ({ $gain }), then limited by { $next }
help-more-in-flight = more I/Os in flight: a deeper queue or more threads
help-another-drive = more drives
help-larger-blocks-for-bytes = larger blocks, where bytes count
help-link-or-drive = to tell them apart: the drive's rating, a drive of its model on a faster link, or much smaller blocks
help-better-slot = a slot with more lanes or a newer generation
help-another-drive-on-own-link = more drives, each on a link of its own
help-other-port = drives moved to another port, so that they do not share this one
help-more-threads = more threads on cores of their own
help-stop-others = stop the other programs, or raise the CPU limit
help-cpus-of-its-own = reserve CPUs for the load (--cpus, isolcpus)
help-cheaper-engine = a cheaper engine: io_uring, polled where the drive can
help-larger-blocks = larger blocks
help-more-cores = more cores
help-spread-interrupts = interrupts spread over more cores
help-poll-queues = poll queues, which need no interrupts
help-md-group-threads = more threads for parity: group_thread_cnt in the array's md folder of sysfs
help-md-more-group-threads = a greater group_thread_cnt in the array's md folder of sysfs
help-crypt-no-workqueue = dm-crypt without its work queues: no_read_workqueue and no_write_workqueue
help-crypt-no-write-workqueue = dm-crypt without its write queue: no_write_workqueue
help-crypt-same-cpu = same_cpu_crypt, with the load on more CPUs
help-loop-direct = direct I/O of the loop device: losetup --direct-io=on
help-journal-device = a journal on a device of its own
help-fewer-commits = fewer fsyncs and a longer commit interval
help-direct-io = direct I/O
help-several-devices = several such devices side by side
help-several-files = several files, which are written side by side
help-full-stripes = writes of full stripes
help-less-penalty = a level with less penalty: RAID 10
help-direct-crosses-once = direct I/O, which crosses memory once
help-memory-channels = memory on more channels
help-see-the-drive = direct I/O, or a file several times the size of memory, to see the drive
help-cap-outside = a larger class of volume or machine; blocks of another size tell whether I/Os or bytes are capped
help-group-commit = one sync for several writes (fdatasync=8, as group commit does), or more writers
help-protected-cache = a drive with power-loss protection, whose write cache need not be flushed
help-higher-rate = a higher rate
help-higher-rate-of = a higher rate in { $source }

# How a ceiling was calculated.
ceiling-rate = the rate that is asked for: { $rate }
ceiling-memory = memory moves { $rate }, { $crossings } x { $block } per I/O
ceiling-queue-depth = { $in_flight } in flight, { $latency } each when nothing waits (Little)
ceiling-device-commands = { $drives ->
    [one] the drive at { $each }, { $reads } reads
   *[other] { $drives } drives at { $each } each, { $reads } reads
  }
ceiling-device-bandwidth = { $drives ->
    [one] the drive at { $each }, { $reads } reads of { $block }
   *[other] { $drives } drives at { $each } each, { $reads } reads of { $block }
  }
ceiling-link = { $link } carries { $rate } of { $block } after coding and packets of { $payload }
ceiling-uplink = { $drives } of the drives share { $uplink }, { $link }
ceiling-uplink-above = the link above { $address }
ceiling-uplink-described = the uplink
ceiling-core = { $threads ->
    [one] one thread
   *[other] { $threads } threads
  } at { $cost } of its core per I/O ({ $origin })
ceiling-cost-measured = as measured
ceiling-cost-described = as its file says
ceiling-cost-published = { $program } of { $source }
ceiling-cost-scaled = { $program } of { $source }, from { $from } to { $to }
ceiling-all-cores = { $cores } cores at { $cost } per I/O, interrupts included
ceiling-all-cores-smt = { $cores } cores, { $gain } with both siblings busy, at { $cost } per I/O, interrupts included
ceiling-irq-cores = { $cores } cores take the interrupts, { $cost } per I/O
ceiling-raid-stripes = { $level } over { $members } members writes { $bytes } bytes per byte
ceiling-raid-small-writes = { $level } over { $members } members: a small write costs { $reads } reads and { $writes } writes
ceiling-card-commands = the card takes { $commands-figure } commands per second
ceiling-raid-degraded = { $level } over { $members } members, { $missing } of them missing: an I/O costs { $reads } reads and { $writes } writes, and the busiest member bounds
ceiling-member-link = each member's { $link } carries its share of { $rate } of { $block }
ceiling-card-parity = the card updates { $updates-figure } parities in place per second
ceiling-card-parity-bytes = the card computes parity over { $rate }
ceiling-md-thread = all writes pass through one thread of md, which takes { $time } for each
ceiling-md-threads = writes pass through { $threads } threads of md, which take { $time } for each
ceiling-md-lock = the threads of md hold their lock for { $time } of each write, one at a time
ceiling-md-stripes = md has { $stripes } stripes in its cache, and a write holds its own for { $time } or more
ceiling-card-memory = writes cross the card's cache memory, { $rate }, in and out
ceiling-card-link = the card's { $link } carries { $rate } of { $block }

notice-link-trained-down = { $drive } is linked at { $link } although both ends support { $possible }.
notice-drive-hot = { $drive }: temperature { $temperature }, and it slows down from { $warning } on.
notice-scheduler = { $drive } has the I/O scheduler { $scheduler }, which costs CPU and reorders; fast drives are measured with `none`.
notice-slow-clock = The kernel's clock source is { $clocksource }, which takes a system call per reading.
notice-interrupts-on-one-cpu = CPU { $cpu } takes { $share } of all interrupt time, for { $workers } workers.
notice-merges = { $share } of the I/Os were merged on { $disk }.
notice-no-poll-queues = Polled completion was asked for, but the drive has no poll queues.
notice-interrupts-despite-polling = Polled completion was asked for, but { $interrupts-figure } interrupts came per I/O.
notice-io-control = { $control } is configured for { $device }: it may hold I/Os back for other control groups.
notice-remote-node = Workers on CPUs { $cpus } and { $drive } are on different NUMA nodes: `--placement local` saves each I/O the way between them.
notice-siblings-as-cores = Workers run on CPUs { $cpus }, which are one physical core.

catalogue-kind-device = device
catalogue-kind-processor = processor
catalogue-kind-engine-cost = engine cost
catalogue-kind-figure = published figure
catalogue-kind-source = source
catalogue-kind-entry = catalogue entry
catalogue-no-such = no { $kind } is called `{ $name }`
catalogue-did-you-mean-one-of = Did you mean { $names }?
catalogue-list-help = `fathom catalogue list` prints all names
catalogue-source-unknown = `{ $entry }` has no known source: `{ $source }`
catalogue-source-unknown-help = add a [[source]] with id, title and publisher
catalogue-name-twice = the name `{ $name }` is used twice
catalogue-name-twice-help = { $file } has it already: give this entry a name of its own
catalogue-no-source = `{ $entry }` has no source
catalogue-no-source-help = write where its values come from: source = ["id of a [[source]]"]
catalogue-source-empty = source `{ $source }` is empty
catalogue-source-empty-help = give title and publisher
catalogue-check-twice = the check `{ $check }` is defined twice
catalogue-check-without-figure = the check `{ $check }` names the figure `{ $figure }`, which does not exist
catalogue-toml = this cannot be read: { $problem }
catalogue-key-missing = missing key `{ $key }`
catalogue-key-unknown = unknown key `{ $key }`
catalogue-key-without-unit = `{ $key }` has no unit
catalogue-key-without-unit-help = write `{ $key } = ...`

predict-device-not-rated = the catalogue knows neither IOPS nor bandwidth of `{ $device }`
predict-device-not-rated-help = give rand_read_4k_iops or seq_read_bytes_per_s in a file of your own (fathom catalogue new), or fit one from a run: fathom fit RUN -o FILE
predict-assumed-read-iops = random reads of 4 KiB as fast as the bandwidth allows: no IOPS are rated
predict-assumed-write-iops = random writes of 4 KiB as fast as the bandwidth allows: no IOPS are rated
predict-assumed-read-latency = a read alone takes { $latency }: no latency is rated
predict-assumed-write-latency = a write is acknowledged after { $latency }: no latency is rated
predict-assumed-media = media twice as fast as the controller
predict-assumed-up-to = rates are as the sheet words them, "up to": bounds from above
predict-assumed-payload = packets of { $payload } on the link, without which { $rate } could not be read
unknown-engine-cost = what an I/O costs this host
unknown-read-rate = the most reads that this drive gives
unknown-write-rate = the most writes that this drive sustains
unknown-read-latency = the time of a read alone
unknown-write-latency = the time of a write alone
unknown-media = how many reads the media serve at once
unknown-bandwidth = the bandwidth of this drive
unknown-mix = what reads and writes do to each other
unknown-payload = the payload of a packet on the links
unknown-array = what the maker of the array adds
unknown-form = what the formulas leave out
predict-link-malformed = `{ $text }` is not a link
predict-link-no-lanes = `{ $text }` has no lanes
predict-link-lanes = `{ $text }`: a link has 1, 2, 4, 8, 12 or 16 lanes, not { $lanes }
predict-link-generation = `{ $text }`: generation { $generation } is not one of 1 to 6
predict-link-help = write generation and lanes, for example gen4x4
predict-sim-no-drive = `{ $name }` has no drive or array of that name
predict-sim-no-drive-help = name an array or a group of equal drives, as in --device sim:r650-h755n/raid5; `fathom machines` lists them
predict-sim-unlike = the drives of `{ $name }` are of several kinds
predict-sim-memory = `{ $name }` is memory, which no formula of a drive knows
predict-array = { $level } of { $drives }, { $by }
predict-array-degraded = { $level } of { $drives }, { $missing } missing, { $by }
predict-array-in-user-space = in user space
predict-array-by-md = by md
predict-array-by-card = by card { $card }
predict-array-no-core-time = the array itself takes no core time: measure it with fathom run raid
predict-array-md-free = md's one thread limits no write: --md-write TIME says what one costs it
predict-array-link-free = the card's link limits nothing
predict-array-chunks = chunks of { $chunk }, no cache that holds the load
predict-array-counted = array: members' time { $members }, by counting 1, 2, 4 or 6 a write { $counted }; an I/O costs { $reads } reads and { $writes } writes
predict-array-written = { $said }, a byte written { $bytes } bytes
predict-part-member = the members' own time
predict-part-member-link = the members' links
predict-part-card = what the card does for each I/O
predict-part-card-link = the card's link to the host
predict-part-md-thread = the one thread of md
predict-part-stripe-cache = the stripes of md's cache
predict-raid-level = `{ $text }` is not a RAID level
predict-raid-level-help = the levels are 0, 1, 5, 6 and 10
predict-too-few-cores = { $cores } cores give { $given } at { $cost } of core time per I/O; { $wanted } are wanted: { $needed } cores, or a cheaper engine
predict-alone-too-slow-mean = a single I/O alone already takes { $latency } (mean); { $wanted } are wanted, and no number of drives makes one faster
predict-alone-too-slow-p99 = a single I/O alone already takes { $latency } (p99); { $wanted } are wanted, and no number of drives makes one faster
predict-drive-unknown = the drive is not known well enough
predict-most-within-goal = the most within the goal is { $iops-figure } of { $wanted }: { $ceiling }

fit-file-comment = A device fitted by `fathom fit`; use it with --device FILE.
fit-note = fitted: reads to { $reads }, writes to { $writes } (root mean square)
fit-note-reads-only = fitted: reads to { $reads } (root mean square), no writes
