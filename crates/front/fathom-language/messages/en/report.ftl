# Reports and imports (fathom-report)

report-run-title = Fathom run { $run }: { $study }
report-comparison-title = Fathom comparison: { $sides }
report-reproduction-title = Fathom: the articles, redone
report-steps = { $steps ->
    [one] 1 step
   *[other] { $steps } steps
}
report-all-steps = All steps
report-column-step = Step
report-column-mean = mean
report-column-limit = limited by
report-column-side = side
report-column-figure = figure
report-column-ratio = ratio
report-column-verdict = verdict
report-column-published = published
report-column-predicted = predicted
report-column-error = error
report-column-remarks = remarks
report-state-running = running
report-state-finished = finished
report-state-interrupted = interrupted
report-state-failed = failed
report-state-refused = refused
report-state-measured = measured
report-state-imported = imported
report-needs = needs { $time } more
report-differences = What else differs
report-not-known = not known
report-compared-steps = All compared steps
report-mean-latency = mean latency
report-faster = faster
report-slower = slower
report-same = same
report-inconclusive = inconclusive
report-limit-queue-depth = queue depth
report-limit-device = device
report-limit-link = link
report-limit-uplink = uplink
report-limit-core = core
report-limit-all-cores = all cores
report-limit-irq-core = interrupt core
report-limit-kernel-thread = kernel thread
report-limit-file-system = file system
report-limit-raid = RAID
report-limit-memory = memory
report-limit-page-cache = page cache
report-limit-rate = rate
report-limit-database = database
report-limit-unknown = unknown
report-simulated = Every predicted figure was simulated in virtual time; none was measured here.
report-within = { $within } of { $figures } published figures come out within 10 %.
report-held-out-within = { $within } of the { $figures } figures that nothing was fitted to come out within 15 %.
report-all-figures = All figures
report-fitted = fitted
report-contradicts = contradicts other figures of its article: { $why }
