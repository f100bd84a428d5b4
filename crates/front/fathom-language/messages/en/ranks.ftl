# Several processes that run a plan at once, on one host or many.

ranks-on = rank { $rank } on { $host }: { $why }
ranks-version = it is Fathom { $version }, and rank 0 is { $own }
ranks-version-help = install the same version on every host
ranks-plan = its plan is another than that of rank 0
ranks-plan-help = give every rank the same words and the same study file; a pattern or serial number may name other targets on other hosts
ranks-silent = nothing was heard of it for { $time }
ranks-left = it heard nothing from rank 0 for { $time } and left
ranks-clock-silent = its clock did not answer
ranks-no-end = it had not handed over its figures when the run was stopped
ranks-record-unreadable = its figures cannot be read: { $what }
ranks-record-cut = its figures end in the middle
ranks-record-form = its figures are in a form ({ $form }) that this version does not read
ranks-record-excess = what it handed over is more than a record can be ({ $most } beside its I/Os)
ranks-record-elsewhere = its figures are not of the time of the others
ranks-lost = rank { $rank } on { $host } is missing: { $why }
ranks-lost-help = look whether the host and the process still live, and at the network between the hosts
ranks-cut = some ranks ended before others: these are the figures of the { $time } in which all ran
ranks-straggler = rank { $rank } on { $host } is a straggler: it moved { $share } of what the median rank did
ranks-hosts-differ = the hosts differ in { $what }: { $values }
ranks-trait-cpu-model = the model of their CPUs
ranks-trait-cpus = the number of their CPUs
ranks-trait-memory = memory
ranks-trait-kernel = the kernel
ranks-trait-governor = the frequency governor
ranks-trait-clocksource = the clock source
ranks-too-few = it wants { $wanted } ranks, and { $has ->
    [one] one process runs the plan
   *[other] { $has } run the plan
  }
ranks-too-few-help = start more (mpirun -n { $wanted } fathom-mpi ...), or leave the step out: --ranks with fewer
ranks-streams = loads that run beside each other are run by one process
ranks-streams-help = give each load a run of its own, or use `fathom io`
ranks-same-drive = { $path } is the drive that { $other } writes, too
ranks-same-drive-help = give each rank a drive of its own, or cut the drive in regions: --targets-are partitioned
ranks-no-block = there are fewer blocks in the region than ranks
ranks-no-block-help = use a larger region (--size), or fewer ranks
target-not-shared = { $target } is not there, and none of the ranks that are to share it makes it
target-not-shared-help = make it first, e.g. `fallocate -l 10G FILE`; or give each rank its own: --targets-are per-rank
target-shared-write = { $target } is a block device, and all ranks would write all over it
target-shared-write-help = cut it in regions: --targets-are partitioned; or only read it
target-shared-rebuild = a member of { $target } is to be rebuilt beside the load, and each rank would do so
target-shared-rebuild-help = give each rank targets of its own: --targets-are per-rank; or leave the rebuild to one process
target-simulated-ranks = sim:{ $machine } is run in virtual time by one process
target-simulated-ranks-help = use `fathom`, without mpirun
setting-on-host = on { $host }: { $why }
