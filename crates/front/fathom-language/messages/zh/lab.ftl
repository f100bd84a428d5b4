# fathom-lab

unknown = 未知

activity-written = 已写入 { $done }，共 { $total }
activity-making-files = 正在创建文件：每线程 { $done } / { $total }
activity-laying-out = 正在写满 { $path }：{ $done }
activity-formatting = { $target } 正在自行格式化（Format），已 { $elapsed }
activity-formatting-done = { $target } 正在自行格式化（Format），已 { $elapsed }，完成 { $done }
activity-sanitizing = { $target } 正在自行清除（Sanitize），已 { $elapsed }
activity-sanitizing-done = { $target } 正在自行清除（Sanitize），已 { $elapsed }，完成 { $done }
activity-discarded = { $target } 上已丢弃（discard）{ $done }
activity-discarded-of = { $target } 上已丢弃（discard）{ $done }，共 { $total }

target-must-exist = 目标 { $target } 不存在，而 allow_file_create=0 不允许新建
target-must-exist-help = 请指定已有的文件或设备，或去掉 allow_file_create
target-missing = 目标 { $target } 不存在，其所在目录也不存在
target-missing-help = 请指定已有的文件、用于新建测试文件的目录，或块设备
target-no-match = 没有目标与 { $name } 匹配
target-pattern-help = 没有匹配项；请给通配符加引号，以免被 shell 展开
target-serials-help = 本机的序列号：{ $serials }
target-no-serials-help = 本机没有带序列号的硬盘
target-serial-of-several-help = 有多块硬盘使用该序列号；请用路径指定其中一块：{ $paths }
target-kind = 目标 { $target } 是{ $kind }；Fathom 测量普通文件、目录、块设备和 NVMe 命名空间
target-array-by-fio = { $target } 是用户态阵列，而该作业由 fio 运行
target-array-by-fio-help = 请让作业使用 Fathom 的引擎：psync、libaio 或 io_uring
target-partly-made = { $target } 的成员有的已存在，有的不存在
target-partly-made-help = 请事先全部建好或全部不建；丢失的成员写作 missing
target-kind-help = 请使用块设备（例如 /dev/nvme0n1）或文件
target-no-space = { $path } 需要 { $need }，而其文件系统只剩 { $free }
target-no-space-help = 请腾出空间，或减小大小：--size { $size }
target-no-space-at-all-help = 请腾出空间，或指定其他文件系统上的目录
target-too-many-open = 这些目标需要打开 { $need } 个文件，而本进程最多可打开 { $limit } 个
target-too-many-open-help = 请提高上限（ulimit -n { $need }），或减小 nrfiles 或 threads
target-too-small = 目标 { $target } 有 { $have } 字节，而计划要访问 { $need } 字节
target-too-small-help = 请减小大小：--size { $size }，或让 Fathom 新建文件
target-too-small-simulated-help = 请减小大小：--size { $size }
target-empty-help = 该文件是空的：请指定其所在目录，或一个不存在的文件，由 Fathom 新建
target-not-ours = { $path } 不是该运行创建的文件：已被其他文件取代
target-not-ours-help = 没有改动任何内容；请移走该文件，或开始新的运行
target-io = 无法准备 { $path }：{ $error }
target-io-help = 请确认您有权写入该处
target-read-only-help = 文件系统是只读的：请指定可写文件系统上的目录
target-mixed = { $simulated } 与 { $other } 不在同一台机器上
target-mixed-help = 请分别运行，再比较两者：fathom compare RUN RUN
target-full-of-real = --full 会模拟各步要求的全部时间，而 { $target } 是真实目标
target-full-of-real-help = 去掉 --full：真实测量总是用足其时间
target-null = 目标 `null` 没有数据：它只与引擎 null 搭配，不能用于 { $engine }
target-null-help = 请用 --target 指定文件或设备，或使用 --engine null
target-useless-consent = --destroy { $value } 不起作用：本次运行不写该名称的设备
target-overwritten = { $path } 已存在：将就地覆盖并保留
target-no-new-file = new_files={ $word } 对 { $path } 不起作用：它原已存在
target-not-allocated = { $path } 未能在负载前分配空间（{ $why }）：每次写入时再分配
new-file-is-used = new_files={ $word } 需要新文件，但本次运行的前一步已用过它
new-file-is-used-help = 每种状态各运行一次
target-leftover-removed = 已删除 { $path }，它是被终止的运行遗留的
leftover-abandoned = { $path } 是运行 { $run } 遗留的
leftover-abandoned-help = 用 fathom restore 删除
leftover-in-use = 运行 { $run } 的 { $path } 正在使用
leftover-resumable = { $path } 为运行 { $run } 保留，该运行可以继续
leftover-resumable-help = 用 fathom run --resume { $run } 继续；或用 fathom rm { $run } 删除
leftover-database = { $path } 是 fathom oltp 遗留的数据库
leftover-database-help = 用 fathom oltp --check { $path } 检查；或删除该文件夹
leftover-unreachable = 无法访问 { $path }：其文件系统没有挂载，或您没有写权限
leftover-unreachable-help = 挂载后再次执行 fathom restore
leftover-unreachable-run-help = 挂载后再次执行 fathom restore；或用 fathom rm { $run } 不再记录它
leftover-gone = { $path } 已不存在

drive-none = 无
drive-described = 型号 { $model }，序列号 { $serial }，{ $size } 字节
drive-described-namespace = 型号 { $model }，序列号 { $serial }，命名空间 { $namespace }，{ $size } 字节
drive-without-serial = { $name }，型号 { $model }，无序列号，{ $size } 字节
drive-part = { $drive }的分区 { $part }
drive-is-another = { $path } 后面的硬盘原为 { $was }，现为 { $is }
drive-lost = { $path } 后面的硬盘原为 { $was }；{ $why }，且 { $path } 不存在
drive-lost-replaced = { $path } 后面的硬盘原为 { $was }；{ $why }，而 { $path } 现为 { $is }
drive-other-of-serial = 使用该序列号的是 { $name }：{ $drive }
drive-serial-not-here = 本机没有该序列号的硬盘
drive-ambiguous-then = 运行开始时有 { $count } 块硬盘的序列号、型号和容量都相同
drive-ambiguous = { $names } 的序列号、型号和容量都相同，无法辨认
drive-is-now = 该运行的 { $target } 现为 { $path }（序列号 { $serial }）
drive-path-now = 现为 { $path }，序列号 { $serial }

host-facts-unreadable = 存储的机器信息无法读取（{ $error }）
host-other-processor = 处理器原为 { $was }，现为 { $is }
host-other-cpus = CPU 数量原为 { $was }，现为 { $is }
host-other-kernel = 内核原为 { $was }，现为 { $is }
host-other-memory = 内存原为 { $was }，现为 { $is }

layout-no-space-help = 请在文件系统上腾出空间，或指定更小的 --size

machine-file-unreadable = 无法读取机器文件 { $name }：{ $error }
machine-unknown = 没有模拟机器 `{ $name }`
machine-unknown-help = 自备的机器文件以 .toml 结尾；自带的有：{ $names }
machine-no-part = 目标 { $target }：{ $why }
machine-no-part-help = fathom machines show { $machine } 列出其硬盘和阵列
simulated-caveat-shortened = 在机器 { $machine } 上模拟，使用虚拟时间：没有读写任何真实设备。各步在其数值精确到 { $within } 或 I/O 数量已足时即结束：共模拟了 { $asked } 中的 { $ran }；--full 模拟全部时间。
simulated-caveat = 在机器 { $machine } 上模拟，使用虚拟时间：没有读写任何真实设备。

purge-no-consent = 没有写入它的许可
purge-not-done = { $target } 未被清除：{ $why }
purge-of-a-file = 它是文件，而 { $means } 用于 NVMe 硬盘
purge-hole = 在文件的整个区域上打洞
purge-no-discard = 目标不支持丢弃（discard）：{ $error }
purge-discarded = 所有块均已丢弃（discard）：声明以此代替 NVMe Format 或 Sanitize
purge-discarded-because = 所有块均已丢弃（discard）：声明以此代替 NVMe Format 或 Sanitize（{ $why }）

run-begin-again-help = 请开始新的运行：fathom run --like RUN
run-name-targets-help = 请指定目标：--target
run-goal-search = 正在搜索满足延迟目标的最高施加速率：
run-settles = 计划已完成；剩余的时间用于尚未确定的结论：
run-budget-used-up = 时间预算已用完：该循环不再运行后续轮次
run-drives-gone = 运行 { $run } 无法在其自己的硬盘上重复：{ $lost }
run-file-gone = 运行 { $run } 无法继续：它预处理过的 { $path } 已不存在
run-file-kept = 保留 { $path }，用于：{ $command }
run-host-unreadable = 无法读取本机的计数器：{ $error }
run-laying-out = 写满 { $path }
run-layout = 无法写满 { $path }：{ $why }
run-not-again = 运行 { $run } 无法继续：之前完成的 { $step } 无法再次模拟：{ $why }
run-other-host = 运行 { $run } 无法在此继续：{ $differences }
run-other-ranks = 运行 { $run } 由 { $was } 个 rank 开始，不能由 { $now } 个继续
run-other-ranks-help = 请用同样多或更少的 rank 恢复：`mpirun -n { $was } fathom-mpi run --resume { $run }`
run-one-process-help = 请用一个进程恢复：`fathom run --resume { $run }`
run-screening = 先运行 { $screens } 个短步骤，以预测 { $steps } 个步骤
run-screen-failed = { $step } 没有给出数值：{ $why }
run-nothing-predicted = 无法预测这些步骤

setting-had-value = 原已是该值
setting-instead-of = { $to }，原为 { $from }

step-missing-drives = 它需要 { $wanted } 块硬盘，而组 { $group } 有 { $has } 块
step-streams-simulated = 模拟机器一次只运行一个负载
step-streams-simulated-help = 请在真实文件或硬盘上运行这些流，或让它们依次运行
step-missing-drives-help = 请用 --target 指定更多硬盘，或去掉该步骤：--set devices=[...]
step-missing-rates = 其速率为闭环最多读取数与写入数的比例，但两者未都测得
step-missing-rate = 其速率为同样负载闭环最高 IOPS 的 { $pct } %，但没有测得该闭环
step-missing-rate-help = 请查看那些步骤被拒绝或失败的原因，或直接以 IOPS 给出速率：--only LADDER --set rate_iops=[20000, 40000]
step-mode-on = 模式 { $mode }，目标 { $targets }
step-not-sampled = 无法对本机采样
step-simulated-setting = 模拟机器没有设置 { $settings }
step-simulated-setting-help = 请改动机器文件并比较两次运行，或指定真实目标

## 步骤的警告

warning-engine-overhead = Fathom 自身的循环和批量时间戳占平均延时的至多 { $share }；`--paranoid` 为每个 I/O 单独打时间戳。
warning-littles-law = 不符合利特尔法则：IOPS × 平均延时 = { $computed }，而队列深度为 { $depth }。不要相信该步骤的延时。
warning-diskstats-more = 内核在 { $devices } 上计得 { $kernel } 个 I/O，Fathom 计得 { $ours } 个：有其他程序使用该设备，或 I/O 被拆分；请停止该程序，或测量无人使用的设备。
warning-diskstats-fewer = 内核在 { $devices } 上计得 { $kernel } 个 I/O，Fathom 计得 { $ours } 个：I/O 被合并，或没有到达设备。
warning-unwritten-space = { $share } 的范围从未写入：这样的读可能到不了介质。
warning-page-cache = 页缓存中有目标的 { $cached }：这些数据不只是硬盘的。
warning-small-footprint = { $footprint } 的访问范围可能落入硬盘缓存；加大 `--size` 才能看到介质。
warning-wide-interval = 时间用尽时 95 % 区间仍为 ±{ $half }；延长运行可使其变窄。
warning-not-steady = 未达稳态：窗口内 IOPS 每分钟漂移 { $drift-figure } %。
warning-rate-unsustainable = { $intended } 的速率无法维持：只完成 { $achieved-figure }，积压不断增长，延时没有意义，故不显示。
warning-replay-late = 轨迹的 I/O 平均晚开始 { $late }，而两次 I/O 之间相隔 { $gap }：提高 iodepth、换更快的引擎或把 replay_time_scale 设为低于 100 可保持其时间。
warning-io-errors = { $count } 个 I/O 失败；首个：{ $cause }。
cause-short-transfer = 传输少于请求，例如到达目标末尾；被拔出的硬盘没有剩余字节
warning-noisy-host = 主机有干扰：{ $stolen } 的 CPU 时间被虚拟机监控程序占用，另有 { $cores-figure } 个核忙于其他工作。
warning-array-syncing = 负载期间 { $array } 还在忙：md 对整个阵列执行了 { $action }，因此数值是两者共同的结果。请等到 /proc/mdstat 中没有它。放慢它能留出多少：fathom run tune --target /dev/{ $array } --versus sync_speed_max=5000
warning-array-degraded = { $array } 缺少 { $count } 个成员：数值是降级阵列的结果
warning-member-lost = { $array } 失去成员 { $member }（{ $error }），之后在没有它的情况下继续：数值混合了完整和降级阵列。{ $member } 上的数据已过时：从现在起请写作 missing。
warning-migrated = 线程 { $thread } 已绑核，却出现在另一个 CPU 上。
warning-clock-drift = TSC 相对 CLOCK_MONOTONIC 漂移 { $drift }。
warning-verify-failed = { $blocks } 个块读回时已损坏：见该步骤的数据校验。
warning-slow-member = { $target } 只有同组中位数的 { $share }：请检查其温度、链路和磨损。
warning-cut-short = 时间预算使该阶段止于 { $done }：其后的结果是在未完全预处理的硬盘上测得的。
warning-interrupted = 提前停止：数据只覆盖已运行的部分。
warning-throttled = { $what }：请冷却后重测，或把这些数据视为高温硬盘的数据。
heat-at = { $what }（最高 { $celsius }）
heat-level = { $device } 报告因过热降速
heat-transition = { $device } 在该步骤中开始因过热降速
heat-critical-warning = { $device } 发出温度告警
heat-warning-temperature = { $device } 达到告警温度

## 步骤的一致性检查

check-littles-law = IOPS × 平均延时（含窗口两端）= { $computed }，要求的队列深度 = { $depth }（{ $error }）
check-bytes = 传输 { $moved } 字节，I/O 数 × 块 = { $expected }，短传 { $short }
check-page-cache = 步骤结束后页缓存中有目标的 { $cached }
check-page-cache-passed = 步骤结束后页缓存中有目标的 { $cached }；全部字节都经过了设备，因此没有一个由页缓存应答
check-diskstats = 内核在 { $devices } 上计得 { $kernel }，Fathom 计得 { $ours }（{ $error }）
check-diskstats-buffered = { $counts }；经缓存的 I/O 不一定到达设备
check-diskstats-excess = { $counts }；设备比本步骤所要求的多传输了 { $excess }：很可能有其他程序在使用它；请停止该程序，或测量无人使用的设备
check-buffers-accepted = 内核接受了缓冲区：{ $detail }
check-buffers-refused = 内核没有接受缓冲区：{ $detail }
check-pinned = 线程运行在所绑定的 CPU { $cpus }
check-pinned-migrations = 线程运行在所绑定的 CPU { $cpus }；调度器计得 { $times } 次迁移
check-thread-strayed = 线程 { $thread } 绑定在 CPU { $bound }，却出现在 CPU { $at }
check-no-thread-seen = 没有看到线程运行在任何 CPU 上
check-polled = { $ios } 个轮询 I/O，硬盘队列产生 { $interrupts } 次中断
check-polled-shared = { $ios } 个轮询 I/O，硬盘队列产生 { $interrupts } 次中断，另有 { $others } 个其他程序的 I/O
check-polling-unproved = 内核没有显示硬盘队列的中断，无法证明轮询
check-no-poller = 内核没有显示本进程的轮询线程
check-poller-window-short = 窗口太短，看不到轮询线程的时间
check-poller = 内核轮询线程（iou-sqp）运行了 { $busy }

## 未生效的模式

proof-not-in-force = { $what } 未生效
proof-placement = { $step } 的线程放置 { $placement }
proof-placement-nodes = { $step } 在 NUMA 节点 { $nodes } 上的绑定
proof-placement-cpus = { $step } 在 CPU { $cpus } 上的绑定
proof-direct = { $targets } 上的 O_DIRECT
proof-cache-grew = 绕过页缓存传输 { $moved } 时，页缓存却增加了目标的 { $grown }
proof-iopoll-help = 请使用 interrupt 模式，或内核可轮询的目标：硬盘本身，或 ext4、xfs 上的文件
proof-sqpoll-help = 请使用 interrupt 或 iopoll 模式
proof-placement-help = 运行期间不要使用移动线程的工具（taskset、cpuset、CPU 热拔），或不绑核运行
proof-direct-help = 该文件系统经内存处理此类 I/O：请使用 ext4 或 xfs，或以 `--direct 0` 要求缓存 I/O

## 稳态

steady-rounds = 第 { $first } 至 { $last } 轮
steady-not-achieved = 未达到
steady-quick = { $determination }（快速预处理：不符合 PTS）
steady-drift-over-window = 测量窗口内 { $drift }{ $drift-ci }
steady-drift-over-rounds = 五轮内 { $drift }{ $drift-ci }
steady-reached = 处于稳态：漂移 { $drift }，最多允许 { $margin }。
steady-reached-after = 预热（{ $points } 个时间段中的前 { $warmup } 个）之后处于稳态：漂移 { $drift }，最多允许 { $margin }。
steady-warm-up-too-long = 未达稳态：一半以上是预热。
steady-beginning-differs = 未达稳态：开头与后半段不同。
steady-level-changes = 未达稳态：水平变化 { $times } 次。
steady-level-left = 未达稳态：水平变化 { $times } 次；在第 { $at } 个时间段之前处于稳态。
steady-drifts = 未达稳态：漂移 { $drift }。
steady-inconclusive = 无法判断：漂移 { $drift }，对 { $margin } 的界限来说太不确定。

## 运行的文档

doubt-contradicts = 与同一负载的另一公布数据矛盾
doubt-garbled = 印刷有误，按此解读
doubt-round = 约数

## 重现文章中的实验

reproduce-not-foretold = 对 { $step } 没有事先的预测
reproduce-unknown-article = 没有名为 `{ $name }` 的文章
reproduce-interrupted = 已中断：该表需要全部步骤
reproduce-interrupted-help = 请重新运行
reproduce-cell-help = 随附的文件有误：请报告此问题
reproduce-not-simulated = { $target } 不是模拟目标
reproduce-nothing-ended = { $target } 上的 { $step }：窗口内没有 I/O 完成
reproduce-points-without-steps = 图中的点多于已运行的步骤
reproduce-contradiction = { $law }：{ $formula } 应得 { $expected }，实际之比为 { $ratio }
reproduce-garbled = 印刷有误
reproduce-bogus = 所印数据不可能正确

## 某一步为何没有 IOPS 区间

interval-too-few = 区间少于 { $least } 个，无法区分相关性与噪声：需要 { $needs }
interval-few-events = 只有 { $seen } 次离开通常水平，无法得知其频度：约需 { $needs }
interval-drifts = 在窗口内变化了 { $change }：没有能持续的均值
interval-rare-events = 本次运行的其他步骤约每 { $period } 受到一次扰动，本步太短而看不到：约需 { $needs }
run-floor-learnt = { $step }：至少运行 { $floor }，因为之前的步骤约每 { $period } 受到一次扰动
run-floor-beyond-budget = { $step }：需要 { $floor }，因为之前的步骤约每 { $period } 受到一次扰动，但最多只能运行 { $budget }：很可能得不出区间

lab-thread-of-two-nodes = placement { $placement }：一个线程访问的目标位于多个 NUMA 节点
lab-thread-of-two-nodes-help = 只指定同一节点的目标，或让每个目标有自己的线程（spread=each_target）

# 调用 fio。
fio-run-what = 运行 { $steps }
fio-run-missing = 没有安装 fio
fio-run-missing-help = 请安装（`apt install fio`、`dnf install fio`），或去掉 --with-fio
fio-run-not-on-this-system = 在 Windows 上，Fathom 启动的程序会在 Fathom 结束后继续运行
fio-run-not-on-this-system-help = 请自行运行 fio 并加上 --output-format=json+，再用 `fathom import` 导入其结果
fio-run-place-help = fio 使用临时文件夹中的链接以及目标中的一个文件夹：两者都必须可写
fio-run-replaced = fio 在 { $path } 处放了自己的文件，取代了目标
fio-run-replaced-help = 它的 `size` 大于现有文件：请减小，或指定更大的文件
fio-run-failed = fio 以 { $status } 结束：{ $said }
fio-run-failed-help = 请单独用 fio 试运行该作业；交给它的内容在计划中（`fathom show RUN --json`）
fio-run-by = 由 { $version } 测得；它自身处理每个 I/O 的时间也计入数值
fio-run-window = 对主机观察了 { $window }，其中 fio 测量了 { $measured }：其间主机所做的也计入
fio-run-late = fio 未按时结束，已被终止
fio-run-no-space = 其文件需要 { $need }，而可用空间为 { $have }
fio-run-no-space-help = 请减小 `nrfiles`、`filesize` 或 `size`，或指定其他文件夹
fio-run-no-files = 要创建 { $need } 个文件，而文件系统只能再容纳 { $have } 个
fio-run-no-files-help = 请减小 `nrfiles`，或指定其他文件夹
spdk-run-missing = 没有安装 spdk_nvme_perf
spdk-run-not-there = { $variable } 指明的不是文件
spdk-run-missing-help = 请构建 SPDK 并将其 build/bin 加入 PATH，或指明程序：{ $variable }=/opt/spdk/build/bin/spdk_nvme_perf
spdk-run-not-on-this-system = 此系统上 SPDK 没有盘可用
spdk-run-not-on-this-system-help = 请在 Linux 上运行，或用 `fathom import` 读入其输出
spdk-run-activity = 结束前没有数据
spdk-run-region-help = 请去掉 `size` 与 `offset`
spdk-run-cpus = spdk_nvme_perf 将每个线程绑定到各自的 CPU：{ $threads } 个线程，{ $cpus } 个 CPU
spdk-run-cpus-help = 减少线程（numjobs），或换用其他 CPU
spdk-run-failed = spdk_nvme_perf 以 { $status } 结束：{ $said }
spdk-run-no-table = spdk_nvme_perf 没有打印可识别的数据；版本可能过旧或过新：{ $said }
spdk-run-other-load = spdk_nvme_perf 给出 { $rows } 行数据，不是 { $address } 上 { $threads } 个线程的
spdk-run-failed-help = 请单独试运行：先 `fathom nvme bind`，再以 -r 'trtype:PCIe traddr:ADDRESS' 运行该程序；其输出可用 `fathom import` 读入
spdk-run-late = spdk_nvme_perf 未按时结束，已被终止
spdk-run-stopped = spdk_nvme_perf 在得出数据前被终止
spdk-run-by = 由 spdk_nvme_perf 测得，其线程在 CPU { $cpus } 上
spdk-run-window = 主机被观察了 { $window }，其中 spdk_nvme_perf 测量了 { $measured }：其启动也计入 CPU 时间
lab-files-folder = { $path } 不是文件夹，而文件要在文件夹中创建
lab-files-fewer = 每个线程 { $made } 个文件，而不是 { $asked } 个：再多创建会超出时间预算
lab-files-folder-help = 请把文件系统中的一个文件夹作为目标
lab-files-place-help = 该文件夹必须可写：文件在其中新建的文件夹里创建，结束时删除

# 用户态的盘。
take-not-nvme = { $target } 不是 NVMe 盘的整个命名空间
take-namespaces = { $target } 有 { $count } 个命名空间
take-namespaces-help = 以块设备（/dev/nvme0n1）指明其中之一
take-no-block-device = 内核在 { $target } 处没有块设备
take-no-block-device-help = 运行在取走盘之前通过内核判断它：先还给内核（`fathom nvme unbind`），再允许运行取走它（`--allow-unbind SERIAL`）
take-other-drive = 以 { $target } 应答的盘与之前判断的不是同一块
take-other-drive-help = 用 `fathom nvme status` 查看；盘回到原处后用 `fathom run --resume` 恢复
take-writes-to-bound = { $target } 在运行之前已绑定，无人判断过其上的内容：只读不写
