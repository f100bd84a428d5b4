# The answers of studies (fathom-judge).

verdict-not-measured = Not measured: { $why }
verdict-host-lost = What the lab held of this machine is damaged: its drives and links, and what follows from them, are left out.
verdict-stand-in = { $system } ran this in the place of Windows: its figures are those of that program and say nothing of this drive or of Windows.
verdict-sides-question = Is one side faster than the other?
verdict-nothing-measured = Nothing was measured: no step completed an I/O.

# Kinds of load: 4k random reads.
verdict-kind-unknown-order = { $block } { $what }
verdict-any-ios = I/Os
verdict-any-io = I/O
verdict-kind = { $block } { $order } { $what }
verdict-kind-by-fio = { $engine } operations
verdict-kind-replay = a { $trace } ({ $what })
verdict-kind-of-group = { $kind } of { $group }
verdict-reads = reads
verdict-writes = writes
verdict-trims = trims
verdict-mixed = { $share } reads
verdict-one-read = read
verdict-one-write = write
verdict-one-trim = trim
verdict-one-mixed = { $share } read

# Loads, and figures beside them.
verdict-threads-depth = T{ $threads } QD{ $depth }
verdict-threads-depth-unknown = T? QD>={ $depth }
verdict-threads-unknown = T? QD{ $depth }
verdict-depth-unknown = T{ $threads } QD>={ $depth }
verdict-rate-asked = { $rate } asked
verdict-rate = { $rate }
verdict-depth = { $threads ->
    [1] QD { $depth }
   *[other] { $threads }x{ $depth }
  }
verdict-depths = QD { $first } to { $last }
verdict-every-load = every load
verdict-kind-at = { $kind } at { $load }
verdict-change = { $change }{ $change-ci }
verdict-change-without-interval = { $change } (no interval)
verdict-change-alone = { $change }
verdict-change-inconclusive = { $change }, inconclusive
verdict-change-same = { $change }, the same
verdict-list-more = { $list } and { $more } more

# What limits the best step of a kind.
verdict-limit = The limit is { $what }.
verdict-limit-probable = The limit is { $what } ({ $probability }).
verdict-limit-unknown = What limits it is not known.
verdict-limit-page-cache = That is the page cache, not the drive.
verdict-limit-one-core = one core
verdict-limit-cores = the cores of its threads

# What limits the trust in an answer.
verdict-step-skipped = { $step } was skipped: { $why }
verdict-step-refused = { $step } was refused: { $why }
verdict-step-failed = { $step } failed: { $why }
verdict-more-refused = { $count ->
    [one] 1 more step was refused or failed; the table names it.
   *[other] { $count } more steps were refused or failed; the table names each.
  }
verdict-not-steady = Not steady over their window: { $steps }.
verdict-state-changed = Drives changed state during: { $steps }. Steps before and after such a change do not compare.
verdict-left-steady = Left the steady state again while measured: { $steps }.
verdict-page-cache = The page cache may have answered part of: { $steps }; these are not the drive's alone.
verdict-check-failed = A consistency check failed in: { $steps }; see the checks of each step.
verdict-other-load = The device moved more than was asked for in: { $steps }; another program likely uses it: stop that program, or measure a device that nothing else uses.

# Any study: the best step of each kind.
verdict-gives = This storage gives { $rate }{ $rate-pm } of { $kind } at { $load }.
verdict-from-load = { $load } and more
verdict-loop-gives = The loop without I/O gives { $rate }{ $rate-pm } of { $kind } at { $load }.
verdict-median-latency = Median latency at { $load }: { $latency }{ $latency-ci }.
verdict-best = { $kind }: { $rate }{ $rate-pm } at { $load }.
verdict-best-mean = { $kind }: { $rate }{ $rate-pm } at { $load }, mean latency { $mean }{ $mean-pm }.
verdict-best-tail = { $kind }: { $rate }{ $rate-pm } at { $load }, mean latency { $mean }{ $mean-pm }, p99 { $p99 }{ $p99-pm }.
verdict-streams-together = { $streams } at once: { $rate } and { $bytes } together.
verdict-streams-more = { $more } more
verdict-streams-none-alone = No stream ran alone, so the cost of running together is not known: `fathom run --like { $run } --explain` runs each stream alone as well.
verdict-streams-some-alone = { $streams } did not run alone, so the cost of running together is not known for them: `fathom run --like { $run } --explain` runs each stream alone as well.
interval-stages = the rate changes on purpose
stages-of = { $kind }, whose rate changes with time.
stages-headline = { $peak }; { $calm }.
stages-headline-recovery = { $peak }; { $calm }; { $recovery }.
stages-headline-peak = { $peak }.
stages-headline-peak-recovery = { $peak }; { $recovery }.
stage-not-kept = { $asked } were not kept: { $backlog } I/Os left over
stage-p99 = p99 { $p99 } at { $asked }
stage-mean = mean { $mean } at { $asked }
stage-nothing = nothing at { $asked }
stage-rate = { $rate }
stage-rates = { $from } to { $to }
stage-recovered = as before after { $time }
stage-not-recovered = not as before within { $time }
stage-name = { $number }. { $asked } for { $time }
stage-cell-left = { $ios } left over
stage-gives = { $name }: { $rate } completed, { $what }.
stage-figure = p99 of stage { $number }, { $asked }
verdict-stream-at = { $name } { $load }
verdict-streams-cpu = Together they took { $cpu } of CPU time per I/O.
verdict-stream-title = { $name }: { $kind }
verdict-stream-gives = { $title }: { $what }.
verdict-stream-limit = Limit of { $name }: { $limit }
verdict-stream-of-alone = Next to the others { $name } gives { $times }{ $times-pm } its rate alone ({ $alone }); its mean latency is { $lat } the latency alone.
verdict-one-at-a-time = One { $kind } at a time: mean { $mean }{ $mean-ci }, p99 { $p99 }{ $p99-ci }.
verdict-one-at-a-time-mean = One { $kind } at a time: mean { $mean }{ $mean-ci }, p99 not known (too few I/Os).
verdict-cpu-cost = CPU cost at { $load }: { $cost }{ $cost-ci } per I/O over the whole host, so one busy core carries { $carried }; { $busy-figure } of { $cpus } cores were busy.
verdict-would-settle = { $step } would settle what the limit is; with --explain, or with more time, it is run as well.
verdict-help-queue-depth = { $kind }: more in flight; { $tried } was the most tried and IOPS still grew.
verdict-help-queue-depth-no-more = { $kind }: perhaps more in flight, though { $tried } gave no more here; a longer run (--runtime 3m) tells.
verdict-help-core = { $kind }: more threads on other cores, or an engine that costs less CPU per I/O.
verdict-help-all-cores = { $kind }: more or faster cores, larger blocks, or an engine that costs less CPU.
verdict-help-device = { $kind }: a faster device; nothing in the host limits it.
verdict-help-page-cache = { $kind }: `--direct 1` to see the drive instead of memory.
verdict-figure-most = Most { $kind }
verdict-figure-median = Median latency, { $kind }
verdict-figure-per-core = IOPS per busy core

# baseline
verdict-plain-path = This is the plain path: { $engines }, interrupts, nothing pinned or tuned.
verdict-not-plain-path = This is not the plain path any more: { $engines }, changed on the command line.
verdict-alone = { $rate }{ $rate-pm } one at a time
verdict-alone-mean = { $rate }{ $rate-pm } one at a time (mean latency { $mean }{ $mean-pm })
verdict-alone-and-most = { $kind }: { $alone } and { $rate }{ $rate-pm } at most, at { $load }.
verdict-most = { $kind }: { $rate }{ $rate-pm } at most, at { $load }.
verdict-core-carries = One busy core carries { $carried }.
verdict-threads-gain = { $kind }: { $most } threads against { $fewest }: { $gains }.
verdict-depth-gain = QD { $depth } { $gain }{ $gain-pm }

# engines
verdict-path-threads = { $path } with { $threads } threads
verdict-path = { $words }
verdict-only-path = Only one path could be measured: { $path } with { $rate }{ $rate-pm }.
verdict-path-fastest = With { $in_flight } in flight, { $best } is fastest with { $rate }{ $rate-pm }, { $change } over { $next }.
verdict-path-same = With { $in_flight } in flight, { $best } gives { $rate }{ $rate-pm } and { $next } the same within { $margin }: { $change }.
verdict-path-ahead = With { $in_flight } in flight, { $best } gives { $rate }{ $rate-pm }; its lead over { $next } is inconclusive: { $change }.
verdict-path-gives = With { $in_flight } in flight, { $best } gives { $rate }{ $rate-pm }, { $change } over { $next }.
verdict-ios = { $ios ->
    [one] 1 I/O
   *[other] { $ios } I/Os
  }
verdict-costs-unknown = What each costs in CPU is not known.
verdict-cheapest = The cheapest is { $path } with { $cost }{ $cost-ci } of CPU per I/O, { $less } less than { $next }; { $dearest } costs { $times } as much.
verdict-cheapest-of-two = The cheapest is { $path } with { $cost }{ $cost-ci } of CPU per I/O, { $less } less than { $next }.
verdict-cheapest-inconclusive = Which is cheapest is inconclusive: { $path } costs { $cost }{ $cost-ci } of CPU per I/O and { $next } { $second }{ $second-ci }.
verdict-cheapest-same = The cheapest are { $path } with { $cost }{ $cost-ci } of CPU per I/O and { $next } with { $second }{ $second-ci }, the same within { $margin }.
verdict-soonest-same = One at a time, { $best } and { $next } have the same latency within { $margin }: mean { $mean }{ $mean-ci } and { $second }{ $second-ci }, { $change }.
verdict-soonest = One at a time, { $best } has the lowest latency: mean { $mean }{ $mean-ci } against { $second }{ $second-ci } of { $next }, { $change }.
verdict-soonest-inconclusive = One at a time, which has the lowest latency is inconclusive: mean { $mean }{ $mean-ci } with { $best }, { $second }{ $second-ci } with { $next }, { $change }.
verdict-paths-speed = { $kind }, { $in_flight } in flight: { $paths }.
verdict-path-speed = { $path } { $rate }{ $rate-pm }
verdict-path-speed-change = { $path } { $rate }{ $rate-pm } ({ $change })
verdict-paths-cost = CPU per I/O of { $kind }, { $in_flight } in flight: { $paths }.
verdict-path-cost = { $path } { $cost }{ $cost-ci }
verdict-paths-no-cost = { $kind }, { $in_flight } in flight: no CPU figures.
verdict-choice = Which path for your load: { $clauses }.
verdict-choice-rate = for the most IOPS { $list }
verdict-choice-cost = for the least CPU per I/O { $list }
verdict-choice-at = { $path } at { $in_flight } in flight
verdict-choice-between = { $path } from { $from } to { $to } in flight
verdict-path-pool = { $path } with a thread for each
verdict-crossings-rate = Where paths cross in IOPS, { $kind }: { $list }.
verdict-crossings-cost = Where paths cross in CPU per I/O, { $kind }: { $list }.
verdict-crossing-rate = { $after } overtakes { $before } between { $up_to } and { $from } in flight
verdict-crossing-cost = { $after } becomes cheaper than { $before } between { $up_to } and { $from } in flight
verdict-path-by-fio = By fio, { $path } with { $in_flight } in flight: { $theirs }{ $theirs-pm }, here { $ours }{ $ours-pm }: { $change }.
verdict-path-by-spdk = By spdk_nvme_perf, { $path } with { $in_flight } in flight: { $theirs }{ $theirs-pm }, here { $ours }{ $ours-pm }: { $change }.
verdict-path-by-spdk-cost = { $rates } CPU per I/O, with its start-up: { $theirs }, here { $ours }.
verdict-figure-fastest-path = Fastest path: { $path }
verdict-figure-path-cost = CPU per I/O: { $path }
verdict-figure-path-alone = Mean latency, one at a time: { $path }

# Goals for latencies, in any study.
verdict-goal-question = Which is the highest load with { $terms }?
verdict-goal-term = { $term } <= { $latency }
verdict-term-mean = mean
verdict-term-p99 = p99
verdict-highest-rate = the highest offered rate
verdict-deepest-loop = the deepest closed loop
verdict-offered-rate = offered rate
verdict-closed-loop = closed loop
verdict-goal-met-and-missed = For { $kind }, { $most } that meets it is { $best }, the first that misses it { $miss }.
verdict-goal-met = For { $kind }, { $most } that meets it is { $best }, and none misses it.
verdict-goal-missed = For { $kind }, no { $what } is known to meet it, the first that misses it is { $miss }.
verdict-goal-unknown = For { $kind }, no { $what } was measured long enough to decide.
verdict-goal-inconclusive = Of { $all } such loads { $count ->
    [one] 1 is
   *[other] { $count } are
  } inconclusive.
verdict-load-latencies = { $load } with { $latencies }
verdict-load-exceeded = { $load }, which was not held
verdict-term-latency = { $term } { $latency }{ $latency-ci }
verdict-term-without-interval = { $term } { $latency } without an interval
verdict-term-unknown = { $term } not known
verdict-depth-rate = { $depth } ({ $rate })
verdict-upper-ends = { $kind }, upper end of the interval of { $term }: { $loads }.
verdict-load-latency = { $load } { $latency }
verdict-load-not-held = { $load } not held
verdict-load-too-short = { $load } too short
verdict-figure-goal = Highest load that meets the goal, { $kind }

# enterprise
verdict-groups-without-common-load = The groups have no load in common that both could run.
verdict-group-wins = { $group } gives the most at { $won } of { $all } loads, by up to { $change } for { $load }
verdict-group-wins-unsteady = { $group } gives the most at { $won } of { $all } loads ({ $unsteady } of them not steady), by up to { $change } for { $load }
verdict-loads-without-winner = { $count ->
    [one] 1 load has no clear winner
   *[other] { $count } loads have no clear winner
  }
verdict-groups = { $parts }.
verdict-no-group-wins = At none of { $count } loads is one group ahead by more than { $margin } for sure.
verdict-lowest-latency = Lowest mean latency: { $groups }.
verdict-group-at = { $group } at { $count }
verdict-load-gives = { $rate }{ $rate-pm } for { $load }.
verdict-load-gives-mean = { $rate }{ $rate-pm } for { $load }, mean latency { $mean }{ $mean-ci }.
verdict-kind-most = { $kind }: most { $rate }{ $rate-pm } at { $load }.
verdict-kind-groups = { $kind }: { $loads }.
verdict-kind-one-group = { $kind }: one group only.
verdict-load-winner = { $load } { $group } { $change }
verdict-load-winner-unsteady = { $load } { $group } { $change } (not steady)
verdict-load-without-winner = { $load } no clear winner
verdict-load-groups = { $load }: { $groups }.
verdict-group-gives = { $group } { $figures }
verdict-step-rate = { $rate }{ $rate-pm }
verdict-step-figures = { $rate }{ $rate-pm }, latency mean { $mean }{ $mean-pm }, max { $max }, standard deviation { $deviation }
verdict-steadiness-unknown = Whether it was steady is not known: the steps were too short.
verdict-all-steady = { $count ->
    [one] The one judged step was steady.
   *[other] All { $count } judged steps were steady.
  }
verdict-some-steady = { $steady } of { $all } judged steps were steady.
verdict-figure-group = { $group }, { $kind }

# pinning
verdict-binding = Binding threads (`{ $side }`) { $effects }.
verdict-binding-also = It { $effects }.
verdict-helps = helps { $kind } at { $loads }, by up to { $change } at { $load }
verdict-slows = slows { $kind } at { $loads }, by up to { $change } at { $load }
verdict-helps-and-slows = helps { $kind } at { $loads }, by up to { $change } at { $load }, and slows them at { $others }, by up to { $loss } at { $worst }
verdict-makes-no-difference = makes no difference for { $kind }: the same within { $margin } at every load
verdict-too-noisy = cannot be judged for { $kind }: the noise is larger than any effect
verdict-no-effect = shows no effect on { $kind }
verdict-no-difference-at = no difference at { $loads }
verdict-inconclusive-at = inconclusive at { $loads }
verdict-crossover = Crossover for { $kind }: { $places }.
verdict-faster-then-slower = between { $from } (faster) and { $to } (slower)
verdict-slower-then-faster = between { $from } (slower) and { $to } (faster)
verdict-overtakes = With `{ $side }`, { $ahead } overtake { $behind } between QD { $low } and QD { $high }.
verdict-bind = { $kind } at { $loads }: `{ $side }`.
verdict-do-not-bind = { $kind } at { $loads }: leave the threads to the scheduler.
verdict-figure-binding = Binding, { $kind }
verdict-figure-most-by-binding = Most by binding, { $kind }

# The sides of a run that measured in turns.
verdict-cell = { $load }: { $figures }.
verdict-cell-iops = { $from-figure } to { $to }, { $change }
verdict-cell-mean = mean latency { $from } to { $to } ({ $change })
verdict-cell-p99 = p99 { $from } to { $to } ({ $change })
verdict-cell-cpu = CPU per I/O { $from } to { $to } ({ $change })
verdict-cell-machine = CPU of the whole machine { $from } to { $to }
verdict-cell-interrupts = interrupts { $from } to { $to }
verdict-row = { $kind }: { $verdicts } ({ $cells }).
verdict-faster-at = faster at { $loads }
verdict-slower-at = slower at { $loads }
verdict-same-at = the same within { $margin } at { $loads }
verdict-load-change = { $load } { $change }
verdict-load-without-ratio = { $load } no ratio

# tune
verdict-tune-same = No: `{ $side }` against `{ $reference }` makes no difference, the same within { $margin } { $place }.
verdict-tune-noise = Inconclusive: `{ $side }` against `{ $reference }` differs by less than the noise { $place }.
verdict-tune-nothing-found = No difference was found: `{ $side }` against `{ $reference }` is the same within { $margin } { $place }, and inconclusive at the others.
verdict-tune-faster = Yes: `{ $side }` against `{ $reference }` is faster { $place }, by up to { $change } for { $load }.
verdict-tune-slower = No: `{ $side }` against `{ $reference }` is slower { $place }, by up to { $change } for { $load }.
verdict-tune-depends = It depends: `{ $side }` against `{ $reference }` is faster { $place }, by up to { $change } for { $load }, and slower { $elsewhere }, by up to { $loss } for { $worst }.
verdict-at-all-loads = { $count ->
    [one] at the one load measured
   *[other] at all { $count } loads
  }
verdict-at-some-loads = at { $count } of { $all } loads
verdict-keep = Keep `{ $side }` for these loads.
verdict-stay = Stay with `{ $reference }`.
verdict-figure-change = Change of speed

# qos
verdict-tail-only = { $kind }: p99 { $p99 }{ $p99-ci } at { $load }.
verdict-tail-unknown = { $kind }: no p99 is known, the steps were too short.
verdict-tail-quiet = { $kind }: p99 { $p99 }{ $p99-ci } at { $load }, below twice that at every depth up to { $last } ({ $end }{ $end-ci }).
verdict-tail-quiet-to = { $kind }: p99 { $p99 }{ $p99-ci } at { $load }, below twice that up to { $last } ({ $rate }).
verdict-tail-grows = It grows to { $p99 }{ $p99-ci } at { $load }.
verdict-tail-grows-on = It grows to { $p99 }{ $p99-ci } at { $load }, and { $end }{ $end-ci } at { $last }.
verdict-rate-held = { $kind }: the highest rate held is { $rate }, with a response p99 of { $p99 }{ $p99-ci }.
verdict-rate-held-no-p99 = { $kind }: the highest rate held is { $rate }; its response p99 is not known.
verdict-no-rate-held = { $kind }: none of the rates was held.
verdict-rate-too-high = At { $rate } requests pile up, so that no latency belongs to it.
verdict-rates-within = { $kind }: p99 stays { $goals }.
verdict-rate-within = within { $latency } up to { $rate }
verdict-no-rate-within = { $kind }: no rate is known to keep p99 within { $latency }.
verdict-tails = { $kind }: { $loads }.
verdict-load-quantiles = { $load } { $quantiles }
verdict-quantile = { $name } { $latency }{ $latency-pm }
verdict-growth = { $kind }: from { $first } to { $last } IOPS change by { $rate } and p99 by { $p99 }.
verdict-quantile-missing = { $name } is not known for { $missing } of { $all } loads; the slowest needs { $time } more.
verdict-figure-pair-reads = offered reads, with the writes
verdict-figure-pair-writes = offered writes, with the reads
verdict-pairs-counted = { $all ->
    [1] One pair of offered rates was measured
   *[other] { $all } pairs of offered rates were measured
  }: { $kept } keep the goal, { $missed } miss the goal, { $behind } build a backlog, { $unknown } inconclusive.
verdict-pairs-speak = The limits here are offered rates: reads and writes arrive at them whatever the latency. A pair that keeps the goal stands for all lower rates of both, two that miss the goal for all higher rates; those pairs were not run.
verdict-figure-p99 = p99, { $kind }

# scaling
verdict-drives = drives
verdict-files = files
verdict-threads = threads
verdict-hosts = hosts
verdict-ranks = ranks
verdict-ranks-question = Does it grow with hosts, and what stops it?
verdict-no-ladder = Inconclusive: only one drive count and one thread count were measured.
verdict-point = { $kind }: { $rate }{ $rate-pm } with { $drives ->
    [one] 1 drive
   *[other] { $drives } drives
  } and { $threads ->
    [one] 1 thread
   *[other] { $threads } threads
  }.
verdict-on-cores = { $kind } spread over cores
verdict-on-siblings = { $kind } on both siblings of each core
brief-on-cores = { $kind }, cores
brief-on-siblings = { $kind }, SMT
verdict-placed = { $kind } with placement { $placement }
verdict-kept = { $list }
verdict-kept-from = starting with { $step }
verdict-kept-drives = { $drives ->
    [one] 1 drive
   *[other] { $drives } drives
  }
verdict-kept-threads = T{ $threads }
verdict-kept-depth = QD{ $depth }
verdict-kept-placement = { $placement }
verdict-ladder-named = { $kind } ({ $what })
verdict-ladder-by = { $kind } by { $axis }
verdict-linear = With { $axis }, { $kind } scale linearly to { $count }: { $rate }{ $rate-pm }, { $share }{ $share-ci } of { $count } times the first.
verdict-linear-inconclusive = With { $axis }, whether { $kind } scale linearly to { $count } is inconclusive: { $rate }{ $rate-pm }, { $share }{ $share-ci } of { $count } times the first.
verdict-growth-open = Growth did not end in the measured range.
verdict-growth-stopped = At { $count }: { $limit }
verdict-knee-first = With { $axis }, { $kind } fall below linear from the start: { $count } give { $share }{ $share-ci } of the ideal ({ $rate }{ $rate-pm }). The most is { $most }{ $most-pm }, with { $peak }.
verdict-knee = With { $axis }, { $kind } scale linearly to { $straight } and no further: { $count } give { $share }{ $share-ci } of the ideal ({ $rate }{ $rate-pm }). The most is { $most }{ $most-pm }, with { $peak }.
verdict-ladder = { $kind } by { $axis }: { $points }.
verdict-ladder-point = { $count }: { $rate }{ $rate-pm } ({ $share })
verdict-ladder-point-core = { $count }: { $rate }{ $rate-pm } ({ $share }, { $carried-figure } per busy core)
verdict-fit = { $kind } by { $axis }, fitted to the universal scalability law over { $first } to { $last }: contention { $contention }, coherence { $coherence }, { $end }; the points lie { $residual } off it.
verdict-fit-rough = { $kind } by { $axis }, fitted to the universal scalability law over { $first } to { $last }: contention { $contention }, coherence { $coherence }, { $end }; the points lie { $residual } off it, so take it as a rough one.
verdict-fit-peak = most at { $count } with { $bound }, falling beyond
verdict-fit-bound = never above { $bound }
verdict-fit-unbounded = no bound in sight
verdict-siblings-more = { $threads } threads on both siblings of { $cores ->
    [one] 1 core
   *[other] { $cores } cores
  } give more than on cores of their own: { $change }.
verdict-siblings-less = { $threads } threads on both siblings of { $cores ->
    [one] 1 core
   *[other] { $cores } cores
  } give less than on cores of their own: { $change }.
verdict-siblings-same = { $threads } threads on both siblings of { $cores ->
    [one] 1 core
   *[other] { $cores } cores
  } give the same as on cores of their own: { $change }.
verdict-siblings-inconclusive = { $threads } threads on both siblings of { $cores ->
    [one] 1 core
   *[other] { $cores } cores
  } against cores of their own are inconclusive: { $change }.
verdict-at-knee = At the knee of { $kind } by { $axis }: { $why }
verdict-at-end = At the end of { $kind } by { $axis }: { $why }
verdict-figure-ladder = { $kind } with { $count } { $axis }
verdict-figure-linear = Of linear growth, { $count } { $axis }

# snia
verdict-test-iops = IOPS test
verdict-test-throughput = Throughput test, { $block }
verdict-test-latency = Latency test
verdict-test-saturation = Write saturation
verdict-test-rounds = Rounds
verdict-test-named = Test { $name }
verdict-test-steady = { $test }: steady after { $last } of at most { $max } rounds; over rounds { $first } to { $last } { $figures }.
verdict-test-steady-somewhere = { $test }: steady; { $figures }.
verdict-test-not-steady = { $test }: not steady after { $rounds } of at most { $max } rounds; the last five rounds give { $figures }.
verdict-test-too-few = { $test }: { $rounds ->
    [one] 1 round is too few
   *[other] { $rounds } rounds are too few
  } to call it steady; { $figures }.
verdict-test-means = Steady means (SNIA PTS): over five rounds in a row the figure stays within 20 % of its average, and its trend within 10 %.
verdict-test-figure = { $kind } { $figure }{ $figure-pm }
verdict-test-sank = It began with { $first } and ended with { $last } ({ $change }) after { $written } written.
verdict-test-determination = { $test }: { $determination }; average { $average }, range { $range } of it (20 % allowed), slope over the window { $slope } (10 % allowed), { $line }.
verdict-test-row = { $test }, { $block }: { $cells }.
verdict-test-cell = { $mix } { $figure }{ $figure-pm }
verdict-figure-test = { $test }, { $kind }

# The first look at an answer: a sentence of at most 25 words, a small table, one command.
brief-place-unknown-order = { $block }
brief-place = { $block } { $order }
brief-gives = { $rate }{ $rate-pm } of { $kind } at { $load }, { $limited }.
brief-limited = limited by { $what }
brief-limited-probably = limited by { $what } ({ $probability })
brief-limited-perhaps = perhaps limited by { $what } ({ $probability })
brief-limit-unknown = limit not known
brief-limit-page-cache = answered by the page cache, not the drive
brief-cell-limit = { $what }
brief-cell-probable = { $what } { $probability }
brief-part-queue-depth = queue depth
brief-part-device = device
brief-part-link = PCIe link
brief-part-uplink = shared link
brief-part-one-core = one core
brief-part-cores = its cores
brief-part-all-cores = all cores
brief-part-cpu-taken = CPU taken by others
brief-part-irq-core = interrupts' core
brief-part-kernel-thread = kernel thread
brief-part-file-system = file system
brief-part-network = network
brief-part-server = server
brief-part-client = client
brief-part-raid = array
brief-part-memory = memory
brief-part-flush = flush
brief-part-page-cache = page cache
brief-part-rate = rate
brief-cell-limit-unknown = limit not known
brief-cell-rate = { $rate-brief }{ $rate-brief-pm }
brief-cell-sync-p50 = sync p50 { $p50 }
brief-cell-sync-p99 = sync p99 { $p99 }
brief-cell-of-alone = { $times }{ $times-pm } of alone
brief-row-alone = alone
brief-cell-none-alone = no stream ran alone: the loss is not known (--explain)
brief-cell-not-alone = { $streams } did not run alone: the loss is not known (--explain)
brief-cell-p99 = p99 { $p99 }
brief-cell-mean = mean { $mean }
brief-cell-operation = { $what } { $rate-brief }{ $rate-brief-pm }
brief-cell-too-short = p99 not known, too short
brief-cell-held = holds { $rate }, p99 { $p99 }
# One load by hand: what stands beside its rate.
brief-cell-alone = QD 1 p50 { $p50 }
brief-row-latency = latency
brief-row-cpu = CPU
brief-row-syncs = syncs
brief-row-array = array
brief-cell-member-ios = { $reads } member reads + { $writes } member writes per write
brief-cell-degraded = { $count } reads of lost members served by the others
brief-row-throughput = throughput
brief-row-help = help:
brief-cell-quantile = { $name } { $latency }
brief-cell-carried = { $carried } per busy CPU
brief-cell-syncs = { $rate }
brief-cell-per-io = { $cost }{ $cost-brief-pm } per I/O
brief-cell-amount = { $rate } for { $time }
brief-cell-rate-exceeded = none: { $rate } were not held, requests pile up
brief-tail-quiet = p99 of { $kind } is { $p99 }{ $p99-pm } at { $load }, below twice the shallowest at every depth ({ $rate }).
brief-tail-quiet-to = p99 of { $kind } stays below twice the shallowest up to { $load }: { $p99 }{ $p99-pm } at { $rate }.
brief-tail-grows = p99 of { $kind } is { $p99 }{ $p99-pm } at { $load } ({ $rate }) and doubles at the next depth.
brief-goal-kept = { $rate }{ $rate-pm } of { $kind } in a closed loop keep { $goal }, at { $load }.
brief-goal-kept-rate = { $rate } of { $kind }, offered as an open loop, keep { $goal } ({ $probability }).
brief-cell-offered = { $rate } offered
brief-surface = An offered load of { $reads } reads with { $writes } writes ({ $place }) keeps { $goal }.
brief-surface-held = An offered load of { $reads } reads with { $writes } writes ({ $place }) is completed without backlog.
brief-surface-alone = Offered reads and offered writes keep { $goal } alone, but no measured pair of both does.
brief-surface-missed = No pair of offered rates was shown to keep { $goal }.
brief-surface-none = No measured pair of offered reads and writes was completed without backlog.
brief-no-writes = no writes
brief-writes-at = writes at { $rate }
brief-no-reads = no reads
brief-reads-at = reads at { $rate }
brief-goal-missed = No { $what } was shown to keep { $goal }: { $missed } missed it, { $short } were too short to tell.
brief-goal-none = none kept it
brief-cell-kept = { $rate }{ $rate-brief-pm } ({ $load })
brief-cell-missed = missed at { $load }
brief-cell-short = { $count } too short to tell
brief-cell-closed-loop = closed loop { $rate }
brief-linear = { $kind } scale linearly to { $count } { $axis }: { $rate }{ $rate-pm }, { $share } of ideal, { $limited }.
brief-linear-inconclusive = { $kind } may scale linearly to { $count } { $axis }: { $rate }{ $rate-pm }, { $share } of ideal, { $limited }.
brief-knee = { $kind } scale linearly to { $straight } { $axis }; { $count } give { $rate }{ $rate-pm }, { $share } of ideal, { $limited }.
brief-knee-first = { $kind } fall below linear from the start: { $count } { $axis } give { $rate }{ $rate-pm }, { $share } of ideal, { $limited }.
brief-linear-of = { $kind } scale linearly to { $count } { $axis }: { $share } of ideal, { $limited }.
brief-linear-inconclusive-of = { $kind } may scale linearly to { $count } { $axis }: { $share } of ideal, { $limited }.
brief-knee-of = { $kind } scale linearly to { $straight } { $axis }; { $count } give { $share } of ideal, { $limited }.
brief-knee-first-of = { $kind } fall below linear from the start: { $count } { $axis } give { $share } of ideal, { $limited }.
brief-cell-count = { $count } { $axis }
brief-cell-efficiency = { $share } of ideal: { $limit }
brief-cell-knee = linear to { $straight }: { $limit }
brief-path-wins = { $best } is fastest and cheapest with { $in_flight } in flight: { $rate }{ $rate-pm }.
brief-path-fastest = { $best } is fastest with { $in_flight } in flight: { $rate }{ $rate-pm }; cheapest is { $cheapest }, { $cost } of CPU per I/O.
brief-path-fastest-alone = { $best } is fastest with { $in_flight } in flight: { $rate }{ $rate-pm }; the cheapest path is inconclusive.
brief-path-fastest-no-cost = { $best } is fastest with { $in_flight } in flight: { $rate }{ $rate-pm }; CPU costs are not known.
brief-path-tie = { $best } ({ $rate-figure }{ $rate-brief-pm }) { $rivals } is fastest with { $in_flight } ({ $how }); cheapest is { $cheapest }, { $cost } per I/O.
brief-path-tie-alone = { $best } ({ $rate-figure }{ $rate-brief-pm }) { $rivals } is fastest with { $in_flight } in flight ({ $how }).
brief-rival = or { $path }
brief-rivals = or one of { $paths }
brief-rivals-many = or one of { $count } others
brief-paths-equal = equal
brief-paths-open = inconclusive
brief-row-fastest = fastest
brief-row-cheapest = cheapest
brief-row-engines = best of each
brief-cell-path = { $path }
brief-cell-paths-rate = { $how }: { $best } { $rate-figure }{ $rate-brief-pm } or { $next } { $second-figure }{ $second-brief-pm }
brief-cell-paths-cost = { $how }: { $best } { $cost }{ $cost-brief-pm } or { $next } { $second }{ $second-brief-pm }
brief-cell-engine = { $engine } { $rate-figure }{ $rate-brief-pm }
brief-cell-engine-at = { $engine } { $rate-figure }{ $rate-brief-pm } with { $in_flight } in flight
brief-row-choice = fastest by load
brief-cell-cost = CPU/IO { $cost }{ $cost-brief-pm }
brief-group-wins = { $group } gives the most at { $won } of { $all } loads, by up to { $change }.
brief-groups-too-short = Which group gives more is not decided: all { $count } loads were too short for an interval.
brief-cell-group = { $group } { $rate-brief }{ $rate-brief-pm }
brief-binding-helps = Binding threads (`{ $side }`) helps { $kind } by up to { $change }, at { $load }.
brief-binding-slows = Binding threads (`{ $side }`) slows { $kind } by up to { $change }, at { $load }.
brief-binding-depends = Binding threads (`{ $side }`) changes { $kind } by { $change } at { $load }, by { $loss } at { $worst }.
brief-binding-same = Binding threads (`{ $side }`) makes no difference for { $kind }: the same within { $margin } at every load.
brief-binding-open = Binding threads (`{ $side }`) shows no effect on { $kind } beyond the noise.
brief-tune-same = No: `{ $side }` makes no difference, the same within { $margin } { $place }.
brief-tune-open = Inconclusive: `{ $side }` differs by less than the noise.
brief-tune-faster = Yes: `{ $side }` is faster { $place }, by up to { $change }.
brief-tune-slower = No: `{ $side }` is slower { $place }, by up to { $change }.
brief-tune-depends = It depends: `{ $side }` changes speed by { $change } at best and { $loss } at worst.
brief-cell-from-to = { $from-figure } to { $to-brief }
brief-cell-change = { $change }
brief-cell-change-within = { $change } ±{ $half }
brief-row-predicted = predicted
brief-cell-predicted = { $steps ->
    [1] error { $iops }
   *[other] median error { $iops }
  }
brief-cell-predicted-farthest = { $steps ->
    [1] { $error } at { $load }
   *[other] worst { $error } at { $load }
  }
brief-cell-predicted-none = no step of it was measured
brief-test = { $test }: { $kind } { $figure }{ $figure-pm }, { $steady }.
brief-test-limited = { $test }: { $kind } { $figure }{ $figure-pm }, { $steady }, { $limited }.
brief-cell-figure = { $kind } { $figure-brief }{ $figure-brief-pm }
brief-cell-steady = steady after { $last } of at most { $max } rounds
brief-cell-steady-somewhere = steady
brief-cell-not-steady = not steady after { $rounds } of at most { $max } rounds
brief-cell-too-few-rounds = { $rounds ->
    [one] 1 round is too few
   *[other] { $rounds } rounds are too few
  } to call it steady
next-qos = how latency grows with the load
next-goal = the highest load that keeps a latency
next-engines = which I/O path is fastest and cheapest
next-pinning = whether binding threads to cores helps
next-scaling = more threads and drives
next-explain = with probes that relieve one part each
next-direct = the drive instead of memory
next-inspect = links, settings and advice for this part
next-streams-alone = each stream alone as well: how much running together costs
next-longer = run longer, to decide between the sides
next-report = the page with pictures

# How far the figures can be trusted.
trust-simulated = in virtual time, nothing was measured
trust-stand-in = { $system } ran it in the place of Windows: nothing of a machine was measured
trust-stand-in-mend = run it on Windows itself
trust-busy-steps = other programs kept CPUs busy in { $count } of { $all } steps
trust-busy = other programs kept { $cores-figure } of { $cpus } CPUs busy: rates are lower bounds
trust-stolen = the hypervisor took { $share } of the CPU time: rates are lower bounds
trust-no-intervals = { $all ->
    [1] the step has no 95 % interval
   *[other] { $count } of { $all } steps have no 95 % interval
  }
trust-wide = 95 % intervals are ±{ $half } wide
trust-window = intervals are of { $window } windows, not of the long run (--runtime 3m)
trust-wider = 95 % intervals are wider than the figures
trust-other-load = { $all ->
    [1] other programs used the device during the step
   *[other] other programs used the device in { $count } of { $all } steps
  }
trust-page-cache = { $all ->
    [1] the page cache answered part of the step
   *[other] the page cache answered part of { $count } of { $all } steps
  }
trust-check-failed = { $all ->
    [1] a consistency check failed
   *[other] a consistency check failed in { $count } of { $all } steps
  }
trust-errors = { $all ->
    [1] I/Os failed
   *[other] I/Os failed in { $count } of { $all } steps
  }
trust-hot = { $all ->
    [1] heat slowed a drive
   *[other] heat slowed drives in { $count } of { $all } steps
  }
trust-holes = { $all ->
    [1] the step read space that was never written
   *[other] { $count } of { $all } steps read space that was never written
  }
trust-goals-undecided = { $all ->
    [1] the offered load was too short to show whether it keeps the goal
   *[other] { $count } of { $all } offered loads were too short to show whether they keep the goal
  }
trust-unsteady = { $all ->
    [1] the step was not steady
   *[other] { $count } of { $all } steps were not steady
  }
trust-not-run = { $all ->
    [1] the step was refused or failed
   *[other] { $count } of { $all } steps were refused or failed
  }
trust-not-reached = { $count } of { $all } steps did not run
trust-mend-resume = resume the run (fathom run --resume)
trust-mend-idle = { $all ->
    [1] stop other work
   *[other] stop other work, or add --wait-idle
  }
trust-mend-stolen = use a host whose CPUs are not shared, or compare in turns (--versus)
trust-mend-longer = { $all ->
    [1] measure { $time } longer (--runtime)
   *[other] run { $time } longer (--time-budget)
  }
trust-mend-other-load = stop what uses the device, or name one that nothing uses
trust-mend-direct = add --set direct=1
trust-mend-checks = look at the checks: fathom show last --details
trust-mend-errors = look at the kernel log and the drive's health
trust-mend-hot = cool the drive, or leave pauses
trust-mend-holes = write the target first
trust-mend-longer-steps = give each step more time (--runtime 1m)
trust-mend-unsteady = write the drive to steady state first (fathom run snia)
trust-level-simulated = simulated
trust-level-not-measured = not a measurement
trust-level-not-judged = not judged: imported
trust-level-good = good
trust-level-usable = usable
trust-level-poor = poor

commit-headline = { $rate }{ $rate-pm } durable commits by one writer, { $time } each: { $set_by }.
commit-set-by-flush = the drive's flush takes { $share }
commit-set-by-write = the drive's writes take { $share }
commit-set-by-host = the host takes { $share }
commit-set-by-several = no part takes more than half
commit-set-by-unknown = the kernel does not count flushes
commit-sync-for-flush = the sync takes { $sync }, mostly for the drive's flush ({ $share })
commit-sync-for-write = the sync takes { $sync }, mostly for the drive's writes ({ $share })
commit-sync-for-host = the sync takes { $sync }, mostly in the host ({ $share })
commit-sync-for-several = the sync takes { $sync }, no part of the sync more than half
commit-sync-for-unknown = the sync takes { $sync }; the kernel does not count flushes
commit-row-one = one writer
commit-row-writers = { $writers } writers
commit-row-group = { $writes } records a sync
commit-row-ways = compared with fdatasync
commit-row-beside = with concurrent reads
commit-row-drive = drive cache
commit-cell-rate = { $rate }{ $rate-pm }
commit-cell-way-open = { $way } { $times } (inconclusive)
commit-cell-way = { $way } { $times }{ $times-pm }
commit-cache-unknown = not known
commit-cache-through = no volatile write cache, so no flushes
commit-cache-not-flushed = volatile, and no flush reached it
commit-cache-quick = volatile, yet { $each } a flush: protected, or not flushed
commit-cache-flushed = volatile, flushed: { $count } a commit, { $each } each
commit-part-sync = The sync takes { $mean } of a commit's { $whole }: { $share } of the thread's time, so the limit is named flush. A sync writes the record to the drive and flushes the drive's cache; the shares below say how the time divides.
commit-part-flush = The drive was flushed { $count } per commit, for { $time }: { $share } of a commit's { $whole }.
commit-part-write = { $count } writes reached the drive per commit. One such write without a sync takes { $time }, so the writes take { $share } of a commit. The rest is spent in the host: file system, journal, threads that wait for a CPU.
commit-part-write-rest = { $count } writes reached the drive per commit. One such write without a sync takes { $time }, more than the flush leaves, so the writes take all the rest: { $share } of a commit.
commit-no-flush-count = The kernel does not count the flushes of this device.
commit-flush-growth = A flush takes { $few } after one record and { $many } after the longest group.
commit-sizes = Records of { $small }: { $small_rate }{ $small_rate-pm }; of { $large }: { $large_rate }{ $large_rate-pm }.
commit-etcd-met = etcd's rule (p99 of fdatasync below 10 ms) is kept: { $p99 }{ $p99-pm }.
commit-etcd-missed = etcd's rule (p99 of fdatasync below 10 ms) is not kept: { $p99 }{ $p99-pm }.
commit-etcd-undecided = Whether etcd's rule (p99 of fdatasync below 10 ms) is kept is not decided: { $p99 }{ $p99-pm }.
commit-figure-one = commits by one writer
commit-figure-p99 = p99 of fdatasync
commit-figure-most = most commits

# Whole files
files-headline = { $rate }{ $rate-pm } of { $kind } by one thread, { $limited }.
files-headline-no-interval = About { $rate } of { $kind } by one thread (no interval), { $limited }.
files-headline-faster = { $group } is faster: { $rate }{ $rate-pm } of { $kind } by one thread, { $change }, { $limited }.
files-headline-none-faster = { $rate }{ $rate-pm } of { $kind } by one thread on { $group }; none is faster beyond doubt.
files-headline-unranked = { $rate }{ $rate-pm } of { $kind } by one thread on { $group }; too short to say which is faster.
files-cell = { $rate }{ $rate-pm }
files-cell-of = { $group } { $rate }{ $rate-pm }
files-row-cost = an fsync per file
files-cell-cost = { $times }{ $times-pm } as long
files-cell-cost-range = { $low } to { $high } as long
files-cell-cost-of = { $group } { $times } as long
files-cell-cost-of-range = { $group } { $low } to { $high } as long
files-row-limit = limited by
files-cell-limit-probable = { $limit } (probability { $probability })
files-limited-probable = limited by { $what } (probability { $probability })
files-cell-limit-of = { $group } { $limit }
files-cost = With fsync a file takes { $times }{ $times-pm } as long on { $group }.
files-cost-range = With fsync a file takes { $low } to { $high } as long on { $group } (95 % interval).
files-step = { $what }: { $rate }{ $rate-pm }, { $p99 }, { $limited }.
files-step-without-p99 = { $what }: { $rate }{ $rate-pm }, too few for a p99, { $limited }.
files-faster = { $kind }: { $group } is faster, { $change }.
files-figure-rate = files per second
files-figure-rate-of = files per second, { $group }
files-figure-cost = cost of fsync
files-figure-cost-of = cost of fsync, { $group }

# Arrays against their members
verdict-array-ceiling = { $kind }: { $rate-figure }{ $rate-pm }, { $share } of the { $ceiling }{ $ceiling-pm } that the members allow by their own rates: { $reads } member reads and { $writes } member writes for each I/O.
verdict-array-reached = { $kind }: { $rate-figure }{ $rate-pm }, all of the { $ceiling }{ $ceiling-pm } that the members allow by their own rates: { $reads } member reads and { $writes } member writes for each I/O.
verdict-array-bare = { $said } By the number of member I/Os alone it would be { $bare }.
verdict-figure-array-share = { $kind }: share of what the members allow
verdict-figure-array-times = { $kind }: rate compared with the members alone
brief-cell-of-members = { $share } of its members
brief-cell-above-members = at least all of its members alone ({ $ceiling-brief }{ $ceiling-brief-pm })
verdict-array-exceeded = { $kind }: { $rate-figure }{ $rate-pm }, at least all that the members gave alone: { $ceiling }{ $ceiling-pm }, with { $reads } member reads and { $writes } member writes for each I/O. Alone the members were not at their limit: give them more threads or a deeper queue.
raid-level-chunk = { $level } { $chunk }
raid-of-stripes = sequential { $what } of whole stripes
raid-level-share = { $level } { $share }
raid-level-rate = { $level } { $rate }
raid-level-all = { $level } ≥100 %
brief-raid = { $kind }, of what the members allow: { $levels }
brief-raid-wide = { $kind }, of what the members allow (±{ $half } or less): { $levels }
brief-raid-end = { $said }.
brief-raid-loss = { $said }; { $level }: { $limit }.
raid-exceeded = { $level } gave { $rate }{ $rate-pm }, at least all that its members gave alone ({ $ceiling }{ $ceiling-pm }). Alone the members were not at their limit: give them more threads or a deeper queue.
brief-raid-alone = { $kind }: { $levels }
brief-cell-operation-share = { $what } { $rate } ({ $share })
brief-cell-operation-above = { $what } { $rate } (members alone { $ceiling }{ $ceiling-brief-pm })
raid-loss = { $level } gives less than its members allow: { $limited }.
raid-loss-members = The members of { $level } are at their limit. { $level } gives less than they allow because reads and writes are mixed, or because one member is slow.
raid-loss-unknown = Why { $level } gives less than its members allow is not known.
raid-members = { $count } members at once give { $rate }{ $rate-pm } of { $kind }, { $times } what one of them gives alone.
raid-members-share = { $said } They share what limits them: a drive, a link or an adapter.
raid-stripes = { $level }: writes of whole stripes { $whole }{ $whole-pm }, of { $block } { $part }{ $part-pm }: for the parity of a part { $reads } member reads come before each write.
raid-degraded = { $level } without { $missing }: { $rate }{ $rate-pm } of { $kind }, { $share } of what all members give.
raid-degraded-more = { $level } without { $missing }: { $rate }{ $rate-pm } of { $kind }, { $times }{ $times-pm } the rate of the whole array.
rebuilds-title = Rebuild during the load: rates and latencies for each rebuild limit
rebuilds-head-load = load
rebuilds-head-depth = depth
rebuilds-head-limit = limit
rebuilds-head-speed = rebuilt at
rebuilds-head-p99 = p99
rebuilds-head-whole-p99 = p99 whole
rebuilds-head-rate = rate of whole
rebuilds-name = { $level } { $load }
rebuilds-limit = { $limit }
rebuilds-no-limit = none
rebuilds-speed = { $speed }
rebuilds-speed-ended = { $speed }, ended first
rebuilds-ns = { $ns }
rebuilds-times = { $times }
rebuilds-unknown = not known
raid-rebuild-at = { $level } rebuilds a member at { $speed } ({ $asked } asked for)
raid-rebuild-full = { $level } rebuilds a member as fast as it can, at { $speed }
raid-rebuild-whole = { $said }: whole in { $time }
raid-rebuild-load = { $said }; during the rebuild { $rate }{ $rate-pm } of { $kind }, { $times } the rate of the whole array, p99 { $p99 } instead of { $before }.
raid-rebuild-times = { $said }; during the rebuild { $rate }{ $rate-pm } of { $kind }, { $times } the rate of the whole array.
raid-rebuild-alone = { $said }; during the rebuild { $rate }{ $rate-pm } of { $kind }.
raid-md-beside = { $level }: { $rate }{ $rate-pm } of { $kind }, { $times }{ $times-pm } what { $other } gives in user space.
raid-latency = { $level }, one I/O at a time: reads { $reads }{ $reads-pm }, writes { $writes }{ $writes-pm } (mean).
