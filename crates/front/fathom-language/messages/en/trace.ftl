# Recorded I/O that cannot be read (fathom-trace).

trace-unread = it cannot be read: { $error }
trace-none = it is no trace: neither fio's iolog of version 2 or 3 nor the binary of blktrace (blkparse -d)
trace-version = it is an iolog of version { $found }; versions 2 and 3 can be replayed
trace-entry = entry { $number }: { $fault }
trace-words = it is no action with its file, offset and length
trace-number = `{ $text }` is not a whole number
trace-action = unknown action `{ $text }`
trace-file = the file { $name } was not added before
trace-empty = its length is 0
trace-long = its length is above 4 GiB
trace-magic = no record of blktrace begins here
trace-binary-version = it is of version { $found } of blktrace; version 7 is read
trace-cut = the file ends within it
