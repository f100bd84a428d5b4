# Simulated machines: their files, and what they cannot run (fathom-sim).

sim-time = a time
sim-size = a size
sim-rate = a rate
sim-share = a share
sim-quantity-negative = { $what } cannot be negative
sim-quantity-without-number = { $what } begins with a number: `{ $text }`
sim-quantity-without-unit = { $what } needs a unit: one of { $units }
sim-quantity-unknown-unit = `{ $unit }` is not a unit of { $what }: it is one of { $units }
sim-quantity-bad-number = `{ $number }` is not a number that can be used
sim-quantity-too-large = { $what } `{ $text }` is too large

sim-text-expected = a text is expected here
sim-quantity-expected = a number with its unit is expected here, for example "1.5us"
sim-whole-expected = a whole number from { $min } to { $max } is expected here
sim-percent-expected = whole percent from { $min } to { $max } are expected here
sim-share-expected = a share in percent is expected here
sim-table-expected = a table is expected here
sim-tables-expected = this is a list of tables
sim-tables-expected-help = write [[{ $key }]]
sim-unknown-word = `{ $word }` is not known here
sim-key-missing = `{ $key }` is missing here
sim-key-missing-or-zero = `{ $key }` is missing here, or zero

sim-no-machine-table = a machine file begins with [machine]
sim-no-host-table = the table [host] is missing
sim-no-engine-table = the table [engine.default] is missing: what an I/O costs the CPU
sim-no-drive = a machine needs at least one [[drive]]
sim-interrupt-cpu = interrupt_cpu: this host has CPUs 0-{ $last }
sim-name-taken = this name is taken
sim-no-such-link = there is no link `{ $link }`
sim-links-in-a-circle = link { $link } is its own upstream: the links form a circle
sim-link-without-rate = a link without rate carries nothing
sim-mps = mps: the largest payload is one of 128 B, 256 B, 512 B to 4096 B
sim-no-link = `link` is missing here: {"{"} gen = 4, lanes = 4 {"}"}
sim-no-such-device = there is no device `{ $device }`
sim-two-drives = there are two drives `{ $drive }`
sim-too-many-drives = a machine has at most { $max } drives
sim-no-such-drive = there is no drive `{ $drive }`
sim-members = { $members ->
    [one] 1 member is
   *[other] { $members } members are
  } not enough, or not even
sim-card-or-md = an array has one of card, md and user_space
sim-member-no-drive = { $member } is no drive of this machine
sim-chunk = a chunk is a power of two from 4 KiB to 64 MiB
sim-too-many-missing = the level does not do without { $missing ->
    [one] this member
   *[other] these { $missing } members
}
sim-rebuild-of-nothing = nothing is rebuilt where no member is missing
sim-rebuild-of-user-space = arrays of user space rebuild nothing beside a load
sim-device-media = a device has one of the tables nand, xpoint and memory
sim-capacity-too-small = a capacity below 1 MiB cannot be used
sim-channels-without-rate = `channels` needs `channel_rate`
sim-no-spare = `spare` must be above zero: flash without spare space cannot be cleaned

sim-no-such-machine = there is no simulated machine `{ $name }`
sim-no-such-part = machine { $machine } has no `{ $part }`: { $hint }
sim-parts-of-machine = it has { $parts }
sim-parts-help = `fathom machines show NAME` lists them
sim-target = target { $target }
sim-trace = write_iolog
sim-trace-why = I/O on a simulated machine is not written down
sim-order = sequence modifiers, zones, block size ranges, pauses or flow
sim-order-why = a simulated machine knows patterns, splits and rates alone
sim-order-help = leave them out, or measure on a real target
sim-priorities = priorities of I/O or nodes of memory
sim-priorities-why = a simulated machine serves I/O in its order, and its memory is one
sim-durable = fsync, fdatasync or O_SYNC on a simulated drive
sim-durable-why = its write cache is not simulated, so that the time of a flush would be invented
sim-durable-help = leave it out, or name a real target
sim-verify = verify on a simulated drive
sim-verify-why = it holds no data that could be checked
sim-verify-help = leave verify out, or name a real target
sim-too-small = it has { $has } bytes and the step touches { $wants }
sim-too-small-help = ask for less: --size { $bytes }
sim-threads-on = { $threads ->
    [one] 1 thread
   *[other] { $threads } threads
  } on { $target }
sim-op-rates = rate_iops with a rate for each operation
sim-op-rates-why = a simulated machine keeps one rate and draws operations from the mix
sim-op-rates-help = give the sum of the rates as rate_iops and their shares as rwmixread, or measure on a real target
sim-stages = simulated drives keep one rate
sim-stages-help = one step for each rate, or a real drive
sim-few-blocks = its region has only { $blocks ->
    [one] 1 block
   *[other] { $blocks } blocks
  }, and each thread needs one of its own
sim-few-blocks-help = use fewer threads, a larger size or a smaller block size
sim-memory-beside-drives = a simulated thread does not drive persistent memory beside drives
sim-coalescing-of-several = a simulated thread drives one target where interrupts are held back
sim-one-target-each-help = use spread=each_target
sim-no-smt = placement smt: this machine has no SMT siblings
sim-no-such-node = this machine has no NUMA node { $node }: its last is { $last }
sim-one-node = placements local and remote: this machine has only one NUMA node
sim-no-such-cpu = placement: CPU { $cpu } does not exist; this machine has CPUs 0-{ $last }
sim-no-cpus = placement: the list of CPUs is empty
sim-placement-help = choose another placement
sim-law-broken = an operational law does not hold in the simulation
sim-law-broken-help = this is a fault of Fathom; please report it with the plan and the machine

sim-machine = machine { $name }
sim-machine-known = machine { $name }; its figures were known after { $ran } of { $asked }
sim-machine-many = machine { $name }; ended by the number of its I/Os after { $ran } of { $asked }
sim-machine-aged = machine { $name }; { $asked } passed for its drives in { $ran }
sim-simulated = simulated
sim-purged = simulated format: the mapping is empty
sim-conditioned-analytically = the simulated drives were conditioned analytically; one second of it was run at most

sim-by-fio = a job that fio runs
sim-by-fio-why = fio runs on this machine, not in a simulated one
sim-by-fio-help = leave out --with-fio
sim-by-spdk = a load that spdk_nvme_perf runs
sim-by-spdk-why = it runs on this machine, not in a simulated one
sim-by-spdk-help = leave out --cross-check
sim-files = making, looking at and removing files
sim-files-why = a simulated machine has drives, and no file system
sim-files-help = measure a folder of this machine
