# 各项 study 的结论（fathom-judge）。

verdict-not-measured = 未测：{ $why }
verdict-host-lost = 数据库中关于这台机器的内容已损坏：其驱动器与链路，以及由此得出的结论，均从略。
verdict-stand-in = 这是由 { $system } 代替 Windows 运行的：数值属于该程序，不说明此驱动器或 Windows 的任何情况。
verdict-sides-question = 两方中是否有一方更快？
verdict-nothing-measured = 没有测到任何数据：没有步骤完成 I/O。

# 负载的种类：4k 随机读。
verdict-kind-unknown-order = { $block } { $what }
verdict-any-ios = I/O
verdict-any-io = I/O
verdict-kind = { $block } { $order }{ $what }
verdict-kind-by-fio = { $engine } 操作
verdict-kind-replay = { $trace }（{ $what }）
verdict-kind-of-group = { $group } 的 { $kind }
verdict-reads = 读
verdict-writes = 写
verdict-trims = TRIM
verdict-mixed = 混合（{ $share } 读）
verdict-one-read = 读
verdict-one-write = 写
verdict-one-trim = TRIM
verdict-one-mixed = 混合（{ $share } 读）

# 负载，以及旁边的数值。
verdict-threads-depth = T{ $threads } QD{ $depth }
verdict-threads-depth-unknown = T? QD>={ $depth }
verdict-threads-unknown = T? QD{ $depth }
verdict-depth-unknown = T{ $threads } QD>={ $depth }
verdict-rate-asked = 设定 { $rate }
verdict-rate = { $rate }
verdict-depth = { $threads ->
    [1] QD { $depth }
   *[other] { $threads }x{ $depth }
  }
verdict-depths = QD { $first } 至 { $last }
verdict-every-load = 所有负载
verdict-kind-at = { $kind }（{ $load }）
verdict-change = { $change }{ $change-ci }
verdict-change-without-interval = { $change }（无区间）
verdict-change-alone = { $change }
verdict-change-inconclusive = { $change }，无法判断
verdict-change-same = { $change }，相同
verdict-list-more = { $list }，以及另外 { $more } 个

# 一种负载最好的步骤受什么限制。
verdict-limit = 瓶颈是{ $what }。
verdict-limit-probable = 瓶颈是{ $what }（{ $probability }）。
verdict-limit-unknown = 瓶颈未知。
verdict-limit-page-cache = 这是页缓存的速度，不是驱动器的。
verdict-limit-one-core = 单个核心
verdict-limit-cores = 各线程所在的核

# 哪些因素限制了结论的可信度。
verdict-step-skipped = { $step } 已跳过：{ $why }
verdict-step-refused = { $step } 被拒绝：{ $why }
verdict-step-failed = { $step } 失败：{ $why }
verdict-more-refused = 另有 { $count } 个步骤被拒绝或失败；表格逐一列出。
verdict-not-steady = 测量窗口内未达稳态：{ $steps }。
verdict-state-changed = 以下步骤期间硬盘的状态变了：{ $steps }。变化前后的步骤不能相比。
verdict-left-steady = 测量期间又离开了稳态：{ $steps }。
verdict-page-cache = 以下步骤可能有一部分由页缓存应答：{ $steps }；这些数字不只属于驱动器本身。
verdict-check-failed = 以下步骤未通过一致性校验：{ $steps }；见各步骤的校验。
verdict-other-load = 以下步骤中设备传输的数据多于所要求的：{ $steps }；很可能有其他程序在使用该设备：请停止该程序，或测量无人使用的设备。

# 任何 study：每种负载最好的步骤。
verdict-gives = 该存储在 { $load } 时，{ $kind }达到 { $rate }{ $rate-pm }。
verdict-from-load = { $load } 及以上
verdict-loop-gives = 不做 I/O 的空循环在 { $load } 时，{ $kind }达到 { $rate }{ $rate-pm }。
verdict-median-latency = { $load } 时延时中位数为 { $latency }{ $latency-ci }。
verdict-best = { $kind }：{ $load } 时 { $rate }{ $rate-pm }。
verdict-best-mean = { $kind }：{ $load } 时 { $rate }{ $rate-pm }，平均延时 { $mean }{ $mean-pm }。
verdict-best-tail = { $kind }：{ $load } 时 { $rate }{ $rate-pm }，平均延时 { $mean }{ $mean-pm }，p99 { $p99 }{ $p99-pm }。
verdict-streams-together = { $streams } 同时运行：合计 { $rate }、{ $bytes }。
verdict-streams-more = 另外 { $more } 个
verdict-streams-none-alone = 没有流单独运行，因此同时运行的代价未知：`fathom run --like { $run } --explain` 会再单独运行每个流。
verdict-streams-some-alone = { $streams } 没有单独运行，因此其同时运行的代价未知：`fathom run --like { $run } --explain` 会再单独运行每个流。
interval-stages = 速率按计划变化
stages-of = { $kind }，速率随时间变化。
stages-headline = { $peak }；{ $calm }。
stages-headline-recovery = { $peak }；{ $calm }；{ $recovery }。
stages-headline-peak = { $peak }。
stages-headline-peak-recovery = { $peak }；{ $recovery }。
stage-not-kept = { $asked } 未能保持：剩余 { $backlog } 个 I/O
stage-p99 = { $asked } 时 p99 为 { $p99 }
stage-mean = { $asked } 时平均延时为 { $mean }
stage-nothing = { $asked } 时无完成
stage-rate = { $rate }
stage-rates = { $from } 至 { $to }
stage-recovered = { $time } 后恢复如前
stage-not-recovered = { $time } 内未恢复如前
stage-name = { $number }. { $asked }，{ $time }
stage-cell-left = 剩余 { $ios } 个
stage-gives = { $name }：完成 { $rate }，{ $what }。
stage-figure = 第 { $number } 阶段 p99，{ $asked }
verdict-stream-at = { $name } { $load }
verdict-streams-cpu = 合计每个 I/O 用去 { $cpu } 的 CPU 时间。
verdict-stream-title = { $name }：{ $kind }
verdict-stream-gives = { $title }：{ $what }。
verdict-stream-limit = { $name } 的瓶颈：{ $limit }
verdict-stream-of-alone = 与其他流同时运行时，{ $name } 的速率为单独运行时（{ $alone }）的 { $times }{ $times-pm }；平均延迟为单独运行时的 { $lat }。
verdict-one-at-a-time = 逐个{ $kind }：平均 { $mean }{ $mean-ci }，p99 { $p99 }{ $p99-ci }。
verdict-one-at-a-time-mean = 逐个{ $kind }：平均 { $mean }{ $mean-ci }，p99 未知（I/O 太少）。
verdict-cpu-cost = { $load } 时的 CPU 开销：整机每 I/O { $cost }{ $cost-ci }，即每个繁忙的核承载 { $carried }；{ $cpus } 核中有 { $busy-figure } 核繁忙。
verdict-would-settle = 再测 { $step } 即可确定瓶颈；加 --explain 或给更多时间会自动执行。
verdict-help-queue-depth = { $kind }：增加在途 I/O；最多试到 { $tried }，IOPS 仍在增长。
verdict-help-queue-depth-no-more = { $kind }：也许可增加在途 I/O，但此处 { $tried } 并未更高；更长的运行（--runtime 3m）可判定。
verdict-help-core = { $kind }：在其他核上增加线程，或换用每 I/O 开销更低的引擎。
verdict-help-all-cores = { $kind }：更多或更快的核、更大的块，或开销更低的引擎。
verdict-help-device = { $kind }：换更快的设备；主机方面没有限制。
verdict-help-page-cache = { $kind }：用 `--direct 1` 才能看到驱动器而非内存。
verdict-figure-most = { $kind }最高
verdict-figure-median = { $kind }延时中位数
verdict-figure-per-core = 每繁忙核 IOPS

# baseline
verdict-plain-path = 这是普通路径：{ $engines }，中断，不绑核、不调优。
verdict-not-plain-path = 这已不是普通路径：{ $engines }，命令行中有改动。
verdict-alone = 逐个为 { $rate }{ $rate-pm }
verdict-alone-mean = 逐个为 { $rate }{ $rate-pm }（平均延时 { $mean }{ $mean-pm }）
verdict-alone-and-most = { $kind }：{ $alone }，最高 { $rate }{ $rate-pm }（{ $load }）。
verdict-most = { $kind }：最高 { $rate }{ $rate-pm }（{ $load }）。
verdict-core-carries = 每个繁忙的核承载 { $carried }。
verdict-threads-gain = { $kind }：{ $most } 个线程相对 { $fewest } 个：{ $gains }。
verdict-depth-gain = QD { $depth } { $gain }{ $gain-pm }

# engines
verdict-path-threads = { $path }（{ $threads } 个线程）
verdict-path = { $words }
verdict-only-path = 只有一条路径可测：{ $path }，{ $rate }{ $rate-pm }。
verdict-path-fastest = 在途 { $in_flight }时，{ $best } 最快，{ $rate }{ $rate-pm }，比 { $next } 高 { $change }。
verdict-path-same = 在途 { $in_flight }时，{ $best } 为 { $rate }{ $rate-pm }，{ $next } 与之相差在 { $margin } 以内：{ $change }。
verdict-path-ahead = 在途 { $in_flight }时，{ $best } 为 { $rate }{ $rate-pm }；它是否领先于 { $next } 无法判断：{ $change }。
verdict-path-gives = 在途 { $in_flight }时，{ $best } 为 { $rate }{ $rate-pm }，比 { $next } 高 { $change }。
verdict-ios = { $ios } 个 I/O
verdict-costs-unknown = 各自的 CPU 开销未知。
verdict-cheapest = 开销最低的是 { $path }，每 I/O 耗 CPU { $cost }{ $cost-ci }，比 { $next } 低 { $less }；{ $dearest } 为其 { $times }。
verdict-cheapest-of-two = 开销最低的是 { $path }，每 I/O 耗 CPU { $cost }{ $cost-ci }，比 { $next } 低 { $less }。
verdict-cheapest-inconclusive = 哪条路径开销最低无法判断：{ $path } 每 I/O 耗 CPU { $cost }{ $cost-ci }，{ $next } 为 { $second }{ $second-ci }。
verdict-cheapest-same = 开销最低的是 { $path }，每 I/O 耗 CPU { $cost }{ $cost-ci }，以及 { $next }，{ $second }{ $second-ci }，两者相差在 { $margin } 以内。
verdict-soonest-same = 逐个 I/O 时，{ $best } 与 { $next } 的延时相差在 { $margin } 以内：平均 { $mean }{ $mean-ci } 与 { $second }{ $second-ci }，{ $change }。
verdict-soonest = 逐个 I/O 时，{ $best } 延时最低：平均 { $mean }{ $mean-ci }，{ $next } 为 { $second }{ $second-ci }，{ $change }。
verdict-soonest-inconclusive = 逐个 I/O 时，哪条路径延时最低无法判断：{ $best } 平均 { $mean }{ $mean-ci }，{ $next } 为 { $second }{ $second-ci }，{ $change }。
verdict-paths-speed = { $kind }，在途 { $in_flight } 个：{ $paths }。
verdict-path-speed = { $path } { $rate }{ $rate-pm }
verdict-path-speed-change = { $path } { $rate }{ $rate-pm }（{ $change }）
verdict-paths-cost = { $kind }每 I/O 的 CPU，在途 { $in_flight } 个：{ $paths }。
verdict-path-cost = { $path } { $cost }{ $cost-ci }
verdict-paths-no-cost = { $kind }，在途 { $in_flight } 个：没有 CPU 数据。
verdict-choice = 何种负载用哪条路径：{ $clauses }。
verdict-choice-rate = IOPS 最高：{ $list }
verdict-choice-cost = 每 I/O 的 CPU 最少：{ $list }
verdict-choice-at = 在途 { $in_flight } 个时用 { $path }
verdict-choice-between = 在途 { $from } 至 { $to } 个时用 { $path }
verdict-path-pool = { $path }（每个 I/O 一个线程）
verdict-crossings-rate = 各路径 IOPS 的交叉处，{ $kind }：{ $list }。
verdict-crossings-cost = 各路径每 I/O 的 CPU 的交叉处，{ $kind }：{ $list }。
verdict-crossing-rate = 在途 { $up_to } 至 { $from } 个之间，{ $after } 超过 { $before }
verdict-crossing-cost = 在途 { $up_to } 至 { $from } 个之间，{ $after } 变得比 { $before } 省
verdict-path-by-fio = 由 fio 运行，{ $path } 在途 { $in_flight } 个：{ $theirs }{ $theirs-pm }，此处 { $ours }{ $ours-pm }：{ $change }。
verdict-path-by-spdk = 由 spdk_nvme_perf 运行，{ $path } 在途 { $in_flight } 个：{ $theirs }{ $theirs-pm }，此处 { $ours }{ $ours-pm }：{ $change }。
verdict-path-by-spdk-cost = { $rates }每 I/O 的 CPU（含其启动）：{ $theirs }，此处 { $ours }。
verdict-figure-fastest-path = 最快路径：{ $path }
verdict-figure-path-cost = 每 I/O 的 CPU：{ $path }
verdict-figure-path-alone = 逐个 I/O 的平均延时：{ $path }

# 对延时的目标，见于任何 study。
verdict-goal-question = 满足 { $terms } 的最高负载是多少？
verdict-goal-term = { $term } <= { $latency }
verdict-term-mean = 平均
verdict-term-p99 = p99
verdict-highest-rate = 最高给定速率
verdict-deepest-loop = 最深闭环
verdict-offered-rate = 给定速率
verdict-closed-loop = 闭环
verdict-goal-met-and-missed = { $kind }：满足目标的{ $most }为 { $best }，首个不满足的为 { $miss }。
verdict-goal-met = { $kind }：满足目标的{ $most }为 { $best }，没有不满足的。
verdict-goal-missed = { $kind }：没有已知满足目标的{ $what }，首个不满足的为 { $miss }。
verdict-goal-unknown = { $kind }：{ $what }的测量时间都太短，无法判断。
verdict-goal-inconclusive = 这样的 { $all } 个负载中有 { $count } 个无法判断。
verdict-load-latencies = { $load }（{ $latencies }）
verdict-load-exceeded = { $load }（未能维持）
verdict-term-latency = { $term } { $latency }{ $latency-ci }
verdict-term-without-interval = { $term } { $latency }（无区间）
verdict-term-unknown = { $term } 未知
verdict-depth-rate = { $depth }（{ $rate }）
verdict-upper-ends = { $kind }，{ $term } 的区间上限：{ $loads }。
verdict-load-latency = { $load } { $latency }
verdict-load-not-held = { $load } 未维持
verdict-load-too-short = { $load } 太短
verdict-figure-goal = 满足目标的最高负载，{ $kind }

# enterprise
verdict-groups-without-common-load = 各组没有双方都能运行的共同负载。
verdict-group-wins = { $group } 在 { $all } 个负载中的 { $won } 个上最高，{ $load }时最多高出 { $change }
verdict-group-wins-unsteady = { $group } 在 { $all } 个负载中的 { $won } 个上最高（其中 { $unsteady } 个未达稳态），{ $load }时最多高出 { $change }
verdict-loads-without-winner = { $count } 个负载没有明确的优胜者
verdict-groups = { $parts }。
verdict-no-group-wins = { $count } 个负载中没有一个能确定某组领先超过 { $margin }。
verdict-lowest-latency = 平均延时最低：{ $groups }。
verdict-group-at = { $group }（{ $count } 个负载）
verdict-load-gives = { $load } { $rate }{ $rate-pm }。
verdict-load-gives-mean = { $load } { $rate }{ $rate-pm }，平均延时 { $mean }{ $mean-ci }。
verdict-kind-most = { $kind }：最高 { $rate }{ $rate-pm }（{ $load }）。
verdict-kind-groups = { $kind }：{ $loads }。
verdict-kind-one-group = { $kind }：只有一组。
verdict-load-winner = { $load } { $group } { $change }
verdict-load-winner-unsteady = { $load } { $group } { $change }（未达稳态）
verdict-load-without-winner = { $load } 没有明确的优胜者
verdict-load-groups = { $load }：{ $groups }。
verdict-group-gives = { $group } { $figures }
verdict-step-rate = { $rate }{ $rate-pm }
verdict-step-figures = { $rate }{ $rate-pm }，延时平均 { $mean }{ $mean-pm }、最大 { $max }、标准差 { $deviation }
verdict-steadiness-unknown = 是否处于稳态未知：步骤太短。
verdict-all-steady = 全部 { $count } 个可判断的步骤均处于稳态。
verdict-some-steady = { $all } 个可判断的步骤中 { $steady } 个处于稳态。
verdict-figure-group = { $group }，{ $kind }

# pinning
verdict-binding = 绑核（`{ $side }`）{ $effects }。
verdict-binding-also = 绑核还{ $effects }。
verdict-helps = 对{ $kind }在 { $loads } 时有帮助，最多 { $change }（{ $load }）
verdict-slows = 使{ $kind }在 { $loads } 时变慢，最多 { $change }（{ $load }）
verdict-helps-and-slows = 对{ $kind }在 { $loads } 时有帮助，最多 { $change }（{ $load }），在 { $others } 时使其变慢，最多 { $loss }（{ $worst }）
verdict-makes-no-difference = 对{ $kind }没有差别：所有负载下差异都在 { $margin } 以内
verdict-too-noisy = 对{ $kind }的效果无法判断：噪声大于任何效果
verdict-no-effect = 对{ $kind }没有显示效果
verdict-no-difference-at = 在 { $loads } 时没有差别
verdict-inconclusive-at = 在 { $loads } 时无法判断
verdict-crossover = { $kind }的交叉点：{ $places }。
verdict-faster-then-slower = { $from }（更快）与 { $to }（更慢）之间
verdict-slower-then-faster = { $from }（更慢）与 { $to }（更快）之间
verdict-overtakes = 在 `{ $side }` 下，{ $ahead }在 QD { $low } 与 QD { $high } 之间超过{ $behind }。
verdict-bind = { $kind }在 { $loads } 时：`{ $side }`。
verdict-do-not-bind = { $kind }在 { $loads } 时：线程交给调度器。
verdict-figure-binding = 绑核效果，{ $kind }
verdict-figure-most-by-binding = 绑核最大效果，{ $kind }

# 交替测量的两方。
verdict-cell = { $load }：{ $figures }。
verdict-cell-iops = { $from-figure } → { $to }，{ $change }
verdict-cell-mean = 平均延时 { $from } → { $to }（{ $change }）
verdict-cell-p99 = p99 { $from } → { $to }（{ $change }）
verdict-cell-cpu = 每 I/O 的 CPU { $from } → { $to }（{ $change }）
verdict-cell-machine = 整机 CPU { $from } → { $to }
verdict-cell-interrupts = 中断 { $from } → { $to }
verdict-row = { $kind }：{ $verdicts }（{ $cells }）。
verdict-faster-at = { $loads } 时更快
verdict-slower-at = { $loads } 时更慢
verdict-same-at = { $loads } 时差异在 { $margin } 以内
verdict-load-change = { $load } { $change }
verdict-load-without-ratio = { $load } 无比值

# tune
verdict-tune-same = 否：`{ $side }` 相对 `{ $reference }` 没有差别，{ $place }差异在 { $margin } 以内。
verdict-tune-noise = 无法判断：`{ $side }` 相对 `{ $reference }` 的差异{ $place }小于噪声。
verdict-tune-nothing-found = 没有发现差别：`{ $side }` 相对 `{ $reference }` { $place }差异在 { $margin } 以内，其余无法判断。
verdict-tune-faster = 是：`{ $side }` 相对 `{ $reference }` { $place }更快，最多 { $change }（{ $load }）。
verdict-tune-slower = 否：`{ $side }` 相对 `{ $reference }` { $place }更慢，最多 { $change }（{ $load }）。
verdict-tune-depends = 视情况而定：`{ $side }` 相对 `{ $reference }` { $place }更快，最多 { $change }（{ $load }）；{ $elsewhere }更慢，最多 { $loss }（{ $worst }）。
verdict-at-all-loads = { $count ->
    [1] 在所测的一个负载上
   *[other] 在全部 { $count } 个负载上
  }
verdict-at-some-loads = 在 { $all } 个负载中的 { $count } 个上
verdict-keep = 对这些负载保留 `{ $side }`。
verdict-stay = 仍用 `{ $reference }`。
verdict-figure-change = 速度变化

# qos
verdict-tail-only = { $kind }：{ $load } 时 p99 { $p99 }{ $p99-ci }。
verdict-tail-unknown = { $kind }：p99 未知，步骤太短。
verdict-tail-quiet = { $kind }：{ $load } 时 p99 { $p99 }{ $p99-ci }，直到 { $last } 的各深度都低于其两倍（{ $end }{ $end-ci }）。
verdict-tail-quiet-to = { $kind }：{ $load } 时 p99 { $p99 }{ $p99-ci }，到 { $last }（{ $rate }）为止低于其两倍。
verdict-tail-grows = 在 { $load } 时增至 { $p99 }{ $p99-ci }。
verdict-tail-grows-on = 在 { $load } 时增至 { $p99 }{ $p99-ci }，{ $last } 时为 { $end }{ $end-ci }。
verdict-rate-held = { $kind }：能维持的最高速率为 { $rate }，响应 p99 为 { $p99 }{ $p99-ci }。
verdict-rate-held-no-p99 = { $kind }：能维持的最高速率为 { $rate }；响应 p99 未知。
verdict-no-rate-held = { $kind }：没有一个速率能维持。
verdict-rate-too-high = { $rate } 时请求堆积，因此没有对应的延时。
verdict-rates-within = { $kind }：p99 { $goals }。
verdict-rate-within = 在 { $rate } 以下保持在 { $latency } 以内
verdict-no-rate-within = { $kind }：没有已知能使 p99 保持在 { $latency } 以内的速率。
verdict-tails = { $kind }：{ $loads }。
verdict-load-quantiles = { $load } { $quantiles }
verdict-quantile = { $name } { $latency }{ $latency-pm }
verdict-growth = { $kind }：从 { $first } 到 { $last }，IOPS 变化 { $rate }，p99 变化 { $p99 }。
verdict-quantile-missing = { $all } 个负载中 { $missing } 个的 { $name } 未知；最慢的还需 { $time }。
verdict-figure-pair-reads = 给定的读取速率（同时有写入）
verdict-figure-pair-writes = 给定的写入速率（同时有读取）
verdict-pairs-counted = 测量了 { $all } 组给定速率：{ $kept } 组满足目标，{ $missed } 组不满足，{ $behind } 组有积压，{ $unknown } 组无定论。
verdict-pairs-speak = 这里的上限是给定的速率：无论延迟如何，读写都按此速率到达。满足目标的一组代表两项速率都更低的各组，不满足的两组代表速率更高的各组；那些组没有运行。
verdict-figure-p99 = p99，{ $kind }

# scaling
verdict-drives = 驱动器数
verdict-files = 文件数
verdict-threads = 线程数
verdict-hosts = 主机数
verdict-ranks = 进程数
verdict-ranks-question = 它是否随主机数增长，什么阻止了它？
verdict-no-ladder = 无法判断：只测量了一种驱动器数和一种线程数。
verdict-point = { $kind }：{ $drives } 块盘、{ $threads } 个线程时 { $rate }{ $rate-pm }。
verdict-on-cores = { $kind }（线程分布于各核）
verdict-on-siblings = { $kind }（线程分布于每核的两个硬件线程）
brief-on-cores = { $kind }，各核
brief-on-siblings = { $kind }，SMT
verdict-placed = { $kind }（placement { $placement }）
verdict-kept = { $list }
verdict-kept-from = 从 { $step } 开始
verdict-kept-drives = { $drives } 个驱动器
verdict-kept-threads = T{ $threads }
verdict-kept-depth = QD{ $depth }
verdict-kept-placement = { $placement }
verdict-ladder-named = { $kind }（{ $what }）
verdict-ladder-by = { $kind }，按{ $axis }
verdict-linear = 随{ $axis }增加，{ $kind }直到 { $count } 都线性增长：{ $rate }{ $rate-pm }，为第一个点 { $count } 倍的 { $share }{ $share-ci }。
verdict-linear-inconclusive = 随{ $axis }增加，{ $kind }直到 { $count } 是否线性增长无法判断：{ $rate }{ $rate-pm }，为第一个点 { $count } 倍的 { $share }{ $share-ci }。
verdict-growth-open = 在测量范围内增长没有结束。
verdict-growth-stopped = 在 { $count } 时：{ $limit }
verdict-knee-first = 随{ $axis }增加，{ $kind }从一开始就低于线性增长：{ $count } 时为理想值的 { $share }{ $share-ci }（{ $rate }{ $rate-pm }）。最高 { $most }{ $most-pm }，出现在 { $peak }。
verdict-knee = 随{ $axis }增加，{ $kind }线性增长到 { $straight } 为止：{ $count } 时为理想值的 { $share }{ $share-ci }（{ $rate }{ $rate-pm }）。最高 { $most }{ $most-pm }，出现在 { $peak }。
verdict-ladder = { $kind }，按{ $axis }：{ $points }。
verdict-ladder-point = { $count }：{ $rate }{ $rate-pm }（{ $share }）
verdict-ladder-point-core = { $count }：{ $rate }{ $rate-pm }（{ $share }，每繁忙核 { $carried-figure }）
verdict-fit = { $kind }按{ $axis }，在 { $first } 至 { $last } 上拟合通用扩展性定律：争用 { $contention }，一致性 { $coherence }，{ $end }；各点偏离 { $residual }。
verdict-fit-rough = { $kind }按{ $axis }，在 { $first } 至 { $last } 上拟合通用扩展性定律：争用 { $contention }，一致性 { $coherence }，{ $end }；各点偏离 { $residual }，因此只是粗略的拟合。
verdict-fit-peak = 在 { $count } 时最高，{ $bound }，其后下降
verdict-fit-bound = 不会超过 { $bound }
verdict-fit-unbounded = 看不到上界
verdict-siblings-more = { $cores } 核同核两线程共 { $threads } 个线程，比各占一核更多：{ $change }。
verdict-siblings-less = { $cores } 核同核两线程共 { $threads } 个线程，比各占一核更少：{ $change }。
verdict-siblings-same = { $cores } 核同核两线程共 { $threads } 个线程，与各占一核相同：{ $change }。
verdict-siblings-inconclusive = { $cores } 核同核两线程共 { $threads } 个线程，与各占一核相比无法判断：{ $change }。
verdict-at-knee = { $kind }按{ $axis }的拐点：{ $why }
verdict-at-end = { $kind }按{ $axis }的末端：{ $why }
verdict-figure-ladder = { $kind }，{ $axis } { $count }
verdict-figure-linear = 占线性增长的份额，{ $axis } { $count }

# snia
verdict-test-iops = IOPS 测试
verdict-test-throughput = 吞吐量测试，{ $block }
verdict-test-latency = 延时测试
verdict-test-saturation = 写饱和测试
verdict-test-rounds = 各轮
verdict-test-named = 测试 { $name }
verdict-test-steady = { $test }：最多 { $max } 轮，第 { $last } 轮后达到稳态；第 { $first } 至 { $last } 轮 { $figures }。
verdict-test-steady-somewhere = { $test }：达到稳态；{ $figures }。
verdict-test-not-steady = { $test }：最多 { $max } 轮，{ $rounds } 轮后仍未达稳态；最后五轮为 { $figures }。
verdict-test-too-few = { $test }：{ $rounds } 轮太少，无法判断是否稳态；{ $figures }。
verdict-test-means = 稳态的含义（SNIA PTS）：连续五轮中数值的极差不超过平均值的 20 %，趋势变化不超过 10 %。
verdict-test-figure = { $kind } { $figure }{ $figure-pm }
verdict-test-sank = 写入 { $written } 后，由 { $first } 变为 { $last }（{ $change }）。
verdict-test-determination = { $test }：{ $determination }；平均 { $average }，极差为其 { $range }（允许 20 %），窗口内斜率 { $slope }（允许 10 %），{ $line }。
verdict-test-row = { $test }，{ $block }：{ $cells }。
verdict-test-cell = { $mix } { $figure }{ $figure-pm }
verdict-figure-test = { $test }，{ $kind }

# 答案的第一眼：一句话、小表、一条命令。
brief-place-unknown-order = { $block }
brief-place = { $block } { $order }
brief-gives = { $load } 时{ $kind }为 { $rate }{ $rate-pm }，{ $limited }。
brief-limited = 受限于{ $what }
brief-limited-probably = 受限于{ $what }（{ $probability }）
brief-limited-perhaps = 可能受限于{ $what }（{ $probability }）
brief-limit-unknown = 瓶颈未知
brief-limit-page-cache = 由页缓存应答，不是磁盘
brief-cell-limit = { $what }
brief-cell-probable = { $what } { $probability }
brief-part-queue-depth = 队列深度
brief-part-device = 设备
brief-part-link = PCIe 链路
brief-part-uplink = 共享链路
brief-part-one-core = 单个核心
brief-part-cores = 所在的核
brief-part-all-cores = 全部核心
brief-part-cpu-taken = CPU 争用
brief-part-irq-core = 中断核
brief-part-kernel-thread = 内核线程
brief-part-file-system = 文件系统
brief-part-network = 网络
brief-part-server = 服务器
brief-part-client = 客户端
brief-part-raid = 阵列
brief-part-memory = 内存带宽
brief-part-flush = 刷写
brief-part-page-cache = 页缓存
brief-part-rate = 速率
brief-cell-limit-unknown = 瓶颈未知
brief-cell-rate = { $rate-brief }{ $rate-brief-pm }
brief-cell-sync-p50 = 同步 p50 { $p50 }
brief-cell-sync-p99 = 同步 p99 { $p99 }
brief-cell-of-alone = 单独时的 { $times }{ $times-pm }
brief-row-alone = 单独
brief-cell-none-alone = 没有流单独运行：损失未知（--explain）
brief-cell-not-alone = { $streams } 没有单独运行：损失未知（--explain）
brief-cell-p99 = p99 { $p99 }
brief-cell-mean = 平均 { $mean }
brief-cell-operation = { $what }：{ $rate-brief }{ $rate-brief-pm }
brief-cell-too-short = p99 未知，时间太短
brief-cell-held = 可维持 { $rate }，p99 { $p99 }
# 手工给出的一项负载：速率之外的数字。
brief-cell-alone = QD 1 p50 { $p50 }
brief-row-latency = 延时
brief-row-cpu = CPU
brief-row-syncs = 同步
brief-row-array = 阵列
brief-cell-member-ios = 每次写入：成员读 { $reads } 次 + 成员写 { $writes } 次
brief-cell-degraded = { $count } 次对缺失成员的读由其他成员完成
brief-row-throughput = 吞吐
brief-row-help = 办法：
brief-cell-quantile = { $name } { $latency }
brief-cell-carried = 每个忙 CPU { $carried }
brief-cell-syncs = { $rate }
brief-cell-per-io = 每 I/O { $cost }{ $cost-brief-pm }
brief-cell-amount = { $rate }，历时 { $time }
brief-cell-rate-exceeded = 无：未能维持 { $rate }，请求不断积压
brief-tail-quiet = { $kind }的 p99 在 { $load } 时为 { $p99 }{ $p99-pm }，各深度都低于最浅处的两倍（{ $rate }）。
brief-tail-quiet-to = { $kind }的 p99 到 { $load } 为止低于最浅处的两倍：{ $rate } 时 { $p99 }{ $p99-pm }。
brief-tail-grows = { $kind }的 p99 在 { $load } 时为 { $p99 }{ $p99-pm }（{ $rate }），下一个深度即翻倍。
brief-goal-kept = { $kind }的闭环在 { $load } 时以 { $rate }{ $rate-pm } 满足 { $goal }。
brief-goal-kept-rate = { $kind }以开环 { $rate } 的速率满足 { $goal }（{ $probability }）。
brief-cell-offered = 可施加 { $rate }
brief-surface = 给定负载：读取 { $reads } 与写入 { $writes } 同时到达（{ $place }），满足 { $goal }。
brief-surface-held = 给定负载：读取 { $reads } 与写入 { $writes } 同时到达（{ $place }），没有积压。
brief-surface-alone = 给定的读取或写入负载单独时满足 { $goal }，但所测的读写组合都不满足。
brief-surface-missed = 没有给定的读写速率组合被证实满足 { $goal }。
brief-surface-none = 所测的给定读写组合都有积压。
brief-no-writes = 无写入
brief-writes-at = 写入 { $rate }
brief-no-reads = 无读取
brief-reads-at = 读取 { $rate }
brief-goal-missed = 没有{ $what }被证实满足 { $goal }：{ $missed } 个未达到，{ $short } 个时间太短、无法判断。
brief-goal-none = 没有负载达到
brief-cell-kept = { $rate }{ $rate-brief-pm }（{ $load }）
brief-cell-missed = { $load } 未达到
brief-cell-short = { $count } 个太短、无法判断
brief-cell-closed-loop = 闭环 { $rate }
brief-linear = { $kind }线性扩展到 { $count } 个{ $axis }：{ $rate }{ $rate-pm }，理想值的 { $share }，{ $limited }。
brief-linear-inconclusive = { $kind }或许线性扩展到 { $count } 个{ $axis }：{ $rate }{ $rate-pm }，理想值的 { $share }，{ $limited }。
brief-knee = { $kind }线性扩展到 { $straight } 个{ $axis }；{ $count } 个为 { $rate }{ $rate-pm }，理想值的 { $share }，{ $limited }。
brief-knee-first = { $kind }一开始就低于线性：{ $count } 个{ $axis }为 { $rate }{ $rate-pm }，理想值的 { $share }，{ $limited }。
brief-linear-of = { $kind }线性扩展到 { $count } 个{ $axis }：理想值的 { $share }，{ $limited }。
brief-linear-inconclusive-of = { $kind }或许线性扩展到 { $count } 个{ $axis }：理想值的 { $share }，{ $limited }。
brief-knee-of = { $kind }线性扩展到 { $straight } 个{ $axis }；{ $count } 个为理想值的 { $share }，{ $limited }。
brief-knee-first-of = { $kind }一开始就低于线性：{ $count } 个{ $axis }为理想值的 { $share }，{ $limited }。
brief-cell-count = { $count } 个{ $axis }
brief-cell-efficiency = 理想值的 { $share }：{ $limit }
brief-cell-knee = 线性到 { $straight } 个：{ $limit }
brief-path-wins = { $in_flight } 在途时 { $best } 最快也最省：{ $rate }{ $rate-pm }。
brief-path-fastest = { $in_flight } 在途时 { $best } 最快：{ $rate }{ $rate-pm }；最省的是 { $cheapest }，每个 I/O 用 CPU { $cost }。
brief-path-fastest-alone = { $in_flight } 在途时 { $best } 最快：{ $rate }{ $rate-pm }；哪条路径最省无法判断。
brief-path-fastest-no-cost = { $in_flight } 在途时 { $best } 最快：{ $rate }{ $rate-pm }；CPU 开销未知。
brief-rival = 或 { $path }
brief-rivals = 或 { $paths } 之一
brief-rivals-many = 或其他 { $count } 个之一
brief-path-tie = { $in_flight } 在途时最快的是 { $best }（{ $rate-figure }{ $rate-brief-pm }）{ $rivals }（{ $how }）；最省的是 { $cheapest }，每个 I/O { $cost }。
brief-path-tie-alone = { $in_flight } 在途时最快的是 { $best }（{ $rate-figure }{ $rate-brief-pm }）{ $rivals }（{ $how }）。
brief-paths-equal = 相同
brief-paths-open = 无法判断
brief-row-fastest = 最快
brief-row-cheapest = 最省
brief-row-engines = 各引擎最佳
brief-cell-path = { $path }
brief-cell-paths-rate = { $how }：{ $best } { $rate-figure }{ $rate-brief-pm } 或 { $next } { $second-figure }{ $second-brief-pm }
brief-cell-paths-cost = { $how }：{ $best } { $cost }{ $cost-brief-pm } 或 { $next } { $second }{ $second-brief-pm }
brief-cell-engine = { $engine }：{ $rate-figure }{ $rate-brief-pm }
brief-cell-engine-at = { $engine }：{ $rate-figure }{ $rate-brief-pm }（{ $in_flight } 在途）
brief-row-choice = 各负载下最快
brief-cell-cost = CPU/IO { $cost }{ $cost-brief-pm }
brief-group-wins = { $group } 在 { $all } 个负载中的 { $won } 个最高，最多 { $change }。
brief-groups-too-short = 无法判断哪一组更高：{ $count } 个负载都太短，没有区间。
brief-cell-group = { $group } { $rate-brief }{ $rate-brief-pm }
brief-binding-helps = 绑定线程（`{ $side }`）使{ $kind }最多提高 { $change }（{ $load }）。
brief-binding-slows = 绑定线程（`{ $side }`）使{ $kind }最多变慢 { $change }（{ $load }）。
brief-binding-depends = 绑定线程（`{ $side }`）使{ $kind }在 { $load } 变化 { $change }，在 { $worst } 变化 { $loss }。
brief-binding-same = 绑定线程（`{ $side }`）对{ $kind }没有差别：各负载都在 { $margin } 以内。
brief-binding-open = 绑定线程（`{ $side }`）对{ $kind }没有超出噪声的影响。
brief-tune-same = 否：`{ $side }` 没有差别，{ $place }都在 { $margin } 以内。
brief-tune-open = 无法判断：`{ $side }` 的差别小于噪声。
brief-tune-faster = 是：`{ $side }` { $place }更快，最多 { $change }。
brief-tune-slower = 否：`{ $side }` { $place }更慢，最多 { $change }。
brief-tune-depends = 视情况：`{ $side }` 最好变化 { $change }，最差 { $loss }。
brief-cell-from-to = { $from-figure } 到 { $to-brief }
brief-cell-change = { $change }
brief-cell-change-within = { $change } ±{ $half }
brief-row-predicted = 预测
brief-cell-predicted = { $steps ->
    [1] 误差 { $iops }
   *[other] 误差中位数 { $iops }
  }
brief-cell-predicted-farthest = { $steps ->
    [1] { $load }：{ $error }
   *[other] 最大 { $error }：{ $load }
  }
brief-cell-predicted-none = 其中没有测得的步骤
brief-test = { $test }：{ $kind } { $figure }{ $figure-pm }，{ $steady }。
brief-test-limited = { $test }：{ $kind } { $figure }{ $figure-pm }，{ $steady }，{ $limited }。
brief-cell-figure = { $kind }：{ $figure-brief }{ $figure-brief-pm }
brief-cell-steady = 最多 { $max } 轮，第 { $last } 轮后稳态
brief-cell-steady-somewhere = 稳态
brief-cell-not-steady = 最多 { $max } 轮，{ $rounds } 轮后仍未稳态
brief-cell-too-few-rounds = { $rounds } 轮太少，无法判断稳态
next-qos = 延时如何随负载增长
next-goal = 满足延时要求的最高负载
next-engines = 哪条 I/O 路径最快、最省
next-pinning = 绑核是否有益
next-scaling = 更多线程与磁盘
next-explain = 加上逐一放宽各部分的探测
next-direct = 测磁盘而不是内存
next-inspect = 该部分的链路、设置与建议
next-streams-alone = 再单独运行每个流：同时运行的代价有多大
next-longer = 运行更久，以判断哪一侧更快
next-report = 带图的页面

# 数据可信到什么程度。
trust-simulated = 虚拟时间，没有实测
trust-stand-in = 由 { $system } 代替 Windows 运行：没有测量任何机器
trust-stand-in-mend = 请在真正的 Windows 上运行
trust-busy-steps = { $all } 个步骤中有 { $count } 个步骤期间 CPU 被其他程序占用
trust-busy = 其他程序占用了 { $cpus } 个 CPU 中的 { $cores-figure } 个：速率是下限
trust-stolen = 虚拟机管理程序占去 { $share } 的 CPU 时间：速率是下限
trust-no-intervals = { $all ->
    [1] 这个步骤没有 95 % 区间
   *[other] { $all } 个步骤中有 { $count } 个没有 95 % 区间
  }
trust-wide = 95 % 区间宽达 ±{ $half }
trust-window = 区间只说明 { $window } 的窗口，不说明长期（--runtime 3m）
trust-wider = 95 % 区间比数字本身还宽
trust-other-load = { $all ->
    [1] 这个步骤期间有其他程序使用设备
   *[other] { $all } 个步骤中有 { $count } 个有其他程序使用设备
  }
trust-page-cache = { $all ->
    [1] 这个步骤部分由页缓存应答
   *[other] { $all } 个步骤中有 { $count } 个部分由页缓存应答
  }
trust-check-failed = { $all ->
    [1] 一致性检查失败
   *[other] { $all } 个步骤中有 { $count } 个一致性检查失败
  }
trust-errors = { $all ->
    [1] 出现 I/O 失败
   *[other] { $all } 个步骤中有 { $count } 个出现 I/O 失败
  }
trust-hot = { $all ->
    [1] 磁盘因过热变慢
   *[other] { $all } 个步骤中有 { $count } 个磁盘因过热变慢
  }
trust-holes = { $all ->
    [1] 这个步骤读了从未写过的空间
   *[other] { $all } 个步骤中有 { $count } 个读了从未写过的空间
  }
trust-goals-undecided = { $all } 个给定负载中有 { $count } 个时间太短，无法判断是否满足目标
trust-unsteady = { $all ->
    [1] 这个步骤不稳定
   *[other] { $all } 个步骤中有 { $count } 个不稳定
  }
trust-not-run = { $all ->
    [1] 这个步骤被拒绝或失败
   *[other] { $all } 个步骤中有 { $count } 个被拒绝或失败
  }
trust-not-reached = { $all } 个步骤中有 { $count } 个没有运行
trust-mend-resume = 恢复这次运行（fathom run --resume）
trust-mend-idle = { $all ->
    [1] 停止其他工作
   *[other] 停止其他工作，或加 --wait-idle
  }
trust-mend-stolen = 换用 CPU 不共享的主机，或轮流比较（--versus）
trust-mend-longer = { $all ->
    [1] 再测量 { $time }（--runtime）
   *[other] 再运行 { $time }（--time-budget）
  }
trust-mend-other-load = 停止使用该设备的程序，或换一个无人使用的目标
trust-mend-direct = 加 --set direct=1
trust-mend-checks = 查看各项检查：fathom show last --details
trust-mend-errors = 查看内核日志与磁盘健康状态
trust-mend-hot = 为磁盘降温，或留出间歇
trust-mend-holes = 先写满目标
trust-mend-longer-steps = 给每个步骤更长时间（--runtime 1m）
trust-mend-unsteady = 先把磁盘写到稳态（fathom run snia）
trust-level-simulated = 模拟
trust-level-not-measured = 不是测量结果
trust-level-not-judged = 未评估：导入的结果
trust-level-good = 良好
trust-level-usable = 可用
trust-level-poor = 差

commit-headline = 单个写入者的持久提交：{ $rate }{ $rate-pm }，每次 { $time }：{ $set_by }。
commit-set-by-flush = 驱动器刷新占 { $share }
commit-set-by-write = 驱动器写入占 { $share }
commit-set-by-host = 主机占 { $share }
commit-set-by-several = 没有任何部分超过一半
commit-set-by-unknown = 内核不统计刷新
commit-sync-for-flush = 同步占 { $sync }，主要用于驱动器刷新（{ $share }）
commit-sync-for-write = 同步占 { $sync }，主要用于驱动器写入（{ $share }）
commit-sync-for-host = 同步占 { $sync }，主要在主机上（{ $share }）
commit-sync-for-several = 同步占 { $sync }，其中没有任何部分超过一半
commit-sync-for-unknown = 同步占 { $sync }；内核不统计刷新
commit-row-one = 单个写入者
commit-row-writers = { $writers } 个写入者
commit-row-group = 每次同步 { $writes } 条记录
commit-row-ways = 与 fdatasync 相比
commit-row-beside = 同时有读取
commit-row-drive = 驱动器缓存
commit-cell-rate = { $rate }{ $rate-pm }
commit-cell-way-open = { $way } { $times }（无法判断）
commit-cell-way = { $way } { $times }{ $times-pm }
commit-cache-unknown = 未知
commit-cache-through = 没有易失性写缓存，因此不刷新
commit-cache-not-flushed = 易失，但没有刷新到达驱动器
commit-cache-quick = 易失，但刷新只需 { $each }：有断电保护或并未刷新
commit-cache-flushed = 易失，已刷新：每次提交 { $count }，每次 { $each }
commit-part-sync = 同步占一次提交 { $whole } 中的 { $mean }，即线程时间的 { $share }，因此瓶颈标为刷写。同步先把记录写到驱动器，再刷新驱动器缓存；下面的份额说明时间如何划分。
commit-part-flush = 每次提交刷新驱动器 { $count }，用时 { $time }：占一次提交 { $whole } 的 { $share }。
commit-part-write = 每次提交有 { $count } 次写入到达驱动器。不带同步的同样写入需要 { $time }，因此写入占一次提交的 { $share }。其余用在主机上：文件系统、日志、等待 CPU 的线程。
commit-part-write-rest = 每次提交有 { $count } 次写入到达驱动器。不带同步的同样写入需要 { $time }，多于刷新之外的时间，因此写入占去其余全部：一次提交的 { $share }。
commit-no-flush-count = 内核不统计该设备的刷新。
commit-flush-growth = 写一条记录后的刷新需要 { $few }，最长一组之后需要 { $many }。
commit-sizes = { $small } 的记录：{ $small_rate }{ $small_rate-pm }；{ $large } 的记录：{ $large_rate }{ $large_rate-pm }。
commit-etcd-met = 符合 etcd 的要求（fdatasync 的 p99 低于 10 ms）：{ $p99 }{ $p99-pm }。
commit-etcd-missed = 不符合 etcd 的要求（fdatasync 的 p99 低于 10 ms）：{ $p99 }{ $p99-pm }。
commit-etcd-undecided = 是否符合 etcd 的要求（fdatasync 的 p99 低于 10 ms）尚无定论：{ $p99 }{ $p99-pm }。
commit-figure-one = 单个写入者的提交
commit-figure-p99 = fdatasync 的 p99
commit-figure-most = 最多提交

# Whole files
files-headline = 单线程 { $kind }：{ $rate }{ $rate-pm }，{ $limited }。
files-headline-no-interval = 单线程 { $kind }：约 { $rate }（无置信区间），{ $limited }。
files-headline-faster = { $group } 更快：单线程 { $kind } 为 { $rate }{ $rate-pm }，{ $change }，{ $limited }。
files-headline-none-faster = { $group } 上单线程 { $kind }：{ $rate }{ $rate-pm }；没有哪个可以确定更快。
files-headline-unranked = { $group } 上单线程 { $kind }：{ $rate }{ $rate-pm }；时间太短，无法判断哪个更快。
files-cell = { $rate }{ $rate-pm }
files-cell-of = { $group } { $rate }{ $rate-pm }
files-row-cost = 逐个 fsync
files-cell-cost = 用时 { $times }{ $times-pm }
files-cell-cost-range = 用时 { $low } 至 { $high }
files-cell-cost-of = { $group } 用时 { $times }
files-cell-cost-of-range = { $group } 用时 { $low } 至 { $high }
files-row-limit = 受限于
files-cell-limit-probable = { $limit }（概率 { $probability }）
files-limited-probable = 受限于{ $what }（概率 { $probability }）
files-cell-limit-of = { $group } { $limit }
files-cost = 在 { $group } 上，每个文件加 fsync 后用时为原来的 { $times }{ $times-pm }。
files-cost-range = 在 { $group } 上，每个文件加 fsync 后用时为原来的 { $low } 至 { $high }（95 % 区间）。
files-step = { $what }：{ $rate }{ $rate-pm }，{ $p99 }，{ $limited }。
files-step-without-p99 = { $what }：{ $rate }{ $rate-pm }，样本不足以给出 p99，{ $limited }。
files-faster = { $kind }：{ $group } 更快，{ $change }。
files-figure-rate = 每秒文件数
files-figure-rate-of = 每秒文件数，{ $group }
files-figure-cost = fsync 的代价
files-figure-cost-of = fsync 的代价，{ $group }

# 阵列与其成员相比
verdict-array-ceiling = { $kind }：{ $rate-figure }{ $rate-pm }，为成员自身速率所允许的 { $ceiling }{ $ceiling-pm } 的 { $share }：每个 I/O 需 { $reads } 次成员读和 { $writes } 次成员写。
verdict-array-reached = { $kind }：{ $rate-figure }{ $rate-pm }，达到成员自身速率所允许的 { $ceiling }{ $ceiling-pm } 的全部：每个 I/O 需 { $reads } 次成员读和 { $writes } 次成员写。
verdict-array-bare = { $said }仅按成员 I/O 次数计则为 { $bare }。
verdict-figure-array-share = { $kind }：占成员所允许的份额
verdict-figure-array-times = { $kind }：与成员单独时的速率之比
brief-cell-of-members = 成员的 { $share }
brief-cell-above-members = 至少达到成员单独时的全部（{ $ceiling-brief }{ $ceiling-brief-pm }）
verdict-array-exceeded = { $kind }：{ $rate-figure }{ $rate-pm }，至少达到成员单独时的全部：{ $ceiling }{ $ceiling-pm }，每个 I/O 需 { $reads } 次成员读和 { $writes } 次成员写。成员单独运行时未达极限：请给它们更多线程或更深的队列。
raid-level-chunk = { $level } { $chunk }
raid-of-stripes = 整条带顺序{ $what }
raid-level-share = { $level } { $share }
raid-level-rate = { $level } { $rate }
raid-level-all = { $level } ≥100 %
brief-raid = { $kind }达到成员所允许的：{ $levels }
brief-raid-wide = { $kind }达到成员所允许的（误差不超过 ±{ $half }）：{ $levels }
brief-raid-end = { $said }。
brief-raid-loss = { $said }；{ $level }：{ $limit }。
raid-exceeded = { $level } 为 { $rate }{ $rate-pm }，至少达到成员单独时的全部（{ $ceiling }{ $ceiling-pm }）。成员单独运行时未达极限：请给它们更多线程或更深的队列。
brief-raid-alone = { $kind }：{ $levels }
brief-cell-operation-share = { $what } { $rate }（{ $share }）
brief-cell-operation-above = { $what } { $rate }（成员单独时 { $ceiling }{ $ceiling-brief-pm }）
raid-loss = { $level } 低于成员所允许的速率：{ $limited }。
raid-loss-members = { $level } 的成员已达极限。{ $level } 低于成员所允许的速率，原因是读写混合，或某个成员较慢。
raid-loss-unknown = { $level } 为何低于成员所允许的速率，尚不清楚。
raid-members = { $count } 个成员同时给出 { $rate }{ $rate-pm } 的{ $kind }，为其中一个单独时的 { $times }。
raid-members-share = { $said }它们共用限制自己的部件：同一块盘、链路或适配器。
raid-stripes = { $level }：整条带写 { $whole }{ $whole-pm }，{ $block } 写 { $part }{ $part-pm }：为部分条带计算校验，每次写之前需 { $reads } 次成员读。
raid-degraded = { $level } 缺 { $missing } 个成员：{ $kind } { $rate }{ $rate-pm }，为完整阵列的 { $share }。
raid-degraded-more = { $level } 缺 { $missing } 个成员：{ $kind } { $rate }{ $rate-pm }，为完整阵列速率的 { $times }{ $times-pm }。
rebuilds-title = 负载期间的重建：各重建限速下的速率与延迟
rebuilds-head-load = 负载
rebuilds-head-depth = 深度
rebuilds-head-limit = 限速
rebuilds-head-speed = 重建速度
rebuilds-head-p99 = p99
rebuilds-head-whole-p99 = 完整时 p99
rebuilds-head-rate = 与完整时之比
rebuilds-name = { $level } { $load }
rebuilds-limit = { $limit }
rebuilds-no-limit = 无
rebuilds-speed = { $speed }
rebuilds-speed-ended = { $speed }，先于负载结束
rebuilds-ns = { $ns }
rebuilds-times = { $times }
rebuilds-unknown = 未知
raid-rebuild-at = { $level } 以 { $speed } 重建一个成员（要求 { $asked }）
raid-rebuild-full = { $level } 以最快速度 { $speed } 重建一个成员
raid-rebuild-whole = { $said }：全部重建需 { $time }
raid-rebuild-load = { $said }；重建期间{ $kind } { $rate }{ $rate-pm }，为完整阵列的 { $times }，p99 { $p99 }（完整时 { $before }）。
raid-rebuild-times = { $said }；重建期间{ $kind } { $rate }{ $rate-pm }，为完整阵列的 { $times }。
raid-rebuild-alone = { $said }；重建期间{ $kind } { $rate }{ $rate-pm }。
raid-md-beside = { $level }：{ $kind } { $rate }{ $rate-pm }，为用户态 { $other } 的 { $times }{ $times-pm }。
raid-latency = { $level } 逐个 I/O：读 { $reads }{ $reads-pm }，写 { $writes }{ $writes-pm }（平均）。
