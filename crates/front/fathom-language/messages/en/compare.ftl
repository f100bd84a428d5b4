# Runs set side by side (fathom-judge)

compare-run = run { $run }
compare-runs = runs { $list }
compare-too-few = a comparison needs at least two runs; { $given } given
compare-too-few-help = name the reference first, then the others: fathom compare 6 7
compare-nothing-matches = no step of run { $b } does what a step of run { $a } did; there is nothing to compare
compare-nothing-matches-help = compare runs of the same study or plan; `fathom run --like RUN` repeats one

## The answer

compare-answer = { $side } against { $reference }: { $result }
compare-nothing-on-both = no step was measured on both sides.
compare-one-faster = the step is faster.
compare-one-slower = the step is slower.
compare-one-same = the step is the same within { $margin }.
compare-one-inconclusive = the step is inconclusive.
compare-counts = of { $steps } steps { $counts }.
compare-count-faster = { $steps } faster
compare-count-slower = { $steps } slower
compare-count-same = { $steps } the same within { $margin }
compare-count-inconclusive = { $steps } inconclusive
compare-most-slower = Most slower: { $step }, { $change }{ $change-ci }.
compare-most-faster = Most faster: { $step }, { $change }{ $change-ci }.
compare-spread-runs = Spread from run to run: { $spread } at most, from the { $runs } runs compared.
compare-spread-ledger = Spread from run to run: { $spread } at most, from { $runs } runs of this kind of load on this host.
compare-inconclusive-some = { $count } of { $all } inconclusive steps: { $why }.
compare-inconclusive-because = Inconclusive: { $why }.
compare-why-one-draw = too few runs (A: { $a }, { $side }: { $b }); use three runs per side, or have three earlier runs of this load on this host
compare-why-unknown-host = { $side } does not say on which host it was measured, as imports do not, so its spread from run to run is not known
compare-why-one-leg = one side was measured only once, so its variation is unknown
compare-why-interval = the interval holds both a difference and none

## The first look

compare-besides = Differs besides: { $list }
compare-besides-more = Differs besides: { $list }; { $more } more
compare-besides-one = { $what } { $values }
compare-not-known = not known
compare-of-side = { $side } { $label }
compare-faster = faster
compare-slower = slower
compare-same = same
compare-inconclusive = inconclusive
next-three-runs = three runs per side: fathom compare 1,2,3 4,5,6

## Caveats and notes

compare-caveat-spread = The ratios scatter by { $spread } beyond their own errors: that is taken for the spread from run to run and widens each interval.
compare-caveat-mixed-side = The runs of { $side } differ among themselves: { $names }.
compare-caveat-environment = The sides differ in more than their figures: { $names }.
compare-caveat-noted = { $noted } of { $steps } steps have a note of their own.
compare-caveat-unmatched = { $steps ->
        [one] 1 step has no partner and was not compared.
       *[other] { $steps } steps have no partner and were not compared.
    }
compare-note-unsteady = { $side } was not steady over its window
compare-note-failed-ios = { $side } had failed I/Os
compare-note-no-interval = a side has no interval of confidence: too short, or imported without intervals
compare-note-differs = { $what } { $a } against { $b }
compare-note-rate = rate { $a-figure } against { $b-figure }

## Steps that were not compared

compare-no-pair = no pair was measured completely
compare-refused = refused: { $why }
compare-failed = failed: { $why }
compare-refused-on = refused on { $side }: { $why }
compare-failed-on = failed on { $side }: { $why }
compare-no-such-step = { $side } has no such step

## What differs besides the figures

compare-of-target = { $what } of target { $target }
compare-setting = { $name } of { $of }
compare-kernel = kernel
compare-cpu = CPU
compare-cores = physical cores
compare-sockets = sockets
compare-numa-nodes = NUMA nodes
compare-memory = memory, bytes
compare-governor = frequency governor
compare-other-work = CPUs busy with other work
compare-busy-cores = { $cores }
compare-clock-source = clock source
compare-hypervisor = hypervisor
compare-mitigations = CPU mitigations
compare-drive = drive
compare-serial = serial number
compare-firmware = firmware
compare-size = size, bytes
compare-transport = transport
compare-scheduler = scheduler
compare-nr-requests = nr_requests
compare-hw-queues = hardware queues
compare-poll-queues = poll queues
compare-write-cache = write cache
compare-logical-block = logical block, bytes
compare-numa-node = NUMA node
compare-polling = polling
compare-file-system = file system
compare-mount-options = mount options
compare-study = study
compare-engine = engine
compare-mode = mode
compare-placement = placement
compare-page-cache = page cache
compare-touched = bytes touched
compare-precondition = precondition
compare-bypassed = bypassed
compare-used = used
compare-all = all
compare-none = none
