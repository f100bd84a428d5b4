# What to measure: knobs, goals, studies, labels (fathom-plan).

# Knobs: what each is for.

knob-group-workload = Workload
knob-group-files = Several files
knob-group-load = Load and placement
knob-group-engine = Engine
knob-group-priority = Priority of I/O
knob-group-length = Length and seed
knob-group-conditions = Conditioning
knob-group-array = Arrays in user space
knob-rw = operations and order: read write randread randwrite rw randrw trim randtrim trimwrite; files as a whole: filecreate filestat filedelete
knob-read-pct = share of reads in percent; the rest are writes
knob-rwmixread = share of reads of a mixed rw, in percent
knob-rwmixwrite = share of writes of a mixed rw, in percent
knob-bs = block size: bytes per I/O
knob-bssplit = several block sizes and their shares in percent
knob-iodepth = I/Os in flight per thread
knob-numjobs = threads on each target; with spread, of all targets together
knob-invalidate = empty the page cache of the targets before a buffered step, as fio does
knob-spread = which targets a thread drives: each_target (one; every target has so many threads), targets (its share of them) or all_targets (all in turn, as fio does with several files)
knob-unknown-spread = unknown spread `{ $text }`
knob-load = threads x queue depth in one word
knob-iodepth-batch-submit = I/Os handed to the kernel per call at most (capped by the depth)
knob-iodepth-batch-complete-min = completions waited for per call at least (capped by the depth)
knob-batching = how I/Os go to the kernel: adaptive (one by one above 4 us per I/O, else batches), single, whole (all free slots at once), t/io_uring (32 per call, and 32 waited for)
knob-unknown-batching = unknown way of batching { $text }
knob-batchings = one of { $words }
knob-iodepth-batch-complete-max = completions taken per call at most, each I/O with its own time stamps; without it all that are ready
knob-new-files = state of a file that is made for writes alone: written (each block once before the load), allocated (it has its space, as fio leaves it), sparse
knob-new-files-are-read = new_files={ $word } has no effect: the load reads the file, which must have been written before
knob-not-new-files = `{ $text }` is no state of a new file
knob-ioengine = how I/O is issued: io_uring io_uring_cmd nvme libaio psync mmap null
knob-mode = how io_uring waits for completions: interrupt, iopoll or sqpoll
knob-hipri = mode=iopoll in fio's words
knob-sqthread-poll = mode=sqpoll in fio's words
knob-sqthread-poll-cpu = CPU of the kernel's polling thread
knob-fixedbufs = register I/O buffers (io_uring)
knob-registerfiles = register files (io_uring)
knob-direct = bypass the page cache (O_DIRECT)
knob-size = bytes touched per target, from offset on; 20% is a share of each target
knob-offset = first byte touched
knob-runtime = measured time: 30s fixed, 2s..10s until the interval is narrow, auto = 2s..10s
knob-ramp-time = warm-up that is run but not counted
knob-loops = stop after so many passes over the region
knob-iops-precision = with an adaptive runtime: stop once IOPS is known this well
knob-p99-precision = with an adaptive runtime: stop once p99 is known this well
knob-norandommap = random offsets that may repeat within a pass
knob-random-distribution = popularity of offsets: random, zipf:THETA, hotspot:ACCESS/SPACE
knob-randseed = seed of offsets, operations, arrivals and data
knob-read-rate = reads arrive at this share of the most reads per second of a closed loop, e.g. 40%, beside writes at write_rate
knob-write-rate = writes arrive at this share of the most writes per second of a closed loop, e.g. 20%, beside reads at read_rate
knob-rate-iops = open loop: I/Os per second over all threads and targets, latency counted from the intended start; 10k,3k: reads and writes each at their own rate; ,3k: a closed loop with at most 3k writes per second; in a study 75% is a share of the most in a closed loop
knob-stages = open loop whose rate changes: how long at which rate, one behind the other; 5k-40k rises evenly, 0 is a gap, 120% is a share of the most in a closed loop (studies)
knob-stage = `{ $text }` is no stage
knob-stage-help = for how long at which rate: 10s@5k, or 10s@5k-40k for an even rise
knob-stage-length = the length of stage `{ $text }` is no multiple of { $unit }
knob-stage-units = some rates are shares (%), others I/Os per second
knob-stages-many = more than { $max } stages, or longer than 30 days
knob-stages-of-nothing = nothing is due in any stage
knob-beside-stages = { $key } and stages exclude each other: stages say rates and lengths themselves
knob-beside-stages-help = remove { $key }
study-not-stages = stages are tables with `rate` and `for`
study-not-stages-help = [[ladder.stage]] with rate = "5k" and for = "10s"
label-in-stages = { $load } in { $count } stages at { $range }
knob-rate-process = gaps between I/Os whose rate is set: fixed (fio: linear) or poisson
knob-latency-goal = the verdict names the highest load that keeps these latencies: p99<= and lat<= (the mean)
knob-placement = where threads run: unpinned, cores, smt, local, remote or a CPU list
knob-numa-cpu-nodes = run the threads on CPUs of these NUMA nodes: thread i on the i-th, one of each core first
knob-numa-mem-policy = where the threads' memory lies: bind:NODES, interleave:NODES, prefer:NODE or local
knob-nodes = `{ $text }` is not a list of NUMA nodes
knob-nodes-help = write numbers up to 1023 and ranges separated by commas, for example 0-1
knob-memory-policy = `{ $text }` is not a policy for memory
knob-memory-policy-help = write bind:0, interleave:0-1, prefer:1, local or default
knob-cpus-allowed = run the threads on these CPUs: thread i on the i-th of the list, round robin
knob-buffer-compress-percentage = share of written data that compresses away, in percent
knob-dedupe-percentage = share of written 4 KiB chunks that repeat, in percent
knob-verify = write self-describing blocks and check them: crc32c or none
knob-engine-as-psync = ioengine={ $engine } is run as psync: one call per I/O as well
knob-fsync = call fsync after so many completed writes of a thread; 0: never
knob-fdatasync = call fdatasync after so many completed writes of a thread; 0: never
knob-end-fsync = once a thread has written all, make it durable with fsync; within the time of a load that ends by its size
knob-sync = open with O_SYNC (sync) or O_DSYNC (dsync), so that a write returns when it is durable; none or 0: neither
knob-sync-word = `{ $word }` is neither none, dsync nor sync
knob-two-syncs = fsync and fdatasync cannot both follow the writes
knob-two-syncs-help = fsync does all that fdatasync does: leave out one
knob-sync-without-writes = { $key } makes writes durable, and there are none
knob-sync-without-writes-help = use rw=write, randwrite or a mix, or leave it out
knob-sync-polled = { $key } is not possible on a polled ring
knob-sync-polled-help = leave out the polled mode: a flush completes by interrupt
knob-no-write-through = O_SYNC does not reach the writes of engine { $engine }
knob-no-write-through-help = use fdatasync=1, or another engine
knob-devices = use the first so many targets of the group
knob-ranks = let so many ranks take part, one of each host before a second of any (fathom-mpi); the others wait
knob-write-iolog = new file that each I/O is written down in as it begins, in fio's form (version 3), for read_iolog; of several threads with .0, .1 and so on behind its name
knob-no-trace-name = no file is named
knob-no-trace-name-help = for example write_iolog=trace.log
knob-nrfiles = files of each thread, in the folders that the targets are: of rw=filecreate, filestat or filedelete each is worked on once, of others blocks are moved in all of them
knob-filesize = bytes in each of these files; 0: they are empty, or share size
knob-file-service-type = which of its files or other targets a thread's next I/O goes to: roundrobin, random, both with :N for so many I/Os each, sequential or zipf:THETA
knob-openfiles = files that are served at a time; the next comes in when one is done with
knob-unknown-service = unknown order of service `{ $text }`
knob-service-theta = the exponent of zipf is above 0
knob-service-theta-help = for example zipf:1.2
knob-service-lacks = files are not chosen by { $word }
knob-service-lacks-help = use zipf:THETA, random, roundrobin or sequential
knob-service-of-one = file_service_type and openfiles change nothing: each thread has one target
knob-files-of-array = nrfiles is for folders, and an array is none
knob-files-of-array-help = leave out nrfiles or array
knob-too-many-files = { $files } files whose blocks are moved are more than a step can have ({ $max })
knob-too-many-files-help = lower nrfiles or threads, or work on whole files with rw=filecreate, filestat or filedelete
knob-whole-file-too-long = { $bytes } are more than a file that is made as a whole can have ({ $max })
knob-whole-file-too-long-help = lower filesize
knob-size-and-filesize = size is that of all files of a thread and filesize that of each: they say the same twice
knob-size-and-filesize-help = leave one out; to move less than the files hold, io_size
knob-files-below-block = { $size } over { $files } files leave less than a block for each
knob-files-below-block-help = raise size, or lower nrfiles or bs
knob-size-shared-unevenly = size={ $size } does not divide into { $files } files of whole blocks: each has { $each }
knob-files-by-engine = rw={ $rw } works on whole files, which engine { $engine } does not
knob-files-by-engine-help = leave the engine out: there is one for files
knob-files-engine-alone = engine files works on whole files, and rw={ $rw } moves blocks
knob-files-engine-alone-help = use rw=filecreate, filestat or filedelete, or another engine
knob-stat-by-what = how rw=filestat names a file: path, all of it from the root, as mdtest and fio do; folder, its name in its folder, which is open
knob-unknown-stat-by = `{ $text }` is no way to name files
knob-stat-by = stat_by says how files are looked at, and rw={ $rw } looks at none
knob-stat-by-help = use rw=filestat, or leave stat_by out
knob-files-of-blocks = { $key } is for several files, and rw={ $rw } has one here
knob-files-of-blocks-help = add nrfiles, or use size
knob-blocks-of-files = { $key } says where in a file I/O goes, and rw={ $rw } works on whole files
knob-blocks-of-files-help = leave it out; how many files and how large say nrfiles and filesize
knob-array = make one array of the targets: raid0, raid10, raid5, raid6, or by Linux md as md-raid5; none leaves them as they are
knob-rebuild = rebuild the last member of an array while the load runs: bytes of it a second, full, or none
knob-rebuild-speed = a rebuild has no speed { $text }
knob-chunk = what lies on one member of an array before the next comes; a block may be as long: bs=chunk, bs=stripe
knob-missing = so many of the last members of the array are lost
knob-stripe-without-array = a stripe is a part of an array, and there is none
knob-stripe-without-array-help = add array=raid5 or another level, or give bs a size
knob-missing-without-array = members can be missing from an array alone, and there is none
knob-missing-without-array-help = add array=raid5 or another level with redundancy, or leave out missing
knob-stripe-too-long = a stripe of { $block } is longer than a block may be: { $max }
knob-precondition = before measuring: same (own workload until steady), snia (purge, 128k twice over, own workload), quick, none
knob-purge = purge the targets first (snia always does): 1 (the best way there is), format, sanitize, discard, 0
knob-settle-load = threads x queue depth of the rounds that settle
knob-settle-rounds = most rounds until steady state is called not reached
knob-settle-time = length of a round
knob-paranoid = read the clock for every I/O instead of once per batch

# Knobs: values that cannot be.

knob-above-maximum = `{ $text }` is above the maximum of { $max }
knob-cpu-above-maximum = CPU { $cpu } is above the maximum of { $max }
knob-out-of-range = `{ $text }` is out of range; it must be { $min } to { $max }
knob-share-out-of-range = `{ $text }` is out of range; it must be 1% to { $max }%
knob-whole-help = a whole number from { $min } to { $max }
knob-above-100-percent = { $percent } percent is more than the whole; it must be 0 to 100
knob-not-a-share = `{ $text }` is not a share between 0 and 1
knob-not-a-share-help = write it like 1% or 0.01
knob-negative = `{ $text }` is negative
knob-not-whole = `{ $text }` is not a whole number
knob-over-64-bits = `{ $text }` does not fit in 64 bits
knob-not-a-flag = `{ $text }` is neither 1 nor 0
knob-not-a-flag-help = write 1 or 0
knob-share-of-target = `{ $text }`: a share of the target is not supported here
knob-share-of-target-help = give the size in bytes, e.g. 20g
knob-binary-unit = `{ $text }` was read as { $bytes } bytes: k, m, g are powers of 1024
knob-unknown-workload = unknown workload `{ $text }`
knob-group-order = Order and sizes
knob-group-pacing = Pauses and shares
knob-bsrange = Block sizes drawn from a range, e.g. 4k-64k: multiples of the smallest
knob-bs-unaligned = With bsrange: sizes of any number of bytes
knob-blockalign = Random offsets are multiples of this, not of the block
knob-rw-sequencer = With rw=randread:N: sequential (each I/O behind the last one) or identical (the same offset again)
knob-percentage-random = Share of a random pattern's I/Os at random offsets; the rest follow the I/O before
knob-random-sequence-stride = With random_distribution=sequence: each round begins as many blocks later as the list is long
knob-zonemode = strided: zonesize bytes in a zone, then zoneskip bytes on to the next
knob-zonesize = Bytes of I/O in a zone before the next one
knob-zonerange = Length of a zone (default: zonesize)
knob-zoneskip = Bytes between the end of a zone and the next
knob-io-size = Bytes that a thread moves in one pass (default: the region)
knob-number-ios = I/Os of a thread in one pass at most
knob-offset-increment = Every thread has a region as large as the step's, thread i so many bytes later i times; without it the threads of a sequential pattern divide the region
knob-thinktime = Pause of a thread after thinktime_blocks I/Os; a bare number is microseconds
knob-thinktime-spin = Part of thinktime that keeps the CPU busy
knob-thinktime-blocks = I/Os of a thread from one pause to the next
knob-prioclass = Priority class of the threads' I/O: 1 or rt, 2 or be, 3 or idle
knob-prio = Level of the threads' I/O within its class, 0 (first) to 7
knob-priohint = Hint to the drive beside the priority, such as the number of a command duration limit
knob-cmdprio-percentage = Share of the I/Os with a priority of their own; reads,writes where they differ
knob-cmdprio-class = Class of the I/Os with a priority of their own (without it rt)
knob-cmdprio = Level of the I/Os with a priority of their own (without it 0)
knob-cmdprio-hint = Hint of the I/Os with a priority of their own
knob-cmdprio-bssplit = Shares of the I/Os of a size with a priority of their own: size/percent, or size/percent/class/level[/hint]
knob-two-priorities = cmdprio_percentage and cmdprio_bssplit both give single I/Os a priority
knob-two-priorities-help = use one of them
knob-priority-engine = with { $engine } no single I/O has a priority
knob-priority-engine-help = use ioengine=io_uring or libaio, or give the whole load a priority with prioclass and prio
knob-priority-above-all = the shares with a priority of their own add up to more than 100 % of the I/Os of one size
knob-priority-above-all-help = lower one of them
knob-priority-class = `{ $text }` is not a priority class
knob-priority-class-help = write 1 or rt (realtime), 2 or be (best effort), 3 or idle
knob-priority-split = `{ $text }` is not a share with a priority
knob-priority-split-help = write size/percent, size/percent/class/level or size/percent/class/level/hint, for example 64k/25/1/0
knob-dedupe-mode = which blocks repeat: repeat (a few, the same for all threads) or working_set (a share of the region)
knob-dedupe-working-set = share of the region that the working set of repeated blocks has
knob-dedupe-global = all threads and loads that run at once repeat the blocks of one working set
knob-unknown-dedupe-mode = unknown dedupe_mode `{ $text }`
knob-latency-target = each thread searches the deepest queue, up to iodepth, that keeps to this latency (microseconds without a unit)
knob-latency-window = how long each depth is tried (without it 1 s)
knob-latency-percentile = share of the I/Os that is to keep to latency_target (without it 100)
knob-latency-run = go on at the depth that was found, and follow the latency, instead of ending
knob-latency-share = `{ $text }` is not a share above 0 and up to 100 %
knob-latency-share-help = write it like 99.9
knob-latency-target-and-rate = latency_target searches a depth, and a load of a given rate has none
knob-latency-target-and-rate-help = leave out the rate, or look for the highest rate with the study qos
knob-latency-target-of-trims = latency_target is of reads and writes, and there are trims
knob-latency-target-of-trims-help = leave out latency_target, or the trims
knob-sprandom = random writes in the places that bring a drive to its steady state by writing its physical capacity once (fio's SPRandom)
knob-spr-num-regions = parts in which sprandom writes the capacity (without it 100)
knob-spr-op = capacity that the drive has beyond what it shows, as a share of that (without it 0.15)
knob-sprandom-of-others = sprandom is a load of random writes of one size by one thread, in places of its own
knob-sprandom-of-others-help = use rw=randwrite with one bs and one thread, without distributions, modifiers or zones
knob-uncached = buffered I/O leaves nothing in the page cache (RWF_DONTCACHE, Linux 6.14 and later), by io_uring or libaio
knob-uncached-engine = uncached is buffered I/O by io_uring or libaio
knob-uncached-engine-help = use direct=0 with ioengine=io_uring or libaio, or leave out uncached
knob-atomic = each write reaches the medium whole or not at all (RWF_ATOMIC)
knob-atomic-without-writes = atomic is of writes, and there are none
knob-atomic-engine = atomic writes go around the page cache, by io_uring or libaio
knob-atomic-engine-help = use direct=1 with ioengine=io_uring or libaio
knob-flow = Weight of a thread among those that run at once: I/Os are shared in the ratio of the weights
knob-flow-id = Group of loads that share by flow
knob-flow-sleep = Wait of a thread that is above its share before it looks again
knob-sequence-modifier = the sequence modifier in `{ $text }` is not a number
knob-sequence-modifier-help = write bytes between sequential I/Os (read:8k, read:-8k) or I/Os per random offset (randread:8)
knob-rates-of-three = `{ $text }` has more than three rates
knob-rates-of-three-help = I/Os per second of reads,writes,trims: e.g. 10k,3k; empty or 0 is no limit
knob-share-of-op = `{ $text }`: the rate of one operation is in I/Os per second
knob-trimwrite-sizes = trimwrite writes what it trimmed, but trims have other sizes than writes
knob-trimwrite-sizes-help = give writes and trims the same sizes, for example bs=4k or bs=4k,8k,8k
knob-sizes-for-three = `{ $text }` has more than three sizes
knob-sizes-for-three-help = reads,writes,trims: e.g. 4k,8k
knob-bsrange-help = e.g. 4k-64k
knob-range-per-direction = one range per direction is not supported
knob-not-a-range = `{ $text }` is not a range of block sizes
knob-list-too-long = a list of blocks has at most { $max }
knob-list-too-long-help = shorten it
knob-zoned-help = percent of the I/Os and of the space, each 100 in all: zoned:50/5:30/15:20/80
knob-zoned-abs-help = percent of the I/Os, 100 in all, and a size; 0 is the rest: zoned_abs:60/1g:40/0
knob-not-zones = `{ $text }` are no zones
knob-zones-per-direction = zones per direction are not supported
knob-zones-sum = the shares in `{ $text }` do not add up to 100
knob-unknown-sequencer = unknown sequencer `{ $text }`
knob-unknown-zonemode = zonemode={ $text } is not supported
knob-unknown-zonemode-help = none and strided are; for zoned drives run this job with fio
knob-no-zone-size = strided zones need a size
knob-no-zone-size-help = add zonesize=256m
knob-pair-share = `{ $text }` is not a share: rates of reads and writes are given in percent of the most of each
knob-pair-of-nothing = reads and writes at 0 % are no load
knob-pair-of-nothing-help = give read_rate or write_rate more than 0%
knob-pair-of-unknown = rates of reads and writes are shares of what a study measures before
knob-pair-of-unknown-help = use them in a study (fathom run surface), or give --rate with --rw randrw --rwmixread 70
knob-pair-and-rate = read_rate and write_rate are rates already
knob-pair-and-rate-help = leave out rate_iops, rate_process and read_pct: reads and writes arrive after Poisson processes
knob-pair-of-others = read_rate and write_rate are for plain reads and writes: no trims, syncs, pauses, verification or orders beyond the pattern
knob-pair-of-others-help = leave those out, or run the loads as streams: fathom io A -- B
knob-thinktime-and-rate = thinktime and a rate cannot both hold: arrivals do not wait for pauses
knob-thinktime-and-rate-help = leave out one of them
knob-do-verify = 0: verified blocks are written and none is checked
knob-buffer-pattern = Bytes that written data repeats: 0xdeadbeef, "text" or a number
knob-zero-buffers = Written data is zeros
knob-verify-as-crc32c = verify={ $word }: blocks carry a CRC-32C here
knob-not-a-fill = `{ $text }` is no pattern of up to 512 bytes
knob-not-a-fill-help = e.g. 0xdeadbeef, "text" or 90
knob-empty-block = a block of 0 bytes moves nothing
knob-empty-block-help = a multiple of 512, e.g. 4k
knob-part-of-sector = { $bytes } bytes are not a multiple of 512
knob-part-of-sector-help = whole sectors, e.g. 4k; through the page cache (direct=0) any size
knob-split-twice = block size { $bytes } is named twice
knob-split-too-long = a split has at most 64 sizes
knob-split-sum = the shares add up to { $sum } instead of 100 %
knob-split-rest = { $rest } cannot be divided equally by { $sizes } sizes
knob-bssplit-help = write it like 4k/60:64k/40
knob-unknown-distribution = unknown distribution `{ $text }`
knob-refused-distribution = fio's distribution `{ $kind }` is not supported
knob-refused-distribution-help = use zipf:THETA or hotspot:ACCESS/SPACE (percent), e.g. hotspot:90/10
knob-not-an-exponent = `{ $text }` is not an exponent
knob-zipf-range = the exponent of zipf must be above 0 and at most 10
knob-zipf-help = write it like zipf:1.2
knob-not-a-hotspot = `{ $text }` is not ACCESS/SPACE
knob-hotspot-range = both percentages of a hotspot must be 1 to 99
knob-hotspot-help = percent of the I/O, then percent of the space: hotspot:90/10
knob-rate-share-help = a whole percentage of the highest IOPS in a closed loop, e.g. 75%
knob-goal-asks-rate = `{ $text }` asks for a rate, which is what the study looks for
knob-goal-asks-rate-help = name latencies alone, e.g. p99<=1ms
knob-not-a-load = `{ $text }` is not TxQ
knob-load-threads = threads
knob-load-depth = queue depth
knob-load-help = threads x queue depth: 4x32
knob-no-runtime = a runtime of 0 measures nothing
knob-no-runtime-help = e.g. 30s, or 2s..10s for floor..budget, or auto
knob-runtime-order = the least runtime is above the most
knob-runtime-order-help = floor..budget, e.g. 2s..10s
knob-unknown-engine = unknown engine `{ $text }`
knob-engines = engines are { $engines }
knob-unknown-mode = unknown mode `{ $text }`
knob-unknown-process = unknown arrival process `{ $text }`
knob-unknown-placement = unknown placement `{ $text }`
knob-placements = valid: { $words }, or a CPU list such as 0-3,8
knob-no-size = a size of 0 holds no block
knob-no-size-help = e.g. 2g; leave it out for the whole target
knob-no-share-help = e.g. 20%; leave it out for the whole target
knob-unknown-precondition = unknown way to condition `{ $text }`
knob-unknown-purge = unknown way to purge `{ $text }`
knob-unsupported-verify = verification by `{ $text }` is not supported

# Knobs that contradict each other, or have no effect.

knob-no-target = no target is named
knob-no-target-help = name a file or device with --target
knob-mode-twice = mode is already { $mode }
knob-mode-twice-help = iopoll (hipri) and sqpoll (sqthread_poll) cannot be combined: choose one
knob-engine-without-mode = engine { $engine } has no mode { $mode }
knob-engine-without-mode-help = modes iopoll and sqpoll (fio: hipri, sqthread_poll) need engine io_uring or io_uring_cmd
knob-no-sqpoll-cpu = sqthread_poll_cpu has no effect in mode { $mode }
knob-mmap-direct = engine mmap goes through the page cache (or DAX); it has no O_DIRECT
knob-mmap-direct-help = remove direct, or set direct=0
knob-iopoll-buffered = mode iopoll needs O_DIRECT
knob-iopoll-buffered-help = set direct=1, or mode=interrupt
knob-paranoid-synchronous = paranoid: synchronous engines stamp every I/O anyway
knob-no-mix = rwmixread and rwmixwrite have no effect with rw={ $rw }, as in fio
knob-reads-without-mix = read_pct { $read_pct } contradicts rw={ $rw }
knob-no-window = the window must be longer than 0
knob-no-window-help = write a time, for example 5s (default: 1s)
knob-without-think = { $key } has no effect without thinktime
knob-without-think-help = set thinktime, or remove it
knob-reads-of-trim = a share of reads makes no sense with rw={ $rw }
knob-reads-of-trim-help = remove it, or set rw=randrw
knob-no-distribution = random_distribution has no effect with rw={ $rw }, as in fio
knob-depth-of-synchronous = { $engine } has one I/O in flight per thread: iodepth={ $depth } runs as QD1 (raise numjobs instead)
knob-buffers = { $threads } threads x { $depth } x { $block } need { $buffers } of buffers; the maximum is { $max }
knob-buffers-help = lower iodepth, numjobs or bs
knob-rate-process-alone = rate_process has no effect without rate_iops
knob-rate-process-alone-help = set rate_iops, or remove it
knob-size-below-block = size { $size } is below one block of { $block }
knob-size-below-block-help = raise size, or lower bs
knob-offset-in-sector = offset { $offset } is not a multiple of 512
knob-offset-in-sector-help = O_DIRECT needs whole sectors, e.g. 1g
knob-placement-and-cpus = placement and cpus_allowed were both given: the later one counts
knob-share-of-nothing = rate_iops={ $share }: one step alone has no closed loop to be a share of
knob-share-of-nothing-help = give the rate in IOPS, e.g. 20k; a ladder may give shares

# Goals.

goal-malformed = `{ $text }` is not a goal
goal-malformed-help = write for example iops>=10M, p99<=500us
goal-wrong-way = `{ $text }` is the wrong way round
goal-rate-help = a rate is reached with >=
goal-latency-help = a latency is held with <=
goal-of-nothing = a goal of zero is met by anything
goal-no-time = no I/O takes no time
goal-iops-help = for example 10M or 500k
goal-bw-help = for example 20GB/s or 10GiB/s
goal-time-help = for example 500us
goal-without-unit = `{ $text }` has no unit
goal-without-unit-help = write us, ms or s behind it
goal-unknown = `{ $word }` cannot be a goal
goal-not-a-bandwidth = `{ $text }` is not a number with a unit
goal-unknown-unit = `{ $unit }` is not a unit of bandwidth

# Plans.

plan-base-first = { $step }: measured first, because later rates are shares of its IOPS
plan-time-too-short = { $time } is too short for { $steps ->
    [one] 1 step
   *[other] { $steps } steps
  }
plan-time-too-short-help = give at least { $least }, or run fewer steps
plan-scaled = { $time } instead of the full { $full }: intervals about { $width } times as wide
plan-scaled-rounds = { $time } instead of the full { $full }: intervals about { $width } times as wide, and { $rounds } rounds instead of { $usual } for steady state

# Study files.

study-io-question = What does this one load give?
study-streams-question = What do these loads give at once?
study-no-question = What does this give?
study-quick-question = How fast is this, and what stops it?
study-baseline-question = What does the plain interrupt path give, untuned?
study-pinning-question = Does binding threads to cores help, and until which queue depth?
study-qos-question = How long are the tails, and at which depth do they grow?
study-enterprise-question = How does each group behave under server loads at steady state, from light to heavy?
study-scaling-question = Does it grow with drives and with threads, and what stops it?
study-engines-question = Which I/O path is fastest here, and what does each cost in CPU?
study-tune-question = Does this setting help?
study-files-question = How many files a second does each file system make, look at and remove, and what does fsync cost?
study-surface-question = How much reading beside how much writing keeps the latency?
study-commit-question = How many durable commits a second, how long is one, and what sets it?
study-raid-question = What does each RAID level give of what its members allow, and where is the rest lost?
study-md-question = What does Linux md give of what its members allow, and what does the level cost without it?
study-snia-question = What are the figures after SNIA PTS, at steady state?

study-unknown = no study is called `{ $name }`
study-shipped = shipped studies: { $studies }; a plan of your own ends in .toml or .fio
study-quick-precondition = quick precondition: filled once and at most five short rounds; not a conditioning after SNIA PTS
study-too-many-steps = the plan has more than { $max } steps
study-too-many-steps-conditioned = the plan has { $steps } steps with its conditioning; { $max } is the maximum
study-too-many-steps-conditioned-help = shorten its lists, or lower settle_rounds
study-ladder-too-long = this ladder has more than { $max } steps
study-shorten-lists = shorten its lists
study-equal-cells = cells of a ladder that equal another cell of it are run once: { $count } left out
study-left-out = left out: { $why }
study-needs-members-help = name each member: --target /dev/nvme0n1 --target /dev/nvme1n1 ..., four for all levels
study-no-such-part = this study has no part called `{ $part }`
study-parts-without-names = its ladders have no names; leave --only out
study-target-is-no-knob = targets are not a knob
study-compare-groups = compare targets as groups: --group A=T --group B=T
study-set-target-help = use --target, or --group NAME=TARGET,TARGET
study-unknown-side = `{ $key }` is neither a knob nor a setting of the host
study-host-settings = settings of the host: { $settings }
study-versus-own-axis = the study goes through several values of { $key } itself
study-versus-own-axis-help = give it one value first: --set { $key }=VALUE
study-same-sides = this changes nothing: both sides would be the same
study-same-sides-help = give the value that the study does not have already
study-needs-versus = this study compares a setting, and none is named
study-needs-versus-help = name what to compare: --versus KEY=VALUE with a knob such as engine=libaio
study-needs-versus-or-setting-help = name what to compare: --versus KEY=VALUE with a knob such as engine=libaio, a setting of the host ({ $settings })
study-groups-expected = groups may be "targets": each target is a group of its own
study-switch-expected = { $name } is true or false
study-unknown-need = a study may need "versus" or "members"
study-not-streams = a ladder's streams are two tables or more
study-not-streams-help = write [[ladder.stream]] before each, with a name; one load alone needs none
study-stream-name = each stream has a name of its own
study-stream-name-help = write for example name = "log"
study-stream-share = stream { $name } has a rate that is a share: beside other loads nothing says of what
study-stream-share-help = give the rate in I/Os per second
study-streams-in-turns = streams go neither with interleave, rounds nor --versus
study-streams-in-turns-help = leave it out, or compare two runs with fathom compare
study-text-expected = a text is expected here
study-texts-expected = a text, or a list of texts, is expected here
study-whole-expected = a whole number from { $min } to { $max } is expected
study-knob-expected = the name of a knob is expected here
study-knob-expected-help = outermost = "read_pct"
study-is-a-table = `{ $table }` is a table
study-is-a-table-help = write [{ $table }]
study-wrong-type = { $key }: { $kind } makes no sense here
study-wrong-type-help = give a text, a whole number, or true and false
study-min-and-max = runtime: both min and max are needed
study-min-and-max-help = {"{"} min = "2s", max = "10s" {"}"}
study-list-in-defaults = a list is a ladder's: defaults hold single values
study-list-in-defaults-help = move it into a [[ladder]]
study-list-help = a list looks like iodepth=[1, 2, 4]
study-empty-list = an empty list makes no step
study-empty-list-help = give at least one value
study-not-a-ladder = a ladder is written [[ladder]]
study-no-knob-of-ladder = `{ $word }` is not a knob of this ladder, or is named twice
study-no-knob-of-ladder-help = name each knob of the ladder once
study-outermost = `{ $key }` cannot be outermost of a ladder with rounds, or that interleaves it
study-outermost-help = leave `outermost` out
study-rounds-without-track = rounds need to know which figure must become steady
study-rounds-without-track-help = add track = {"{"} metric = "iops" {"}"}
study-track-is-a-table = track is a table
study-track-is-a-table-help = track = {"{"} metric = "iops", bs = "4k" {"}"}
study-unknown-figure = unknown figure `{ $figure }`
study-no-such-cell = { $key } = { $value } is not a cell of this ladder
study-no-such-cell-help = name knobs and values that the ladder has
study-target-and-group = both --target and --group were given
study-target-and-group-help = put all targets into groups
study-bad-group = group `{ $group }` is empty or named twice
study-bad-group-help = --group NAME=TARGET,TARGET
study-no-target-help = name a file or device: --target PATH, or `target` in [defaults]

# Labels of steps and of the sides of a comparison.

label-workload = { $blocks } { $order } { $operations }
label-sequential = sequential
label-random = random
label-order-unknown = in unknown order
label-random-repeating = random (repeating)
label-zipf = zipf { $theta }
label-hotspot = hotspot { $access }/{ $space }
label-read = read
label-write = write
label-trim = trim
label-mix = { $read }/{ $write }
label-trim-and-write = trim + write
label-write-trim = write { $write }/trim { $trim }
label-read-write-trim = read { $read }/write { $write }/trim { $trim }
label-load = { $workload } T{ $threads } QD{ $depth }
label-load-over = { $workload } T{ $threads } over { $targets } QD{ $depth }
label-load-on-all = { $workload } T{ $threads } on all { $targets } QD{ $depth }
label-reads-at = reads { $reads }
label-writes-at = writes { $writes }
label-reads-and-writes = reads { $reads } + writes { $writes }
label-at-share = { $load } at { $share } of max
label-at-rate = { $load } at { $iops }/s
label-at-rates = { $load } at { $reads } reads/s + { $writes } writes/s
label-reads-limited = { $load }, reads <= { $reads }/s
label-writes-limited = { $load }, writes <= { $writes }/s
label-purge = purge
label-purge-by = purge by { $means }
label-fill = fill
label-precondition = precondition { $workload }
label-pass = { $label }, pass { $number } of { $of }
label-part = { $label }, part { $number } of { $of }
label-stream = { $name }: { $label }
stream-verify-shared = stream { $writer } writes { $target }, which stream { $verifier } verifies
stream-verify-shared-help = give each of them a target of its own, or leave out verify
label-stream-alone = { $name } alone: { $label }
label-with = { $label } { $what }
label-unregistered = unregistered
label-fixed-buffers = fixed buffers only
label-fixed-files = fixed files only
label-pinned = pinned
label-pinned-to-siblings = pinned to siblings
label-local = local
label-remote = remote
label-nodes = nodes { $nodes }
label-cpus = cpus { $cpus }
label-drives = { $drives ->
    [one] 1 drive
   *[other] { $drives } drives
  }
label-ranks = { $ranks ->
    [one] 1 rank
   *[other] { $ranks } ranks
  }
label-buffered = buffered
label-compressible = compressible { $share }
label-dedupe = dedupe { $share }
label-over = over { $size }
label-from = from { $offset }
label-verified = verified
label-fresh-file = fresh file
label-sparse-file = sparse file
label-submits-by = submits by { $ios }
label-waits-for = waits for { $ios }
label-reaps-by = reaps by { $ios }
label-quick = quick
label-round = round { $number }
arm-parts = { $parts }
arm-as-in-study = { $key } as in the study
arm-as-found = { $key } as found

# Jobs of fio: what has no effect, what is not supported, where both differ.

fio-logs = no log file is written; the lab has every interval: `fathom export --format fio-log` writes the logs
fio-latencies = Fathom always records slat, clat and lat of every I/O
fio-layout = Fathom lays out its own file, written before it is read, and removes it
fio-not-a-fallocate = `{ $text }` is not a way to give a file its space
fio-threads = Fathom always runs threads
fio-group-reporting = the threads of a step are always reported together
fio-new-group = each step is reported by itself
fio-percentiles = the whole histogram is kept; the ladder p50 to p99.999 is shown
fio-clock = Fathom chooses its clock and states it
fio-digits = three significant digits are shown, all are exported
fio-disk-util = the counters of the target's device are always read
fio-stats = each step is always reported
fio-invalidate-once = the page cache is emptied before the step; fio empties it again for each pass over a file, so that a small file stays cold there
fio-unified = reads and writes are reported apart and together
fio-nonvectored = Fathom's I/Os are never vectored
fio-userspace-reap = Fathom reaps from the ring in user space where the kernel offers it
fio-no-repeats = write data does not repeat anyway
fio-seed = Fathom's offsets repeat with their seed: set randseed to change them
fio-steady = with time_based the runtime counts; it is not ended when it is steady
fio-bandwidth = no lowest bandwidth is kept watch over
fio-generator = Fathom has its own generator; it visits each block once, unless norandommap
fio-two-rates = rate and rate_iops cannot both hold
fio-two-rates-help = leave out one of them
fio-bandwidth-of-step = rate={ $text } of each job and direction is { $rate } in all, { $iops } of these sizes
fio-verify-backlog = blocks are verified once all of them are written
fio-commands = no commands are run from a job file
fio-commands-help = run them yourself before and after
fio-trace-streamed = traces are always read as a stream
fio-trace-missing = there is no trace to replay
fio-trace-missing-help = name one with read_iolog, or remove the line
fio-trace-says = the trace of read_iolog says it itself: `{ $key }` would contradict it
fio-trace-one = a job replays one trace from a file
fio-trace-one-help = write a section for each trace, with numjobs=1
replay-empty = the trace holds no read, write or trim
replay-no-target = the trace names devices by their numbers there ({ $devices }), which may be any drive here
replay-targets = { $named } targets are named for the { $files } files of the trace
replay-targets-help = name one target for all of it (replay_redirect=/dev/...), or one for each of its files in their order (filename=a:b)
replay-unaligned = places and lengths of the trace are multiples of { $bytes } bytes, which direct I/O does not take
replay-unaligned-help = remove direct=1
replay-verify = a trace has no content that could be verified
replay-verify-help = remove verify
replay-found = trace: { $ios } I/Os ({ $reads } reads, { $writes } writes, { $trims } trims) and { $syncs } syncs within { $time }
fio-remove = remove it
fio-cpumask = CPUs are named by list
fio-cpumask-help = use cpus_allowed=0-3
fio-rate-min = a rate that cannot be sustained is reported, it does not end the step
fio-rate-cycle = arrivals are kept one by one, not by window
fio-full-queue = the queue is kept full
fio-one-file-help = name the files in filename=a:b
fio-filesize = the file is as large as its region
fio-filesize-help = use size
fio-kb-base = 4k is always 4096 bytes
fio-kb-base-help = remove it and write sizes as 4k
fio-verify-fatal = a block that is wrong is counted and shown, and the step goes on
fio-max-latency = a slow I/O is recorded, it does not end the step
fio-mounted = mounted drives are never written
fio-mounted-help = use a file on it, or another drive
fio-pre-read = the page cache is not warmed
fio-submit-mode = in an open loop latency counts from the intended start, whichever thread submits
fio-overlap = overlapping I/Os are not held back
fio-cmd-type = only NVMe commands are passed to the drive
fio-continue-on-error = errors are counted and the step goes on
fio-ignore-error = every error is counted and shown
fio-no-equivalent = Fathom has no equivalent
fio-no-equivalent-help = remove it, or run this job with fio

fio-think-issue = I/Os are counted as they complete
fio-think-time = pauses are counted by I/Os, not by time
fio-think-time-help = use thinktime_blocks
fio-verify-async = blocks are checked by the thread that read them
fio-verify-whole = a block is checked as a whole
fio-fills-space = fill_device: a file that is made takes what its file system has free but for 128 MiB; one that is there is written to its end
fio-wait-for = no section before this one is called { $name }
fio-wait-for-help = name an earlier section
fio-wait-for-itself = a job cannot wait for itself
fio-wait-for-several = several sections before this one are called { $name }
fio-wait-for-several-help = give each a name of its own
fio-wait-for-one = { $name } runs beside { $beside }: waiting for one of them alone is not supported
fio-wait-for-one-help = let { $beside } have a stonewall or a wait_for too, or use startdelay
fio-never-runs = [{ $section }] never runs: exit_what=all of [{ $by }] ends the run
fio-exit-what = exit_what={ $word } is not known
fio-exit-what-help = group, stonewall or all
fio-not-supported = fio's `{ $key }` is not supported: { $why }
fio-include = `include` names no file
fio-include-help = write include FILE
fio-include-unread = cannot read the included file { $path }: { $error }
fio-include-unread-help = give its path from the current folder, or from the folder of this file
fio-include-circle = { $path } includes itself, or files are nested deeper than 16
fio-include-circle-help = remove this include
fio-include-section = an included file has no sections of its own
fio-include-section-help = move the section into the job file
fio-unknown-number-help = this number of the machine is not known; write the number itself
fio-arithmetic = cannot compute { $text }
fio-arithmetic-help = use whole numbers, sizes such as 4k, and + - * / ( )
fio-engine-not-built-in = ioengine={ $engine } is not built in
fio-engine-not-built-in-help = use libaio, io_uring, psync or mmap
fio-format-repeats = filename_format={ $format } gives several files of the job one name
fio-format-repeats-help = use $jobnum and $filenum in it
fio-command-terse = terse version { $text } does not exist
fio-command-terse-help = use 2, 3, 4 or 5
fio-command-value = { $key } takes no value, but has { $value }
fio-command-value-help = write { $key } alone
fio-unlink = files of a job stay
fio-unlink-help = remove them after the run
fio-share-of-several = several files have other sizes each
fio-share-of-several-help = give the bytes, or each file a section of its own
fio-filesize-increment = with filesize, clones of the job have regions of other sizes
fio-filesize-increment-help = use size, or a section for each
fio-file-twice = filename names { $name } twice
fio-file-twice-help = name each file once, or use a section for each
fio-io-size-of-several = fio ends it by another rule with loops or several files
fio-io-size-of-several-help = use number_ios, or leave out loops
fio-no-job = the job file holds no job
fio-no-job-help = add a section, e.g. [job], besides [global]
fio-too-many-jobs = the job file has more than { $max } jobs, clones of numjobs included
fio-too-many-steps = the job file has more than { $max } steps
fio-too-many-steps-help = split it
fio-command-refused = fio's { $option } is not supported
fio-command-refused-help = run it with fio itself, or without this option
fio-command-format = fio's output format { $format } is not supported
fio-command-format-help = use normal, json, json+ or terse; separate several with commas
fio-no-such-section = no section is called { $name }
fio-no-such-section-help = there are { $sections }
fio-needs-a-value = `{ $key }` needs a value
fio-needs-a-value-help = write { $key }=...
fio-section = a section is written [name]
fio-section-help = close it with `]`, one per line
fio-key-before-section = a key stands before the first section
fio-begin-with-global = begin with [global]
fio-key-and-value = a key and a value belong around `=`
fio-key-and-value-help = e.g. iodepth=32
fio-open-variable = `${"{"}` is not closed
fio-open-variable-help = write ${"{"}NAME{"}"}
fio-unset-variable = the variable `{ $name }` is not set
fio-unset-variable-help = run it as { $name }=... fathom run ...
fio-sections-at-once = sections { $sections } run at once in fio: one step over their files
fio-no-such-engine = ioengine={ $engine } is not supported: Fathom has no such engine
fio-several-directories = several directories are not supported
fio-uneven-folders = of these equal jobs more work in one folder than in another
fio-uneven-folders-help = give each folder as many jobs, or part them by stonewall
fio-one-open-file = a thread has one file open at a time
fio-unique-names = each thread has files of its own
fio-stat-type = files are looked at by statx
fio-no-file = filename names no file
fio-no-file-help = e.g. filename=a:b
fio-file-per-job = [{ $section }] has no filename: fio gives each of its { $jobs } jobs a file of its own
fio-not-a-time = runtime: `{ $text }` is not a time
fio-not-a-time-help = e.g. 30 or 30s
fio-time-based = time_based needs a runtime
fio-time-based-help = add runtime=30s
fio-no-effect = { $key } has no effect with { $with }
fio-ends-after-size = without time_based a job ends after its size (however long that takes), as in fio
fio-ends-after-size-or-runtime = without time_based a job ends after its size (or its runtime), as in fio
fio-not-a-rate = rate_iops: this is not a rate
fio-rate-help = e.g. rate_iops=1000, or rate_iops=700,300 for reads and writes
fio-rate-of-step = rate_iops={ $text } of each fio job is { $total } for the step
fio-defaults = fio's defaults apply where the job says nothing: { $defaults }
fio-kib = { $key }={ $value }: fio reads KiB as 1000 bytes (kb_base=1024), and so does Fathom here; write 4k for 4096 bytes
fio-verify = verify: Fathom's blocks have a format of their own, not fio's
fio-unknown-policy = unknown policy `{ $policy }`
fio-shared-cpus = cpus_allowed: fio lets each job run on any CPU of the list (cpus_allowed_policy=shared); Fathom pins thread i to the i-th CPU

fio-lacks-cores = one thread per physical core: name the CPUs with cpus_allowed
fio-lacks-smt = threads on both siblings of each core: name the CPUs with cpus_allowed
fio-lacks-local = threads on the target's NUMA node: name the CPUs with cpus_allowed
fio-lacks-remote = threads on another NUMA node than the target's: name the CPUs with cpus_allowed
fio-lacks-pair = reads and writes due at shares of what was measured before: name that with rate_iops
fio-lacks-share = due at { $share } of the IOPS that the closed loop gave before: name that with rate_iops
fio-lacks-stages = a rate that changes from stage to stage: fio keeps the mean of them
fio-lacks-adaptive = ended from { $floor } on once its intervals were narrow

# Jobs that fio runs.
label-by-fio = { $engine } by fio
label-by-spdk = { $engine } by spdk
cross-check-left-out = { $step }: not given to spdk_nvme_perf: { $why }
cross-check-spdk-drives = it has one drive for each thread
cross-check-spdk-mix = it does not tell the reads of a mixed load from its writes, and has no trims
cross-check-spdk-sizes = it has blocks of one size
cross-check-spdk-pattern = it has random blocks, each as likely as the others, and blocks in a row from a single thread
cross-check-spdk-region = it works on the whole of a drive, and this load on a part
cross-check-spdk-plain = it has no rates, pauses, syncs, passes or checks of data
fio-by-fio = [{ $section }] is run by the installed fio ({ $engine }): guarded, sampled and judged alike; what limits it is not probed
fio-by-fio-refused = fio's `{ $key }` is not given to fio: { $why }
fio-by-fio-refused-help = remove it, or run the job with fio alone
fio-by-fio-program = it runs a program that nothing here can guard
fio-by-fio-setting = it changes the host in a way that would not be put back
fio-by-fio-other-files = it makes fio touch files that nothing here can guard
fio-by-fio-own-names = this engine makes files of its own, in a new folder that is removed at the end
fio-by-fio-own-names-help = name their folder by `directory`
fio-by-fio-engine = what ioengine={ $engine } touches is not known, so fio is not let loose on it
fio-by-fio-engine-help = known are { $engines }
fio-by-fio-remote = ioengine={ $engine } writes to storage elsewhere, where nothing can say what it destroys
fio-by-fio-remote-help = read only, or run the job with fio alone
fio-by-fio-files = a job has at most { $max } files here
fio-by-fio-files-help = lower `nrfiles`, or give its files by an engine that makes them itself (filecreate)

# Arrays in user space by their names

array-level = there is no array of level { $word } in user space
array-level-help = raid0, raid10 (for two members: a mirror), raid5 and raid6 are there, each also as made by Linux md: md-raid5
array-rebuild = { $member } cannot be rebuilt beside the load of this array
array-rebuild-help = one member of a level with redundancy is rebuilt beside the load: 50m+/dev/sdd (at most 50 MiB of it a second) or full+/dev/sdd; without a load: fathom rebuild
array-form = { $name } is not the whole name of an array
array-form-help = write LEVEL:CHUNK:MEMBER,MEMBER..., for example raid5:64k:/dev/sdb,/dev/sdc,/dev/sdd
array-chunk = { $text } is no chunk that an array can have
array-chunk-help = give a power of two from 4k to 64m, for example 64k
array-too-few = { $level } needs { $min } members, and { $count } are named
array-too-few-help = name more members, or a level that needs fewer
array-too-many = { $count } members are more than the { $max } that an array can have
array-too-many-help = make several arrays and name each as a target
array-twice = { $member } is a member of the array twice
array-twice-help = name each member once
array-kind = a member is named "{ $member }"
array-kind-help = members are files, block devices, or the word missing
array-too-many-missing = { $level } cannot do without the members that are missing: { $count }
array-too-many-missing-help = name the members that are there; raid5 does without one, raid6 without two, raid10 without one of each pair
