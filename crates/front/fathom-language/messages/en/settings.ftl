# Settings of the host and their journal (fathom-host).

setting-queue = { $attribute } of { $device }
setting-md-array = { $level } array { $device } of Linux md over { $members } members
setting-governor = governor of CPU { $cpu }
setting-energy-preference = energy preference of CPU { $cpu }
setting-idle-disable = disable of idle state { $state } of CPU { $cpu }
setting-smt = SMT
setting-irq-affinity = affinity of interrupt { $irq }
setting-of-devices = { $word } of { $devices }

setting-takes = it takes { $values }
setting-takes-number = it takes a whole number from { $least }
setting-takes-cpus = it takes a CPU list, for example 0-3,8
setting-takes-microseconds = it takes microseconds, for example 20; 0 keeps all cores awake
setting-smt-state = this machine reports { $state }

setting-unknown = there is no setting `{ $word }`
setting-unknown-help = settings are: { $words }
setting-form = `{ $text }` is not of the form setting=value
setting-form-help = write for example scheduler=none
setting-no-device = the setting { $word } belongs to a block device, and the targets have none
setting-no-device-help = name a block device, or a file on one
setting-missing = { $what } cannot be set on this machine: there is no { $path }
setting-missing-help = the driver, the kernel or a hypervisor does not offer it
setting-value = { $what } cannot be "{ $value }": { $takes }
setting-value-help = choose one of the values it takes
setting-unreadable = { $setting } cannot be read: { $source }
setting-unwritable = { $setting } cannot be set to "{ $value }": { $source }
setting-needs-root = changing a setting needs root
setting-managed-interrupt = the kernel does not allow moving interrupts that it manages itself, such as those of NVMe queues
setting-see-kernel-log = the kernel log may say why
setting-not-taken = { $setting } was set to "{ $wanted }" and reads "{ $found }"
setting-not-taken-help = the old value was put back; choose a value the kernel keeps
setting-busy = { $setting } is in use by another Fathom right now (process { $pid }: { $command })
setting-busy-help = wait until it ends
setting-abandoned = { $setting } was left changed by a Fathom that was killed (process { $pid }: { $command })
setting-abandoned-help = restore the old values first: fathom restore
setting-changed-since = { $setting } is "{ $found }": it was changed after Fathom had set "{ $set }"; before that it was "{ $from }"
setting-changed-since-help = it was left alone; set { $setting } to { $from } by hand if that is wanted

setting-dropped-other-boot = the machine was booted since, which undid it
setting-dropped-gone = it no longer exists
setting-dropped-other-device = another device or interrupt has its name now

journal-failed = settings journal { $path }: { $source }
journal-failed-help = no setting is changed without its journal: make the folder readable and writable, or name another with FATHOM_JOURNAL
journal-not-a-file = { $path } has the name of a settings journal and is not a regular file
journal-not-a-file-help = it was skipped; remove it
journal-corrupt = settings journal { $path }, line { $line }: { $why }
journal-corrupt-help = all other lines are followed by `fathom restore`, which then keeps the file as { $kept }: check whether that line names a setting to restore by hand
journal-line-malformed = the line is malformed: { $error }
journal-line-names-nothing = it names no setting of this kernel
journal-newer = settings journal { $path } was written by a later version of Fathom (format { $version })
journal-newer-help = run `fathom restore` of that version
md-array-member = { $member } is no block device that may be written, and Linux md makes arrays of nothing else
md-array-member-help = name drives or partitions, or leave md- out of the level: Fathom makes arrays of files itself
md-array-closed = the array { $target } cannot be opened: { $source }
setting-coalescing = interrupt coalescing of { $controller }
setting-takes-coalescing = COMPLETIONS/MICROSECONDS, 2 to 256 and 100us to 25500us in steps of 100us (8/300us), or off
setting-of-drive = { $setting }: { $error }
setting-of-drive-help = the drive does not offer it; measure without it
