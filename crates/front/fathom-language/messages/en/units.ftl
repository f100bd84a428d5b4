# Quantities that cannot be read (fathom-units).

unit-error = `{ $text }` is not { $what }: { $problem }
unit-unknown = unknown unit `{ $unit }`

number-missing = it does not begin with a number
number-malformed = the number is malformed
number-too-large = it is too large
number-not-whole = it is not a whole number of { $unit }
number-not-above-zero = a rate must be above zero
number-not-below-100 = it is not from 0 to below 100
number-above-100 = it is above 100
number-followed = `{ $rest }` follows the number
duration-without-unit = a part has no unit

unit-of-ios = I/Os
unit-of-bytes = bytes
unit-of-ns = nanoseconds
unit-of-percent = percent

unit-rate = a rate of I/Os
unit-rate-help = write I/Os per second above zero, or a number with k, M or G (powers of 1000), for example 500, 20k or 1.5M
unit-size = a size
unit-size-help = write bytes, or a number with k, m, g, t or p (powers of 1024), for example 512, 4k or 1.5g
unit-duration = a duration
unit-duration-help = write seconds, or a number with ns, us, ms, s, m, h or d, for example 30s, 500ms or 1h30m
unit-percentage = a percentage
unit-percentage-help = write a number from 0 to below 100, for example 3% or 0.5%
unit-percentile = a percentile
unit-percentile-help = write p and a percentage from 0 to 100, for example p99 or p99.99
unit-cpu-list = a CPU list
unit-cpu-list-help = write CPU numbers and ranges separated by commas, for example 0-3,8

cpu-range-descends = the range { $first }-{ $last } descends
cpu-twice = CPU { $cpu } is named twice
cpu-missing = a CPU number is missing
cpu-not-a-map = `{ $text }` is not 32 bits of a CPU map
cpu-not-a-number = `{ $text }` is not a CPU number
cpu-too-large = CPU { $cpu } is above { $max }
