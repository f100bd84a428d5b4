# Imports of fio's and Fathom's results (fathom-report)

import-at = { $place }: { $what }
import-wrong-kind = { $file }: not a result of fio, SPDK or Fathom; it looks like { $looks_like }
import-old-fio = { $file }: written by { $version }, whose latencies are in microseconds and whose bins mean something else
import-newer = { $file }: the document has schema { $found }; this version reads up to { $known }
import-json-help = the file may be cut off or edited; fio writes clean JSON with --output=FILE
import-old-fio-help = run the job with fio 3.0 or newer and --output-format=json+
import-newer-help = use the Fathom that wrote it, or a newer one
import-reads = `fathom import` reads fio's json and json+, the table of spdk_nvme_perf, the JSON of bdevperf, and what `fathom export --format json` writes
import-want-json = run fio with --output-format=json+ and import that file
import-empty-object = an empty JSON object
import-foreign-json = another program's JSON, with the keys { $keys }
import-second-document = a second JSON document begins here, and it is not of the same fio run; import one document at a time, or put the results into a JSON array
import-empty-file = an empty file
import-empty-file-help = check that the run that wrote it came to its end
import-sqlite = a SQLite database
import-sqlite-help = if it is a lab of Fathom, name it with --lab instead of importing it
import-html = an HTML page
import-html-help = import the JSON it was made from
import-xml = XML, as diskspd and Iometer write it
import-fio-terse = fio's terse output
import-fio-normal = fio's normal output for people
import-study-file = a study file
import-job-file = an fio job file
import-run-it = give it to `fathom run`
import-csv = a table with commas
import-csv-help = export with --format json instead of csv, or run fio with --output-format=json+
import-plain-text = plain text
import-beside = { $file }: beside the JSON: { $line }
import-no-jobs = no list of jobs
import-no-jobs-help = fio did not finish, or the file was edited
import-no-object = not an object
import-no-job = no job in it
import-no-job-help = look at what fio printed on stderr
import-no-number = not a whole number
import-no-number-help = is it from fio 3.0 or newer?
import-workloads = fio's words are read, write, trim, rw, trimwrite and the same with rand before them
import-fio-unknown = an fio that does not say its version
import-not-run = the order of the blocks is not known: an imported load cannot be run
import-fio-last-document = the file has { $count } documents of one run (--status-interval); the last one is imported
import-fio-no-runtime = { $ios } I/Os with a runtime of 0 ms: fio has no rate for them
import-fio-no-runtime-help = fio writes this for the writes of --verify_only and for jobs of less than 1 ms; run the job for longer
import-fio-backlog = { $place }: { $ios } reads verified data between the writes (verify_backlog); fio does not report their time, so they are left out
import-fio-verify-reads = these reads verified the data after the writes
import-fio-unknown-load = the file lists no options for this job: what it does not say is unknown here, not fio's default
import-fio-start = fio stamps the end of the run only: each step's start is that less its length
import-fio-together = jobs of one group, such as `{ $a }` and `{ $b }`, ran at the same time and shared the target
import-fio-bins = { $place }: the bins hold { $bins } of { $ios } I/Os
import-fio-clat = { $place }: latencies are fio's clat, without the time of submission; lat_percentiles=1 was not set
import-fio-clat-mean = { $place }: latencies are fio's clat, without the time of submission (mean lat: { $mean }); lat_percentiles=1 was not set
import-fio-no-latencies = { $place }: fio recorded no latencies
import-fio-no-merge = percentiles of several jobs cannot be merged without bins; json+ or group_reporting has them
import-fio-cpu = fio's jobs used { $user_pct } % user and { $system_pct } % system time of a CPU each; the cost to the host is not in the file
import-fio-no-workload = `{ $word }` is not a workload of fio
import-fio-verify = fio verified with `{ $word }`, which is not supported
import-fio-distribution = fio's random_distribution `{ $word }` is not supported; the step says `random`
import-fio-bssplit = bssplit `{ $word }` could not be read; the mean size is taken
import-fio-bs = bs is `{ $word }`, but the I/Os had { $mean } bytes on average; the step says that
import-fio-no-bs = the block size is not known; fio's default of 4096 bytes is assumed
import-fio-engine = fio's ioengine was `{ $word }`; the step says `{ $engine }`, the nearest engine
import-fio-no-filename = no filename in the options: fio made files of its own, named after the job here
import-fio-files = { $jobs ->
    [one] 1 job
   *[other] { $jobs } jobs
} went over { $files } files together; they are imported as one target
import-fio-rate = fio was held to rate_iops={ $rate } per job; its latencies count from the actual start
import-fio-cpus = cpus_allowed `{ $word }` could not be read; the step says unpinned
import-fathom-run = { $file }: run { $run } of Fathom { $version }, imported from its JSON
import-fathom-step = step { $index } ({ $label }) was not measured: { $reason }
import-fathom-probe = step { $index } ({ $label }) is a probe that the run added and was not imported
import-fathom-no-step = no step { $index } there, though `steps` has its figures
import-fathom-no-step-help = export the run again
import-fathom-mixed = slat, clat and service of a mixed load are printed for all operations together and were not imported
import-fathom-quoted = imported from JSON: figures are quoted, intervals are not in the file
import-spdk-engine = { $program } drives its drives past the kernel, as engine { $engine } does; the step says { $engine }
import-spdk-no-command = the table of spdk_nvme_perf says nothing of its load
import-spdk-no-command-help = put the command into a line before the table, as it was typed: spdk_nvme_perf -q 32 -o 4096 -w randread -t 10 ...
import-spdk-no-table = no table follows this command: { $command }
import-spdk-two-tables = several tables follow one command: { $command }
import-spdk-no-option = the command has no --{ $word }
import-spdk-other-command = the IOPS and MiB/s of the table do not go with blocks of { $bytes } bytes: it is the table of another command
import-spdk-mixed = reads and writes of a mixed load (`{ $word }`) are not reported separately there
import-spdk-mixed-help = measure reads and writes by a run of their own: randread, randwrite, read, write
import-spdk-no-figure = not a figure
import-spdk-no-word = not a word
import-spdk-no-figure-help = the run was ended early, or the file was edited
import-spdk-nothing = no I/O in it
