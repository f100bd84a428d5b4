# fathom-lab

unknown = unknown

activity-written = { $done } of { $total } written
activity-making-files = making files: { $done } of { $total } for each thread
activity-laying-out = laying out { $path }: { $done }
activity-formatting = { $target } formats itself for { $elapsed }
activity-formatting-done = { $target } formats itself for { $elapsed }, { $done } done
activity-sanitizing = { $target } sanitizes itself for { $elapsed }
activity-sanitizing-done = { $target } sanitizes itself for { $elapsed }, { $done } done
activity-discarded = { $done } discarded on { $target }
activity-discarded-of = { $done } of { $total } discarded on { $target }

target-must-exist = target { $target } does not exist, and allow_file_create=0 lets none be made
target-must-exist-help = name a file or device that exists, or leave out allow_file_create
target-missing = target { $target } does not exist, and neither does its folder
target-missing-help = name an existing file, a folder to make a test file in, or a block device
target-no-match = no target matches { $name }
target-pattern-help = nothing matches it; quote a pattern so that the shell leaves it alone
target-serials-help = serial numbers here: { $serials }
target-no-serials-help = no drive of this machine has a serial number
target-serial-of-several-help = several drives have this serial number; name one by its path: { $paths }
target-kind = target { $target } is { $kind }; Fathom measures regular files, folders, block devices and NVMe namespaces
target-array-by-fio = { $target } is an array in user space, and fio runs this job
target-array-by-fio-help = give the job an engine of Fathom: psync, libaio or io_uring
target-partly-made = of the members of { $target } some are there and others are not
target-partly-made-help = make all of them or none beforehand; a member that is lost is called missing
target-kind-help = use the block device (for example /dev/nvme0n1) or a file
target-no-space = { $path } needs { $need }, and its file system has { $free } free
target-no-space-help = free some space, or ask for less: --size { $size }
target-no-space-at-all-help = free some space, or name a folder on another file system
target-too-many-open = the targets take { $need } open files, and this process may have { $limit }
target-too-many-open-help = raise the limit (ulimit -n { $need }), or lower nrfiles or threads
target-too-small = target { $target } has { $have } bytes, and the plan touches { $need }
target-too-small-help = ask for less: --size { $size }, or let Fathom make a new file
target-too-small-simulated-help = ask for less: --size { $size }
target-empty-help = the file is empty: name its folder, or a file that does not exist, and Fathom makes one
target-not-ours = { $path } is not the file that the run made: it was replaced by another
target-not-ours-help = nothing was changed; move that file away, or begin a new run
target-io = cannot prepare { $path }: { $error }
target-io-help = check that you may write there
target-read-only-help = the file system is read-only: name a folder on a writable one
target-mixed = { $simulated } and { $other } are not on the same machine
target-mixed-help = give each its own run, and compare the two: fathom compare RUN RUN
target-full-of-real = --full simulates all the time that steps ask for, and { $target } is real
target-full-of-real-help = leave --full out: what is measured always takes its time
target-null = target `null` has no data: it goes with engine null, not { $engine }
target-null-help = name a file or device with --target, or use --engine null
target-useless-consent = --destroy { $value } has no effect: this run writes to no device of that name
target-overwritten = { $path } exists: it is overwritten in place and kept
target-no-new-file = new_files={ $word } has no effect on { $path }: it was there before
target-not-allocated = { $path } did not get its space before the load ({ $why }): each write gets it
new-file-is-used = new_files={ $word } asks for a new file, and an earlier step of the run used it
new-file-is-used-help = measure each state in a run of its own
target-leftover-removed = removed { $path }, left behind by a run that was killed
leftover-abandoned = { $path } is left over from run { $run }
leftover-abandoned-help = remove it: fathom restore
leftover-in-use = { $path } of run { $run } is in use
leftover-resumable = { $path } is kept for run { $run }, which can be resumed
leftover-resumable-help = resume the run: fathom run --resume { $run }; or delete run and file: fathom rm { $run }
leftover-database = { $path } is a database left by fathom oltp
leftover-database-help = check the database: fathom oltp --check { $path }; or delete the folder
leftover-unreachable = { $path } cannot be reached: its file system is not mounted, or you may not write there
leftover-unreachable-help = mount the file system and run fathom restore again
leftover-unreachable-run-help = mount the file system and run fathom restore again; or delete the run: fathom rm { $run }
leftover-gone = { $path } no longer exists

drive-none = none
drive-described = model { $model }, serial { $serial }, { $size } bytes
drive-described-namespace = model { $model }, serial { $serial }, namespace { $namespace }, { $size } bytes
drive-without-serial = { $name }, model { $model }, without a serial number, { $size } bytes
drive-part = part { $part } of { $drive }
drive-is-another = the drive behind { $path } was { $was } and is { $is }
drive-lost = the drive behind { $path } was { $was }; { $why }, and there is no { $path }
drive-lost-replaced = the drive behind { $path } was { $was }; { $why }, and { $path } is now { $is }
drive-other-of-serial = with this serial number there is { $name }: { $drive }
drive-serial-not-here = no drive with this serial number is here
drive-ambiguous-then = when the run began { $count } drives had this serial number, model and size
drive-ambiguous = { $names } have the same serial number, model and size, so none of them can be identified
drive-is-now = { $target } of the run is { $path } now (serial { $serial })
drive-path-now = { $path } now, serial { $serial }

host-facts-unreadable = what is stored of its machine cannot be read ({ $error })
host-other-processor = the processor was { $was } and is { $is }
host-other-cpus = the number of CPUs was { $was } and is { $is }
host-other-kernel = the kernel was { $was } and is { $is }
host-other-memory = main memory was { $was } and is { $is }

layout-no-space-help = free space on the file system, or ask for a smaller --size

machine-file-unreadable = cannot read machine file { $name }: { $error }
machine-unknown = there is no simulated machine `{ $name }`
machine-unknown-help = A file of your own ends in .toml; shipped: { $names }
machine-no-part = target { $target }: { $why }
machine-no-part-help = fathom machines show { $machine } lists its drives and arrays
simulated-caveat-shortened = SIMULATED on machine { $machine }, in virtual time: no real device was read or written. Steps ended once their figures were known to { $within }, or after many I/Os: { $ran } of { $asked } were simulated; --full simulates all of it.
simulated-caveat = SIMULATED on machine { $machine }, in virtual time: no real device was read or written.

purge-no-consent = there is no consent to write to it
purge-not-done = { $target } was not purged: { $why }
purge-of-a-file = it is a file, and { $means } is for NVMe drives
purge-hole = a hole over the whole region of the file
purge-no-discard = the target does not discard ({ $error })
purge-discarded = every block discarded: a declared substitute for NVMe Format or Sanitize
purge-discarded-because = every block discarded: a declared substitute for NVMe Format or Sanitize ({ $why })

run-begin-again-help = begin a new run: fathom run --like RUN
run-name-targets-help = name the targets to do it on: --target
run-goal-search = Searching the highest offered rate that keeps the latency goal:
run-settles = The plan is done; the time it left goes to what is not settled yet:
run-budget-used-up = the time budget is used up: no further rounds of this loop
run-drives-gone = run { $run } cannot be repeated with its own drives: { $lost }
run-file-gone = run { $run } cannot go on: { $path }, which it had conditioned, is gone
run-file-kept = { $path } is kept for: { $command }
run-host-unreadable = cannot read this machine's own counters: { $error }
run-laying-out = laying out { $path }
run-layout = cannot lay out { $path }: { $why }
run-not-again = run { $run } cannot go on: { $step }, which ended before, cannot be simulated again: { $why }
run-other-host = run { $run } cannot go on here: { $differences }
run-other-ranks = run { $run } was begun with { $was } ranks and cannot go on with { $now }
run-other-ranks-help = resume with as many ranks or fewer: `mpirun -n { $was } fathom-mpi run --resume { $run }`
run-one-process-help = resume with one process: `fathom run --resume { $run }`
run-screening = screening { $screens } short steps, to predict { $steps }
run-screen-failed = { $step } gave no figures: { $why }
run-nothing-predicted = nothing could be predicted of these steps

setting-had-value = had this value already
setting-instead-of = { $to } instead of { $from }

step-missing-drives = it wants { $wanted } drives and group { $group } has { $has }
step-streams-simulated = a simulated machine runs one load at a time
step-streams-simulated-help = run the streams on real files or drives, or one after the other
step-missing-drives-help = name more drives with --target, or leave the step out: --set devices=[...]
step-missing-rates = its rates are shares of the most reads and writes of a closed loop, and not both were measured
step-missing-rate = its rate is { $pct } % of the highest IOPS of a closed loop of the same load, and none was measured
step-missing-rate-help = see why those steps were refused or failed, or give rates in IOPS: --only LADDER --set rate_iops=[20000, 40000]
step-mode-on = mode { $mode } on { $targets }
step-not-sampled = cannot sample this machine
step-simulated-setting = a simulated machine has no setting { $settings }
step-simulated-setting-help = change the machine file instead and compare the two runs, or name a real target

## Warnings of a step

warning-engine-overhead = Fathom's own loop and its batch stamps are up to { $share } of the mean latency; `--paranoid` stamps each I/O.
warning-littles-law = Little's law is violated: IOPS x mean latency = { $computed }, but the queue depth is { $depth }. Do not trust the latencies of this step.
warning-diskstats-more = The kernel counted { $kernel } I/Os on { $devices }, Fathom { $ours }: another program used the device, or I/Os were split; stop that program, or measure a device that nothing else uses.
warning-diskstats-fewer = The kernel counted { $kernel } I/Os on { $devices }, Fathom { $ours }: I/Os were merged, or did not reach the device.
warning-unwritten-space = { $share } of the region was never written: such reads may not reach the media.
warning-page-cache = The page cache held { $cached } of the target: these figures are not the drive's alone.
warning-small-footprint = The footprint of { $footprint } may fit a drive's cache; a larger `--size` shows the media.
warning-wide-interval = The 95 % interval is still ±{ $half } when the time was up; a longer run narrows it.
warning-not-steady = Not steady: IOPS drifted by { $drift-figure } % a minute over the window.
warning-rate-unsustainable = The rate of { $intended } is not sustainable: { $achieved-figure } were done and the backlog grew, so latencies mean nothing and are not shown.
warning-replay-late = I/Os of the trace began { $late } late on average, while { $gap } lie between two of them: a higher iodepth, a faster engine or replay_time_scale below 100 keeps its times.
warning-io-errors = { $count ->
        [one] 1 I/O
       *[other] { $count } I/Os
    } failed; the first: { $cause }.
cause-short-transfer = less was moved than asked, as at the end of a target; a drive that was pulled has no bytes left
warning-noisy-host = The host was noisy: { $stolen } of the CPU time was stolen by the hypervisor and { $cores } were busy with other work.
warning-array-syncing = { $array } was busy beside the load: md ran a { $action } over all of it, so that the figures are of both. Wait until /proc/mdstat shows none. What a slower one leaves: fathom run tune --target /dev/{ $array } --versus sync_speed_max=5000
warning-array-degraded = { $array } lacks { $count } of its members: the figures are those of a degraded array
warning-member-lost = { $array } lost its member { $member } ({ $error }) and went on without it: the figures are of a whole and of a degraded array. What { $member } holds is out of date: call it missing from now on.
warning-migrated = Thread { $thread } was pinned but seen on another CPU.
warning-clock-drift = The TSC drifted { $drift } against CLOCK_MONOTONIC.
warning-verify-failed = { $blocks ->
        [one] 1 block
       *[other] { $blocks } blocks
    } came back damaged: see the verification part of the step.
warning-slow-member = { $target } gives { $share } of the median of its group: look at its temperature, link and wear.
warning-cut-short = The time budget ended this phase at { $done }: what follows was measured on a drive that is conditioned in part only.
warning-interrupted = Stopped before its full length: the figures cover only what ran.
warning-throttled = { $what }: cool it and measure again, or read these figures as those of a hot drive.
heat-at = { $what } at up to { $celsius }
heat-level = { $device } says that it is slowed down by heat
heat-transition = { $device } began to slow down because of heat within the step
heat-critical-warning = { $device } warns of its temperature
heat-warning-temperature = { $device } reached the temperature from which it warns

## Consistency checks of a step

check-littles-law = IOPS x mean latency (and the ends of the window) = { $computed }, queue depth asked for = { $depth } ({ $error })
check-bytes = { $moved } bytes moved, I/Os x block = { $expected }, { $short } short
check-page-cache = { $cached } of the target in the page cache after the step
check-page-cache-passed = { $cached } of the target in the page cache after the step; the device moved all bytes, so the page cache answered for none
check-diskstats = the kernel counted { $kernel } on { $devices }, Fathom { $ours } ({ $error })
check-diskstats-buffered = { $counts }; buffered I/O need not reach the device
check-diskstats-excess = { $counts }; the device moved { $excess } more than this step asked for: another program likely uses it; stop that program, or measure a device that nothing else uses
check-buffers-accepted = the kernel accepted the buffers: { $detail }
check-buffers-refused = the kernel did not take the buffers: { $detail }
check-pinned = threads ran on CPUs { $cpus }, where they were bound
check-pinned-migrations = threads ran on CPUs { $cpus }, where they were bound; the scheduler counts { $times ->
        [one] 1 migration
       *[other] { $times } migrations
    }
check-thread-strayed = thread { $thread } was bound to CPU { $bound } and seen on CPU { $at }
check-no-thread-seen = no thread was seen on any CPU
check-polled = { $interrupts ->
        [one] 1 interrupt
       *[other] { $interrupts } interrupts
    } of the drive's queues for { $ios } polled I/Os
check-polled-shared = { $interrupts ->
        [one] 1 interrupt
       *[other] { $interrupts } interrupts
    } of the drive's queues for { $ios } polled I/Os, and others did { $others } I/Os on the drive
check-polling-unproved = the kernel shows no interrupts of the drive's queues, so polling is not proved
check-no-poller = the kernel shows no polling thread of this process
check-poller-window-short = the window is too short to see the polling thread's time
check-poller = the kernel's polling threads (iou-sqp) ran for { $busy }

## Modes that were not in force

proof-not-in-force = { $what } was not in force
proof-placement = placement { $placement } of { $step }
proof-placement-nodes = placement on NUMA nodes { $nodes } of { $step }
proof-placement-cpus = placement on CPUs { $cpus } of { $step }
proof-direct = O_DIRECT on { $targets }
proof-cache-grew = the page cache took up { $grown } of the target while { $moved } were moved past it
proof-iopoll-help = use mode interrupt, or a target the kernel polls: the drive itself, or a file on ext4 or xfs
proof-sqpoll-help = use mode interrupt or iopoll
proof-placement-help = keep tools that move threads (taskset, cpusets, CPU hot-unplug) away from the run, or run unpinned
proof-direct-help = the file system serves such I/O through memory: use ext4 or xfs, or ask for buffered I/O with `--direct 0`

## Steady state

steady-rounds = rounds { $first }..{ $last }
steady-not-achieved = NOT ACHIEVED
steady-quick = { $determination } (quick conditioning: not PTS)
steady-drift-over-window = { $drift } over its window{ $drift-ci }
steady-drift-over-rounds = { $drift } over five rounds{ $drift-ci }
steady-reached = Steady: drift { $drift }, at most { $margin } allowed.
steady-reached-after = Steady after its warm-up (the first { $warmup } of { $points } intervals): drift { $drift }, at most { $margin } allowed.
steady-warm-up-too-long = Not steady: more than half of it is warm-up.
steady-beginning-differs = Not steady: its beginning differs from its second half.
steady-level-changes = Not steady: its level changes { $times ->
        [one] once
       *[other] { $times } times
    }.
steady-level-left = Not steady: its level changes { $times ->
        [one] once
       *[other] { $times } times
    }; it was steady until interval { $at }.
steady-drifts = Not steady: it drifts by { $drift }.
steady-inconclusive = Inconclusive: drift { $drift } is too uncertain for a margin of { $margin }.

## The document of a run

doubt-contradicts = contradicts another published figure of the same load
doubt-garbled = garbled in print, read as this
doubt-round = a round figure

## The articles, redone

reproduce-not-foretold = nothing was foretold of { $step }
reproduce-unknown-article = no article is called `{ $name }`
reproduce-interrupted = interrupted: the table needs every step
reproduce-interrupted-help = run it again
reproduce-cell-help = a shipped file is at fault: please report it
reproduce-not-simulated = { $target } is not simulated
reproduce-nothing-ended = { $step } on { $target }: no I/O ended in its window
reproduce-points-without-steps = a picture has more points than steps were run
reproduce-contradiction = { $law }: { $formula } should give { $expected }, the ratio is { $ratio }
reproduce-garbled = it is garbled in print
reproduce-bogus = it cannot be right as printed

## Why a step has no interval of its IOPS

interval-too-few = fewer than { $least } intervals, too few to tell a memory from noise: needs { $needs }
interval-few-events = left its usual level { $seen ->
    [one] once
   *[other] { $seen } times
  } only, too seldom to know how often it does: needs about { $needs }
interval-drifts = changed by { $change } over the window: it has no mean that would last
interval-rare-events = other steps of the run were disturbed every { $period } or so, which this one was too short to see: needs about { $needs }
run-floor-learnt = { $step }: runs for { $floor } at least, because steps before it were disturbed every { $period } or so
run-floor-beyond-budget = { $step }: needs { $floor }, because steps before it were disturbed every { $period } or so, and may run for { $budget }: it will hardly have an interval

lab-thread-of-two-nodes = placement { $placement }: a thread drives targets of several NUMA nodes
lab-thread-of-two-nodes-help = name the targets of one node, or give each target threads of its own (spread=each_target)

# Calls of fio.
fio-run-what = running { $steps }
fio-run-missing = no fio is installed
fio-run-missing-help = install it (`apt install fio`, `dnf install fio`), or leave out --with-fio
fio-run-not-on-this-system = on Windows a program that Fathom starts would outlive it
fio-run-not-on-this-system-help = run fio itself with --output-format=json+ and take its figures in with `fathom import`
fio-run-place-help = fio is given links in the folder for temporary files, and a folder in the target: both must be writable
fio-run-replaced = fio put a file of its own at { $path } in place of the target
fio-run-replaced-help = its `size` is larger than what is there: lower it, or name a larger file
fio-run-failed = fio ended with { $status }: { $said }
fio-run-failed-help = try the job with fio alone; what it was given stands in the plan (`fathom show RUN --json`)
fio-run-by = measured by { $version }; its own time for each I/O is part of the figures
fio-run-window = the host was watched for { $window }, of which fio measured { $measured }: what the host did in between counts too
fio-run-late = fio did not end in its time and was ended
fio-run-no-space = its files need { $need }, and { $have } are free
fio-run-no-space-help = lower `nrfiles`, `filesize` or `size`, or name another folder
fio-run-no-files = { $need } files are to be made, and the file system has room for { $have } more
fio-run-no-files-help = lower `nrfiles`, or name another folder
spdk-run-missing = no spdk_nvme_perf is installed
spdk-run-not-there = { $variable } names no file
spdk-run-missing-help = build SPDK and put its build/bin into PATH, or name the program: { $variable }=/opt/spdk/build/bin/spdk_nvme_perf
spdk-run-not-on-this-system = SPDK has no drives here
spdk-run-not-on-this-system-help = run it on Linux, or take in what it printed with `fathom import`
spdk-run-activity = no figures before its end
spdk-run-region-help = leave out `size` and `offset`
spdk-run-cpus = spdk_nvme_perf binds each of its threads to a CPU of its own: { $threads } threads, { $cpus } CPUs
spdk-run-cpus-help = fewer threads (numjobs), or other CPUs
spdk-run-failed = spdk_nvme_perf ended with { $status }: { $said }
spdk-run-no-table = spdk_nvme_perf printed no figures that are known; it may be too old, or newer than this: { $said }
spdk-run-other-load = spdk_nvme_perf says { $rows } lines of figures, which are not those of { $threads } threads on { $address }
spdk-run-failed-help = try it alone: `fathom nvme bind`, then the program with -r 'trtype:PCIe traddr:ADDRESS'; `fathom import` takes in what it prints
spdk-run-late = spdk_nvme_perf did not end in its time and was ended
spdk-run-stopped = spdk_nvme_perf was ended before it had figures
spdk-run-by = measured by spdk_nvme_perf, with its threads on CPUs { $cpus }
spdk-run-window = the host was watched for { $window }, of which spdk_nvme_perf measured { $measured }: its start-up counts in the CPU time too
lab-files-folder = { $path } is no folder, and files are to be made in one
lab-files-fewer = { $made } files per thread instead of { $asked }: creating more would exceed the time budget
lab-files-folder-help = name a folder of the file system as target
lab-files-place-help = the folder must be writable: files are made in a new folder within it, which is removed at the end

# Drives in user space.
take-not-nvme = { $target } is no whole namespace of an NVMe drive
take-namespaces = { $target } has { $count } namespaces
take-namespaces-help = name one of them by its block device (/dev/nvme0n1)
take-no-block-device = the kernel has no block device at { $target }
take-no-block-device-help = a run judges a drive through the kernel before it takes it: give it back first (`fathom nvme unbind`), and allow the run to take it (`--allow-unbind SERIAL`)
take-other-drive = what answers as { $target } is another drive than the one that was judged
take-other-drive-help = check with `fathom nvme status`; resume with `fathom run --resume` once the drives are back in their places
take-writes-to-bound = { $target } was bound before the run, so that nobody judged what is on it: it is read and not written
