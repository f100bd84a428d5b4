# Histograms as bytes (fathom-hist).

hist-truncated = the histogram ends at byte { $offset }, in the middle of a number: the data was cut off
hist-unknown-version = the histogram has format version { $found }, this program reads version { $readable }: use a newer program
hist-trailing-bytes = the histogram goes on after its last bucket, at byte { $offset }: the data is damaged
hist-inconsistent = the histogram is damaged: { $what }
hist-too-many-buckets = more buckets than the format has
hist-bucket-beyond-last = a bucket beyond the last
hist-empty-bucket = a bucket without samples
hist-too-many-samples = more than 2^64 samples
hist-extremes-outside = minimum or maximum outside the first or last bucket
hist-impossible-sum = a sum that the buckets cannot give
hist-too-many-bits = a number of more than { $max } bits

# Comparison of paired figures (fathom-stats).

stats-unpaired = { $a } figures of A and { $b } of B do not make pairs
stats-unpaired-help = measure each pair completely
stats-too-few-pairs = { $pairs ->
    [one] 1 pair is
   *[other] { $pairs } pairs are
  } too few for a 95 % interval
stats-too-few-pairs-help = measure at least { $least } pairs
stats-not-positive = a figure of pair { $pair } is not above zero
stats-not-positive-help = leave failed pairs out as a whole

# Steady state after SNIA PTS.

stats-snia-rounds = rounds { $first }..{ $last }
stats-snia-not-achieved = NOT ACHIEVED
