# Several processes that run a plan at once, on one host or many.

ranks-on = rank { $rank } on { $host }: { $why }
ranks-version = it is Fathom { $version }, and rank 0 is { $own }
ranks-version-help = install the same version on every host
ranks-plan = its plan is another than that of rank 0
ranks-plan-help = give every rank the same words and the same study file; a pattern or serial number may name other targets on other hosts
ranks-silent = nothing was heard of it for { $time }
ranks-clock-silent = its clock did not answer
ranks-no-end = it had not handed over its figures when the run was stopped
ranks-record-unreadable = its figures cannot be read
ranks-lost = rank { $rank } on { $host } is missing: { $why }
ranks-lost-help = look whether the host and the process still live, and at the network between the hosts
ranks-cut = some ranks ended before others: these are the figures of the { $time } in which all ran
ranks-straggler = rank { $rank } on { $host } is a straggler: it moved { $share } of what the median rank did
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
target-simulated-ranks = sim:{ $machine } is run in virtual time by one process
target-simulated-ranks-help = use `fathom`, without mpirun
setting-on-host = on { $host }: { $why }
