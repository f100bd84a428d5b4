# 测量什么：参数、目标、study、标签 (fathom-plan)。

# 参数：各自的用途。

knob-group-workload = 负载内容
knob-group-files = 多个文件
knob-group-load = 负载强度与线程位置
knob-group-engine = 引擎
knob-group-priority = I/O 优先级
knob-group-length = 时长与随机种子
knob-group-conditions = 预处理
knob-group-array = 用户态阵列
knob-rw = 操作与顺序：read write randread randwrite rw randrw trim randtrim trimwrite；整个文件：filecreate filestat filedelete
knob-read-pct = 读所占百分比；其余为写
knob-rwmixread = 混合 rw 中读所占百分比
knob-rwmixwrite = 混合 rw 中写所占百分比
knob-bs = 块大小：每个 I/O 的字节数
knob-bssplit = 多种块大小及其占比（百分比）
knob-iodepth = 每个线程的在途 I/O 数
knob-numjobs = 每个目标的线程数；使用 spread 时为所有目标的线程总数
knob-invalidate = 缓冲步骤开始前清空目标的页缓存，与 fio 相同
knob-spread = 一个线程访问哪些目标：each_target（一个；每个目标都有这么多线程）、targets（分到的一部分）或 all_targets（轮流访问全部，如 fio 指定多个文件）
knob-unknown-spread = 未知的 spread：`{ $text }`
knob-load = 线程数 x 队列深度，合写为一个词
knob-iodepth-batch-submit = 每次调用最多交给内核的 I/O 数（不超过队列深度）
knob-iodepth-batch-complete-min = 每次调用至少等待的完成数（不超过队列深度）
knob-batching = I/O 如何交给内核：adaptive（每 I/O 超过 4 us 时逐个，否则成批）、single（逐个）、whole（所有空位一次）、t/io_uring（每次 32 个，并等待 32 个）
knob-unknown-batching = 未知的成批方式 { $text }
knob-batchings = 可用：{ $words }
knob-iodepth-batch-complete-max = 每次调用最多收取的完成事件数，每个 I/O 各有时间戳；不设则收取所有已就绪的
knob-new-files = 仅供写入的新文件的状态：written（负载前每块写一次）、allocated（已分配空间，与 fio 相同）、sparse
knob-new-files-are-read = new_files={ $word } 不起作用：负载会读该文件，必须先写满
knob-not-new-files = `{ $text }` 不是新文件的状态
knob-ioengine = 下发 I/O 的方式：io_uring io_uring_cmd nvme libaio psync mmap null
knob-mode = io_uring 等待完成的方式：interrupt（中断）、iopoll 或 sqpoll（轮询）
knob-hipri = fio 对 mode=iopoll 的写法
knob-sqthread-poll = fio 对 mode=sqpoll 的写法
knob-sqthread-poll-cpu = 内核轮询线程所在的 CPU
knob-fixedbufs = 注册 I/O 缓冲区（io_uring）
knob-registerfiles = 注册文件（io_uring）
knob-direct = 绕过页缓存（O_DIRECT）
knob-size = 每个目标从 offset 起访问的字节数；20% 表示各目标的一部分
knob-offset = 访问的第一个字节
knob-runtime = 测量时长：30s 为固定，2s..10s 直到区间足够窄，auto = 2s..10s
knob-ramp-time = 运行但不计入的预热时间
knob-loops = 访问区域这么多遍后停止
knob-iops-precision = 自适应时长：IOPS 达到此精度即停止
knob-p99-precision = 自适应时长：p99 达到此精度即停止
knob-norandommap = 一遍之内可能重复的随机偏移
knob-random-distribution = 偏移的热度分布：random、zipf:THETA、hotspot:ACCESS/SPACE
knob-randseed = 偏移、操作、到达和数据的随机种子
knob-read-rate = 读取以闭环每秒最多读取数的这一比例到达，例如 40%，与 write_rate 的写入并行
knob-write-rate = 写入以闭环每秒最多写入数的这一比例到达，例如 20%，与 read_rate 的读取并行
knob-rate-iops = 开环：所有线程和目标合计的每秒 I/O 数，延时从预定开始时刻算起；10k,3k：读与写各按自己的速率；,3k：闭环，每秒最多 3k 次写；study 中 75% 表示闭环最高值的比例
knob-stages = 速率随时间变化的开环：依次为各阶段的时长和速率；5k-40k 表示均匀上升，0 表示空闲，120% 表示闭环最高值的比例（study 中）
knob-stage = `{ $text }` 不是阶段
knob-stage-help = 时长和速率：10s@5k；均匀上升写作 10s@5k-40k
knob-stage-length = 阶段 `{ $text }` 的时长不是 { $unit } 的整数倍
knob-stage-units = 有的速率是比例（%），有的是每秒 I/O 数
knob-stages-many = 多于 { $max } 个阶段，或长于 30 天
knob-stages-of-nothing = 所有阶段的速率均为 0
knob-beside-stages = { $key } 与 stages 互斥：stages 已给出速率和时长
knob-beside-stages-help = 请去掉 { $key }
study-not-stages = 阶段是含 `rate` 和 `for` 的表
study-not-stages-help = [[ladder.stage]]，例如 rate = "5k"、for = "10s"
label-in-stages = { $load } 分 { $count } 个阶段，{ $range }
knob-rate-process = 设定了速率的 I/O 之间的间隔：fixed（fio：linear）或 poisson
knob-latency-goal = 结论给出满足这些延时的最高负载：p99<= 和 lat<=（平均值）
knob-placement = 线程运行的位置：unpinned、cores、smt、local、remote 或 CPU 列表
knob-numa-cpu-nodes = 在这些 NUMA 节点的 CPU 上运行线程：第 i 个线程用第 i 个 CPU，先用每个核的一个
knob-numa-mem-policy = 线程内存所在的位置：bind:节点、interleave:节点、prefer:节点 或 local
knob-nodes = “{ $text }”不是 NUMA 节点列表
knob-nodes-help = 请写不超过 1023 的编号和范围，以逗号分隔，例如 0-1
knob-memory-policy = “{ $text }”不是内存策略
knob-memory-policy-help = 请写 bind:0、interleave:0-1、prefer:1、local 或 default
knob-cpus-allowed = 在这些 CPU 上运行线程：第 i 个线程绑定到列表中第 i 个 CPU，循环使用
knob-buffer-compress-percentage = 写入数据中可被压缩掉的百分比
knob-dedupe-percentage = 写入的 4 KiB 数据块中重复的百分比
knob-verify = 写入自描述的块并校验：crc32c 或 none
knob-engine-as-psync = ioengine={ $engine } 按 psync 运行：同样每次 I/O 一次调用
knob-fsync = 每个线程每完成若干次写入后执行 fsync；0：不执行
knob-fdatasync = 每个线程每完成若干次写入后执行 fdatasync；0：不执行
knob-end-fsync = 线程写完全部数据后用 fsync 使其持久；按大小结束的负载计入时间
knob-sync = 以 O_SYNC（sync）或 O_DSYNC（dsync）打开，写入落盘后才返回；none 或 0：都不用
knob-sync-word = `{ $word }` 不是 none、dsync 或 sync
knob-two-syncs = fsync 与 fdatasync 不能同时跟在写入之后
knob-two-syncs-help = fsync 已包含 fdatasync 的作用：去掉其中一个
knob-sync-without-writes = { $key } 使写入落盘，但这里没有写入
knob-sync-without-writes-help = 使用 rw=write、randwrite 或混合读写，或去掉它
knob-sync-polled = 轮询模式的环上不能执行 { $key }
knob-sync-polled-help = 去掉轮询模式：刷写由中断完成
knob-no-write-through = O_SYNC 对引擎 { $engine } 的写入不起作用
knob-no-write-through-help = 使用 fdatasync=1，或换用其他引擎
knob-devices = 使用组内前若干个目标
knob-ranks = 让这么多个进程（rank）参与，每台主机先各用一个，再用第二个（fathom-mpi）；其余等待
knob-write-iolog = 新文件，每个 I/O 开始时以 fio 的格式（第 3 版）记入其中，供 read_iolog 重放；多个线程时在名称后加 .0、.1 等
knob-no-trace-name = 未指定文件
knob-no-trace-name-help = 例如 write_iolog=trace.log
knob-nrfiles = 每个线程的文件数，文件位于作为目标的文件夹中：rw=filecreate、filestat 或 filedelete 时每个文件处理一次，其他负载在所有文件中读写块
knob-filesize = 每个文件的字节数；0：空文件，或由各文件平分 size
knob-file-service-type = 线程的下一个 I/O 落在它的哪个文件或目标上：roundrobin、random（二者可加 :N，表示每个连续 N 个 I/O）、sequential 或 zipf:THETA
knob-openfiles = 同时被访问的文件数；一个完成后下一个才加入
knob-unknown-service = 未知的访问次序：`{ $text }`
knob-service-theta = zipf 的指数须大于 0
knob-service-theta-help = 例如 zipf:1.2
knob-service-lacks = 不支持按 { $word } 选择文件
knob-service-lacks-help = 请使用 zipf:THETA、random、roundrobin 或 sequential
knob-service-of-one = file_service_type 和 openfiles 不起作用：每个线程只有一个目标
knob-files-of-array = nrfiles 用于文件夹，而阵列不是文件夹
knob-files-of-array-help = 请去掉 nrfiles 或 array
knob-too-many-files = 读写块的文件有 { $files } 个，超过一个步骤的上限（{ $max }）
knob-too-many-files-help = 请减小 nrfiles 或 threads，或用 rw=filecreate、filestat 或 filedelete 处理整个文件
knob-whole-file-too-long = { $bytes } 超过整体创建的文件的上限（{ $max }）
knob-whole-file-too-long-help = 请减小 filesize
knob-size-and-filesize = size 是一个线程所有文件的大小，filesize 是每个文件的大小：二者重复
knob-size-and-filesize-help = 请去掉其中一个；若读写量少于文件大小，请用 io_size
knob-files-below-block = { $size } 分给 { $files } 个文件后每个不足一个块
knob-files-below-block-help = 请增大 size，或减小 nrfiles 或 bs
knob-size-shared-unevenly = size={ $size } 不能分成 { $files } 个由整块组成的文件：每个为 { $each }
knob-files-by-engine = rw={ $rw } 处理整个文件，而引擎 { $engine } 不能
knob-files-by-engine-help = 请不要指定引擎：文件有专用的引擎
knob-files-engine-alone = 引擎 files 处理整个文件，而 rw={ $rw } 读写块
knob-files-engine-alone-help = 请使用 rw=filecreate、filestat 或 filedelete，或换用其他引擎
knob-stat-by-what = rw=filestat 如何指明文件：path 为从根目录起的完整路径，与 mdtest 和 fio 相同；folder 为已打开文件夹中的文件名
knob-unknown-stat-by = “{ $text }”不是指明文件的方式
knob-stat-by = stat_by 规定如何查看文件，而 rw={ $rw } 不查看文件
knob-stat-by-help = 请使用 rw=filestat，或去掉 stat_by
knob-files-of-blocks = { $key } 用于多个文件，而 rw={ $rw } 在这里只有一个
knob-files-of-blocks-help = 请加上 nrfiles，或使用 size
knob-blocks-of-files = { $key } 说明 I/O 在文件中的位置，而 rw={ $rw } 处理整个文件
knob-blocks-of-files-help = 请去掉它；文件的数量和大小由 nrfiles 和 filesize 指定
knob-array = 把目标组成一个阵列：raid0、raid10、raid5、raid6，或由 Linux md 组成，如 md-raid5；none 表示保持原样
knob-rebuild = 在负载运行时重建阵列的最后一个成员：每秒字节数、full（全速）或 none
knob-rebuild-speed = 重建没有速度 { $text }
knob-chunk = 阵列条带块大小，即换到下一个成员之前放在一个成员上的数据；块大小可以与之相同：bs=chunk、bs=stripe
knob-missing = 阵列最后若干个成员缺失
knob-stripe-without-array = 条带是阵列的一部分，而这里没有阵列
knob-stripe-without-array-help = 请加上 array=raid5 或其他级别，或为 bs 给出大小
knob-missing-without-array = 只有阵列才会缺失成员，而这里没有阵列
knob-missing-without-array-help = 请加上 array=raid5 或其他有冗余的级别，或去掉 missing
knob-stripe-too-long = 一个条带为 { $block }，超过了块大小的上限 { $max }
knob-precondition = 测量之前：same（自身负载直到稳态）、snia（清除、128k 写两遍、自身负载）、quick、none
knob-purge = 先清除目标（snia 总会清除）：1（可用的最佳方式）、format、sanitize、discard、0
knob-settle-load = 达到稳态各轮的线程数 x 队列深度
knob-settle-rounds = 最多轮数，超过即视为未达到稳态
knob-settle-time = 每轮的时长
knob-paranoid = 为每个 I/O 单独打时间戳，而非每批一次

# 参数：不可能的值。

knob-above-maximum = `{ $text }` 超过最大值 { $max }
knob-cpu-above-maximum = CPU { $cpu } 超过最大值 { $max }
knob-out-of-range = `{ $text }` 超出范围；应为 { $min } 到 { $max }
knob-share-out-of-range = `{ $text }` 超出范围；应为 1% 到 { $max }%
knob-whole-help = { $min } 到 { $max } 的整数
knob-above-100-percent = 百分之 { $percent } 超过了整体；应为 0 到 100
knob-not-a-share = `{ $text }` 不是 0 到 1 之间的比例
knob-not-a-share-help = 请写成 1% 或 0.01 的形式
knob-negative = `{ $text }` 是负数
knob-not-whole = `{ $text }` 不是整数
knob-over-64-bits = `{ $text }` 超出 64 位
knob-not-a-flag = `{ $text }` 既不是 1 也不是 0
knob-not-a-flag-help = 请写 1 或 0
knob-share-of-target = `{ $text }`：这里不支持目标的比例
knob-share-of-target-help = 请以字节给出大小，例如 20g
knob-binary-unit = `{ $text }` 被读作 { $bytes } 字节：k、m、g 为 1024 的幂
knob-unknown-workload = 未知的负载 `{ $text }`
knob-group-order = 顺序与大小
knob-group-pacing = 停顿与份额
knob-bsrange = 从一个范围中抽取块大小，例如 4k-64k：为最小值的整数倍
knob-bs-unaligned = 与 bsrange 合用：大小可为任意字节数
knob-blockalign = 随机偏移是它的整数倍，而不是块大小的整数倍
knob-rw-sequencer = 与 rw=randread:N 合用：sequential（每个 I/O 紧接上一个）或 identical（再次访问同一偏移）
knob-percentage-random = 随机模式中位于随机偏移的 I/O 的比例；其余紧接前一个 I/O
knob-random-sequence-stride = 与 random_distribution=sequence 合用：每一轮后移列表长度个块
knob-zonemode = strided：在一个区内访问 zonesize 字节，然后跳过 zoneskip 字节到下一个区
knob-zonesize = 到下一个区之前在一个区内的 I/O 字节数
knob-zonerange = 区的长度（默认：zonesize）
knob-zoneskip = 一个区的末尾到下一个区之间的字节数
knob-io-size = 一个线程在一遍中传输的字节数（默认：整个区域）
knob-number-ios = 一个线程在一遍中最多的 I/O 数
knob-offset-increment = 每个线程的区域与步骤的一样大，第 i 个线程依次后移这么多字节；不设时顺序模式的线程平分区域
knob-thinktime = 线程每 thinktime_blocks 个 I/O 之后的停顿；无单位的数为微秒
knob-thinktime-spin = thinktime 中让 CPU 忙等的部分
knob-thinktime-blocks = 两次停顿之间一个线程的 I/O 数
knob-prioclass = 线程 I/O 的优先级类别：1 或 rt，2 或 be，3 或 idle
knob-prio = 线程 I/O 在其类别内的级别，0（最先）到 7
knob-priohint = 随优先级告知设备的提示，例如命令时限的编号
knob-cmdprio-percentage = 具有自身优先级的 I/O 所占份额；读写不同时写作 读,写
knob-cmdprio-class = 具有自身优先级的 I/O 的类别（缺省为 rt）
knob-cmdprio = 具有自身优先级的 I/O 的级别（缺省为 0）
knob-cmdprio-hint = 具有自身优先级的 I/O 的提示
knob-cmdprio-bssplit = 某一大小的 I/O 中具有自身优先级的份额：大小/百分比，或 大小/百分比/类别/级别[/提示]
knob-two-priorities = cmdprio_percentage 和 cmdprio_bssplit 都为单个 I/O 设定优先级
knob-two-priorities-help = 请只用其中之一
knob-priority-engine = 使用 { $engine } 时单个 I/O 没有优先级
knob-priority-engine-help = 请使用 ioengine=io_uring 或 libaio，或用 prioclass 和 prio 为整个负载设定优先级
knob-priority-above-all = 同一大小的 I/O 中具有自身优先级的份额之和超过 100 %
knob-priority-above-all-help = 请减小其中之一
knob-priority-class = “{ $text }”不是优先级类别
knob-priority-class-help = 请写 1 或 rt（实时）、2 或 be（尽力而为）、3 或 idle（空闲）
knob-priority-split = “{ $text }”不是带优先级的份额
knob-priority-split-help = 请写 大小/百分比、大小/百分比/类别/级别 或 大小/百分比/类别/级别/提示，例如 64k/25/1/0
knob-dedupe-mode = 哪些块会重复：repeat（少数几块，所有线程相同）或 working_set（区域的一部分）
knob-dedupe-working-set = 重复块的工作集占区域的份额
knob-dedupe-global = 同时运行的所有线程和负载重复同一工作集中的块
knob-unknown-dedupe-mode = 未知的 dedupe_mode“{ $text }”
knob-latency-target = 每个线程在不超过 iodepth 的范围内搜索满足此延时的最深队列（不带单位时为微秒）
knob-latency-window = 每个深度试验多长时间（缺省为 1 秒）
knob-latency-percentile = 应满足 latency_target 的 I/O 所占份额（缺省为 100）
knob-latency-run = 找到深度后继续运行并随延时调整，而不是结束
knob-latency-share = “{ $text }”不是大于 0 且不超过 100 % 的份额
knob-latency-share-help = 请写成 99.9 这样的形式
knob-latency-target-and-rate = latency_target 搜索的是深度，而给定速率的负载没有深度
knob-latency-target-and-rate-help = 请去掉速率，或用研究 qos 寻找最高速率
knob-latency-target-of-trims = latency_target 针对读写，而这里有 TRIM
knob-latency-target-of-trims-help = 请去掉 latency_target 或 TRIM
knob-sprandom = 按能使硬盘进入稳态的位置随机写入，只写一遍其物理容量（fio 的 SPRandom）
knob-spr-num-regions = sprandom 把容量分成多少部分写入（缺省为 100）
knob-spr-op = 硬盘超出其可见容量的部分，以可见容量的份额表示（缺省为 0.15）
knob-sprandom-of-others = sprandom 是由一个线程按其自身位置进行的单一大小随机写入
knob-sprandom-of-others-help = 请使用 rw=randwrite、单一 bs 和单个线程，不带分布、修饰或区
knob-uncached = 带缓存的 I/O 不在页缓存中留下内容（RWF_DONTCACHE，Linux 6.14 及以后），通过 io_uring 或 libaio 进行
knob-uncached-engine = uncached 是通过 io_uring 或 libaio 进行的带缓存 I/O
knob-uncached-engine-help = 请使用 direct=0 及 ioengine=io_uring 或 libaio，或去掉 uncached
knob-atomic = 每次写入要么整体到达介质，要么完全没有（RWF_ATOMIC）
knob-atomic-without-writes = atomic 针对写入，而这里没有写入
knob-atomic-engine = 原子写入须绕过页缓存，通过 io_uring 或 libaio 进行
knob-atomic-engine-help = 请使用 direct=1 及 ioengine=io_uring 或 libaio
knob-flow = 线程在同时运行者中的权重：I/O 按权重之比分配
knob-flow-id = 按 flow 分配的负载所属的组
knob-flow-sleep = 超出份额的线程再次查看之前的等待
knob-sequence-modifier = `{ $text }` 中的顺序修饰不是数
knob-sequence-modifier-help = 请写顺序 I/O 之间的字节数（read:8k、read:-8k）或每个随机偏移的 I/O 数（randread:8）
knob-rates-of-three = `{ $text }` 多于三个速率
knob-rates-of-three-help = 读,写,trim 的每秒 I/O 数：例如 10k,3k；留空或 0 表示不限
knob-share-of-op = `{ $text }`：单个操作的速率以每秒 I/O 数表示
knob-trimwrite-sizes = trimwrite 写入刚 trim 的块，但 trim 的大小与写不同
knob-trimwrite-sizes-help = 请让写与 trim 大小相同，例如 bs=4k 或 bs=4k,8k,8k
knob-sizes-for-three = `{ $text }` 多于三种大小
knob-sizes-for-three-help = 读,写,trim：例如 4k,8k
knob-bsrange-help = 例如 4k-64k
knob-range-per-direction = 不支持读写各用一个范围
knob-not-a-range = `{ $text }` 不是块大小的范围
knob-list-too-long = 块列表最多 { $max } 个
knob-list-too-long-help = 请缩短它
knob-zoned-help = I/O 与空间的百分比，各自合计 100：zoned:50/5:30/15:20/80
knob-zoned-abs-help = I/O 的百分比（合计 100）与大小；0 为其余部分：zoned_abs:60/1g:40/0
knob-not-zones = `{ $text }` 不是区
knob-zones-per-direction = 不支持读写各用一组区
knob-zones-sum = `{ $text }` 中的比例合计不是 100
knob-unknown-sequencer = 未知的 sequencer `{ $text }`
knob-unknown-zonemode = 不支持 zonemode={ $text }
knob-unknown-zonemode-help = 支持 none 和 strided；分区盘请用 fio 运行此作业
knob-no-zone-size = strided 区需要大小
knob-no-zone-size-help = 请加上 zonesize=256m
knob-pair-share = `{ $text }` 不是比例：读写速率以各自最高值的百分比给出
knob-pair-of-nothing = 读写均为 0 % 不构成负载
knob-pair-of-nothing-help = 请让 read_rate 或 write_rate 大于 0%
knob-pair-of-unknown = 读写速率是某个 study 先行测得值的比例
knob-pair-of-unknown-help = 请在 study 中使用（fathom run surface），或给出 --rate 与 --rw randrw --rwmixread 70
knob-pair-and-rate = read_rate 和 write_rate 本身就是速率
knob-pair-and-rate-help = 请去掉 rate_iops、rate_process 和 read_pct：读写按泊松过程到达
knob-pair-of-others = read_rate 和 write_rate 只用于普通读写：不含 trim、同步、停顿、校验或模式之外的顺序
knob-pair-of-others-help = 请去掉这些，或将负载作为流并行：fathom io A -- B
knob-thinktime-and-rate = thinktime 与速率不能同时成立：到达不等待停顿
knob-thinktime-and-rate-help = 请去掉其中之一
knob-do-verify = 0：写入带校验的块，但不检查
knob-buffer-pattern = 写入数据重复的字节：0xdeadbeef、"文本" 或一个数
knob-zero-buffers = 写入的数据为零
knob-verify-as-crc32c = verify={ $word }：此处的块带有 CRC-32C
knob-not-a-fill = `{ $text }` 不是最多 512 字节的模式
knob-not-a-fill-help = 例如 0xdeadbeef、"文本" 或 90
knob-empty-block = 0 字节的块不传输任何数据
knob-empty-block-help = 512 的倍数，例如 4k
knob-part-of-sector = { $bytes } 字节不是 512 的倍数
knob-part-of-sector-help = 完整的扇区，例如 4k；经页缓存（direct=0）可用任意大小
knob-split-twice = 块大小 { $bytes } 出现两次
knob-split-too-long = 一个划分最多 64 种大小
knob-split-sum = 各占比之和为 { $sum }，而不是 100 %
knob-split-rest = { $rest } 不能平均分给 { $sizes } 种大小
knob-bssplit-help = 请写成 4k/60:64k/40 的形式
knob-unknown-distribution = 未知的分布 `{ $text }`
knob-refused-distribution = 不支持 fio 的分布 `{ $kind }`
knob-refused-distribution-help = 请使用 zipf:THETA 或 hotspot:ACCESS/SPACE（百分比），例如 hotspot:90/10
knob-not-an-exponent = `{ $text }` 不是指数
knob-zipf-range = zipf 的指数必须大于 0 且不超过 10
knob-zipf-help = 请写成 zipf:1.2 的形式
knob-not-a-hotspot = `{ $text }` 不是 ACCESS/SPACE 的形式
knob-hotspot-range = hotspot 的两个百分比都必须为 1 到 99
knob-hotspot-help = 先写 I/O 的百分比，再写空间的百分比：hotspot:90/10
knob-rate-share-help = 闭环最高 IOPS 的整数百分比，例如 75%
knob-goal-asks-rate = `{ $text }` 要求了速率，而速率正是该 study 要寻找的
knob-goal-asks-rate-help = 请只写延时，例如 p99<=1ms
knob-not-a-load = `{ $text }` 不是 TxQ 的形式
knob-load-threads = 线程数
knob-load-depth = 队列深度
knob-load-help = 线程数 x 队列深度：4x32
knob-no-runtime = 时长为 0 则什么也测不到
knob-no-runtime-help = 例如 30s，或 2s..10s 表示下限..上限，或 auto
knob-runtime-order = 最短时长大于最长时长
knob-runtime-order-help = 下限..上限，例如 2s..10s
knob-unknown-engine = 未知的引擎 `{ $text }`
knob-engines = 可用引擎：{ $engines }
knob-unknown-mode = 未知的方式 `{ $text }`
knob-unknown-process = 未知的到达过程 `{ $text }`
knob-unknown-placement = 未知的 placement `{ $text }`
knob-placements = 可用：{ $words }，或 0-3,8 这样的 CPU 列表
knob-no-size = 大小为 0 则容不下一个块
knob-no-size-help = 例如 2g；要用整个目标请不写
knob-no-share-help = 例如 20%；要用整个目标请不写
knob-unknown-precondition = 未知的预处理方式 `{ $text }`
knob-unknown-purge = 未知的清除方式 `{ $text }`
knob-unsupported-verify = 不支持以 `{ $text }` 校验

# 参数：相互矛盾或不起作用。

knob-no-target = 没有指定目标
knob-no-target-help = 请用 --target 指定文件或设备
knob-mode-twice = mode 已经是 { $mode }
knob-mode-twice-help = iopoll（hipri）与 sqpoll（sqthread_poll）不能同时使用：请选其一
knob-engine-without-mode = 引擎 { $engine } 没有 { $mode } 方式
knob-engine-without-mode-help = iopoll 和 sqpoll（fio：hipri、sqthread_poll）需要引擎 io_uring 或 io_uring_cmd
knob-no-sqpoll-cpu = sqthread_poll_cpu 在 { $mode } 方式下不起作用
knob-mmap-direct = 引擎 mmap 经过页缓存（或 DAX）；它没有 O_DIRECT
knob-mmap-direct-help = 请去掉 direct，或设 direct=0
knob-iopoll-buffered = iopoll 方式需要 O_DIRECT
knob-iopoll-buffered-help = 请设 direct=1，或 mode=interrupt
knob-paranoid-synchronous = paranoid：同步引擎本来就为每个 I/O 打时间戳
knob-no-mix = rwmixread 和 rwmixwrite 在 rw={ $rw } 下不起作用，与 fio 相同
knob-reads-without-mix = read_pct { $read_pct } 与 rw={ $rw } 矛盾
knob-no-window = 窗口的时间为零
knob-no-window-help = 请写一个时间，例如 5s；不写 latency_window 时为 1 s
knob-without-think = 没有 thinktime 时 { $key } 不起作用
knob-without-think-help = 请设 thinktime，或去掉它
knob-reads-of-trim = rw={ $rw } 没有读的占比可言
knob-reads-of-trim-help = 请去掉它，或设 rw=randrw
knob-no-distribution = random_distribution 在 rw={ $rw } 下不起作用，与 fio 相同
knob-depth-of-synchronous = { $engine } 每个线程只有一个在途 I/O：iodepth={ $depth } 按 QD1 运行（请改为增大 numjobs）
knob-buffers = { $threads } 个线程 x { $depth } x { $block } 需要 { $buffers } 的缓冲区；最大为 { $max }
knob-buffers-help = 请减小 iodepth、numjobs 或 bs
knob-rate-process-alone = 没有 rate_iops 时 rate_process 不起作用
knob-rate-process-alone-help = 请设置 rate_iops，或去掉它
knob-size-below-block = size { $size } 小于一个 { $block } 的块
knob-size-below-block-help = 请增大 size，或减小 bs
knob-offset-in-sector = offset { $offset } 不是 512 的倍数
knob-offset-in-sector-help = O_DIRECT 需要完整的扇区，例如 1g
knob-placement-and-cpus = 同时给出了 placement 和 cpus_allowed：以后者为准
knob-share-of-nothing = rate_iops={ $share }：单独一个步骤没有可供参照的闭环
knob-share-of-nothing-help = 请以 IOPS 给出速率，例如 20k；ladder 中可以用比例

# 目标。

goal-malformed = `{ $text }` 不是目标
goal-malformed-help = 请写成例如 iops>=10M, p99<=500us
goal-wrong-way = `{ $text }` 的方向反了
goal-rate-help = 速率用 >=
goal-latency-help = 延时用 <=
goal-of-nothing = 为零的目标总能达到
goal-no-time = 没有不耗时的 I/O
goal-iops-help = 例如 10M 或 500k
goal-bw-help = 例如 20GB/s 或 10GiB/s
goal-time-help = 例如 500us
goal-without-unit = `{ $text }` 没有单位
goal-without-unit-help = 请在后面写 us、ms 或 s
goal-unknown = `{ $word }` 不能作为目标
goal-not-a-bandwidth = `{ $text }` 不是带单位的数字
goal-unknown-unit = `{ $unit }` 不是带宽单位

# 计划。

plan-base-first = { $step }：先行测量，因为后面的速率是其 IOPS 的比例
plan-time-too-short = { $time }对 { $steps } 个步骤来说太短
plan-time-too-short-help = 请至少给 { $least }，或减少步骤
plan-scaled = 用时 { $time }，而非完整的 { $full }：区间约为原来的 { $width } 倍宽
plan-scaled-rounds = 用时 { $time }，而非完整的 { $full }：区间约为原来的 { $width } 倍宽，且稳态判定只有 { $rounds } 轮，而非 { $usual } 轮

# study 文件。

study-io-question = 这一个负载能得到什么结果？
study-streams-question = 这些负载同时运行时各能得到什么结果？
study-no-question = 结果如何？
study-quick-question = 它有多快，瓶颈在哪里？
study-baseline-question = 未经调优的普通中断路径能得到什么结果？
study-pinning-question = 把线程绑核有帮助吗，到哪个队列深度为止？
study-qos-question = 尾延时有多长，在哪个深度开始增长？
study-enterprise-question = 在稳态的服务器负载下，从轻到重，各组表现如何？
study-scaling-question = 性能随盘数和线程数增长吗，瓶颈在哪里？
study-engines-question = 这里哪条 I/O 路径最快，各自的 CPU 开销是多少？
study-tune-question = 这个设置有帮助吗？
study-files-question = 每个文件系统每秒能创建、查看和删除多少文件，fsync 的代价是多少？
study-surface-question = 多少读取与多少写入并行时仍能保持延迟？
study-commit-question = 每秒能有多少次持久提交，一次需要多久，由什么决定？
study-raid-question = 每个 RAID 级别发挥了成员能力的多少，其余损失在哪里？
study-md-question = Linux md 发挥了成员能力的多少，没有它时该级别本身的代价是多少？
study-snia-question = 按 SNIA PTS，在稳态下的数值是多少？

study-unknown = 没有名为 `{ $name }` 的 study
study-shipped = 自带的 study：{ $studies }；自己的计划以 .toml 或 .fio 结尾
study-quick-precondition = quick 预处理：填充一遍，最多五轮短测；不等同于 SNIA PTS 的预处理
study-too-many-steps = 计划的步骤超过 { $max } 个
study-too-many-steps-conditioned = 计划连同预处理共有 { $steps } 个步骤；最多 { $max } 个
study-too-many-steps-conditioned-help = 请缩短列表，或减小 settle_rounds
study-ladder-too-long = 该 ladder 的步骤超过 { $max } 个
study-shorten-lists = 请缩短其列表
study-equal-cells = ladder 中与另一格相同的格只运行一次：略去 { $count } 个
study-left-out = 略去：{ $why }
study-needs-members-help = 请逐个写出成员：--target /dev/nvme0n1 --target /dev/nvme1n1 ……四个即可测量所有级别
study-no-such-part = 该 study 没有名为 `{ $part }` 的部分
study-parts-without-names = 它的 ladder 没有名称；请去掉 --only
study-target-is-no-knob = 目标不是参数
study-compare-groups = 请把目标作为组来比较：--group A=T --group B=T
study-set-target-help = 请使用 --target，或 --group NAME=TARGET,TARGET
study-unknown-side = `{ $key }` 既不是参数，也不是主机的设置
study-host-settings = 主机的设置：{ $settings }
study-versus-own-axis = 该 study 本身就遍历 { $key } 的多个值
study-versus-own-axis-help = 请先给它一个值：--set { $key }=VALUE
study-same-sides = 这没有任何改变：两边会完全相同
study-same-sides-help = 请给出该 study 尚未采用的值
study-needs-versus = 该 study 要比较一个设置，但没有指定
study-needs-versus-help = 请指定要比较的内容：--versus KEY=VALUE，例如参数 engine=libaio
study-needs-versus-or-setting-help = 请指定要比较的内容：--versus KEY=VALUE，例如参数 engine=libaio，或主机的设置（{ $settings }）
study-groups-expected = groups 只能是 "targets"：每个目标自成一组
study-switch-expected = { $name } 应为 true 或 false
study-unknown-need = study 可以要求 "versus" 或 "members"
study-not-streams = 一个 ladder 的流须为两个或更多的表
study-not-streams-help = 请在每个前写 [[ladder.stream]] 并给出 name；单个负载不需要
study-stream-name = 每个流都要有自己的名称
study-stream-name-help = 例如写 name = "log"
study-stream-share = 流 { $name } 的速率是一个比例：与其他负载同时运行时无从得知是谁的比例
study-stream-share-help = 请以每秒 I/O 数给出速率
study-streams-in-turns = 流不能与 interleave、rounds 或 --versus 同用
study-streams-in-turns-help = 请去掉它，或用 fathom compare 比较两次运行
study-text-expected = 这里应为文本
study-texts-expected = 这里应为文本，或文本的列表
study-whole-expected = 应为 { $min } 到 { $max } 的整数
study-knob-expected = 这里应为参数的名称
study-knob-expected-help = outermost = "read_pct"
study-is-a-table = `{ $table }` 是一个表
study-is-a-table-help = 请写 [{ $table }]
study-wrong-type = { $key }：这里不能是 { $kind }
study-wrong-type-help = 请给出文本、整数，或 true 和 false
study-min-and-max = runtime：min 和 max 都需要
study-min-and-max-help = {"{"} min = "2s", max = "10s" {"}"}
study-list-in-defaults = 列表属于 ladder：defaults 只放单个值
study-list-in-defaults-help = 请把它移到 [[ladder]] 中
study-list-help = 列表写作 iodepth=[1, 2, 4]
study-empty-list = 空列表不产生步骤
study-empty-list-help = 请至少给出一个值
study-not-a-ladder = ladder 写作 [[ladder]]
study-no-knob-of-ladder = `{ $word }` 不是该 ladder 的参数，或出现两次
study-no-knob-of-ladder-help = 请把 ladder 的每个参数各写一次
study-outermost = `{ $key }` 不能作为含轮次的 ladder 或对其交错的 ladder 的最外层
study-outermost-help = 请去掉 `outermost`
study-rounds-without-track = 轮次需要知道哪个数值必须达到稳态
study-rounds-without-track-help = 请加上 track = {"{"} metric = "iops" {"}"}
study-track-is-a-table = track 是一个表
study-track-is-a-table-help = track = {"{"} metric = "iops", bs = "4k" {"}"}
study-unknown-figure = 未知的数值 `{ $figure }`
study-no-such-cell = { $key } = { $value } 不是该 ladder 的格
study-no-such-cell-help = 请写该 ladder 具有的参数和值
study-target-and-group = 同时给出了 --target 和 --group
study-target-and-group-help = 请把所有目标放入组中
study-bad-group = 组 `{ $group }` 为空，或出现两次
study-bad-group-help = --group NAME=TARGET,TARGET
study-no-target-help = 请指定文件或设备：--target PATH，或 [defaults] 中的 `target`

# 步骤的标签，以及比较双方的标签。

label-workload = { $blocks } { $order }{ $operations }
label-sequential = 顺序
label-random = 随机
label-order-unknown = 顺序未知的
label-random-repeating = 随机（可重复）
label-zipf = zipf { $theta }{" "}
label-hotspot = 热点 { $access }/{ $space }{" "}
label-read = 读
label-write = 写
label-trim = TRIM
label-mix = 读写 { $read }/{ $write }
label-trim-and-write = trim + 写
label-write-trim = 写 { $write }/TRIM { $trim }
label-read-write-trim = 读 { $read }/写 { $write }/TRIM { $trim }
label-load = { $workload } T{ $threads } QD{ $depth }
label-load-over = { $workload } T{ $threads }（分到 { $targets } 个目标） QD{ $depth }
label-load-on-all = { $workload } T{ $threads }（每个访问全部 { $targets } 个目标） QD{ $depth }
label-reads-at = 读取 { $reads }
label-writes-at = 写入 { $writes }
label-reads-and-writes = 读取 { $reads } + 写入 { $writes }
label-at-share = { $load } 最高值的 { $share }
label-at-rate = { $load } 速率 { $iops }/s
label-at-rates = { $load } 速率 { $reads } 读/s + { $writes } 写/s
label-reads-limited = { $load }，读 <= { $reads }/s
label-writes-limited = { $load }，写 <= { $writes }/s
label-purge = 清除
label-purge-by = 以 { $means } 清除
label-fill = 填充
label-precondition = 预处理 { $workload }
label-pass = { $label }，第 { $number }/{ $of } 遍
label-part = { $label }，第 { $number }/{ $of } 部分
label-stream = { $name }：{ $label }
stream-verify-shared = 流 { $writer } 会写入 { $target }，而流 { $verifier } 正在校验它
stream-verify-shared-help = 请让两者使用不同的目标，或去掉 verify
label-stream-alone = { $name } 单独：{ $label }
label-with = { $label } { $what }
label-unregistered = 未注册
label-fixed-buffers = 仅注册缓冲区
label-fixed-files = 仅注册文件
label-pinned = 绑核
label-pinned-to-siblings = 绑到同核线程
label-local = 本地节点
label-remote = 远端节点
label-nodes = 节点 { $nodes }
label-cpus = CPU { $cpus }
label-drives = { $drives } 块盘
label-ranks = { $ranks } 个进程
label-buffered = 经页缓存
label-compressible = 可压缩 { $share }
label-dedupe = 重复 { $share }
label-over = 范围 { $size }
label-from = 起于 { $offset }
label-verified = 带校验
label-fresh-file = 全新文件
label-sparse-file = 稀疏文件
label-submits-by = 每次提交 { $ios }
label-waits-for = 每次等待 { $ios }
label-reaps-by = 每次最多收取 { $ios }
label-quick = 快速
label-round = 第 { $number } 轮
arm-parts = { $parts }
arm-as-in-study = { $key } 保持 study 原设
arm-as-found = { $key } 保持原样

# fio 作业：不起作用的、不支持的、两者不同之处。

fio-logs = 不写日志文件；每个区间都会保留：请用 `fathom export --format fio-log`
fio-latencies = Fathom 总是记录每个 I/O 的 slat、clat 和 lat
fio-layout = Fathom 自行布置文件，先写后读，并在结束后删除
fio-not-a-fallocate = `{ $text }` 不是为文件分配空间的方式
fio-threads = Fathom 总是使用线程
fio-group-reporting = 同一步骤的线程总是合并报告
fio-new-group = 每个步骤单独报告
fio-percentiles = 保留完整直方图；显示 p50 到 p99.999
fio-clock = Fathom 自行选择时钟并予以说明
fio-digits = 显示三位有效数字，导出时为全部位数
fio-disk-util = 总是读取目标设备的计数器
fio-stats = 每个步骤都会报告
fio-invalidate-once = 页缓存在步骤开始前清空一次；fio 在每次重新遍历文件时都会清空，因此小文件在 fio 中始终是冷的
fio-unified = 读和写既分别报告，也合并报告
fio-nonvectored = Fathom 的 I/O 从不使用向量方式
fio-userspace-reap = 在内核支持时，Fathom 在用户态从环中收取完成事件
fio-no-repeats = 写入的数据本来就不重复
fio-seed = Fathom 的偏移由种子决定：要改变请设置 randseed
fio-steady = 以 time_based 的 runtime 为准；达到稳态时不会提前结束
fio-bandwidth = 不监视最低带宽
fio-generator = Fathom 使用自己的随机数生成器；除非 norandommap，每个块访问一次
fio-two-rates = rate 与 rate_iops 不能同时使用
fio-two-rates-help = 请去掉其中一个
fio-bandwidth-of-step = 每个作业与方向的 rate={ $text } 合计 { $rate }，按这些块大小为 { $iops }
fio-verify-backlog = 全部写完后才校验各块
fio-commands = 不从作业文件运行命令
fio-commands-help = 请在前后自行运行
fio-trace-streamed = 轨迹总是以流的方式读取
fio-trace-missing = 没有可回放的轨迹
fio-trace-missing-help = 请用 read_iolog 指定轨迹，或删除这一行
fio-trace-says = 这由 read_iolog 的轨迹决定：`{ $key }` 会与之矛盾
fio-trace-one = 一个作业从一个文件回放一条轨迹
fio-trace-one-help = 请为每条轨迹写一个小节，并设 numjobs=1
replay-empty = 轨迹中没有读、写或 trim
replay-no-target = 轨迹以当时的设备号命名设备（{ $devices }），在这里可能是任意驱动器
replay-targets = 轨迹有 { $files } 个文件，却指定了 { $named } 个目标
replay-targets-help = 请为整条轨迹指定一个目标（replay_redirect=/dev/...），或按顺序为每个文件各指定一个（filename=a:b）
replay-unaligned = 轨迹的位置和长度是 { $bytes } 字节的倍数，直接 I/O 不接受
replay-unaligned-help = 请去掉 direct=1
replay-verify = 轨迹没有可校验的内容
replay-verify-help = 请去掉 verify
replay-found = 轨迹：{ $time } 内 { $ios } 个 I/O（{ $reads } 读，{ $writes } 写，{ $trims } trim）和 { $syncs } 次同步
fio-remove = 请去掉它
fio-cpumask = CPU 以列表指定
fio-cpumask-help = 请使用 cpus_allowed=0-3
fio-rate-min = 达不到的速率会被报告，不会结束步骤
fio-rate-cycle = 到达逐个保持，不按窗口
fio-full-queue = 队列保持填满
fio-one-file-help = 请用 filename=a:b 指定文件
fio-filesize = 文件与其区域一样大
fio-filesize-help = 请使用 size
fio-kb-base = 4k 总是 4096 字节
fio-kb-base-help = 请去掉它，并把大小写成 4k 的形式
fio-verify-fatal = 错误的块会被计数并显示
fio-max-latency = 慢 I/O 会被记录，不会结束步骤
fio-mounted = 从不写入已挂载的盘
fio-mounted-help = 请使用盘上的文件，或换一块盘
fio-pre-read = 不预热页缓存
fio-submit-mode = 在开环中延迟从预定开始时刻算起，与由哪个线程提交无关
fio-overlap = 不推迟重叠的 I/O
fio-cmd-type = 只向盘下发 NVMe 命令
fio-continue-on-error = 错误会被计数，步骤继续
fio-ignore-error = 每个错误都会被计数并显示
fio-no-equivalent = Fathom 没有对应功能
fio-no-equivalent-help = 请去掉它，或用 fio 运行该作业

fio-think-issue = I/O 在完成时计数
fio-think-time = 停顿按 I/O 数计，不按时间计
fio-think-time-help = 请用 thinktime_blocks
fio-verify-async = 块由读取它的线程校验
fio-verify-whole = 块作为整体校验
fio-fills-space = fill_device：新建的文件占用文件系统的全部空闲空间，仅留 128 MiB；已有的文件写到其末尾
fio-wait-for = 此前没有名为 { $name } 的节
fio-wait-for-help = 请写出前面某一节的名称
fio-wait-for-itself = 作业不能等待自身
fio-wait-for-several = 此前有多个节名为 { $name }
fio-wait-for-several-help = 请给每个节取不同的名称
fio-wait-for-one = { $name } 与 { $beside } 同时运行：不支持只等待其中之一
fio-wait-for-one-help = 给 { $beside } 也加上 stonewall 或 wait_for，或使用 startdelay
fio-never-runs = [{ $section }] 永远不会运行：[{ $by }] 的 exit_what=all 结束整个运行
fio-exit-what = 未知的 exit_what={ $word }
fio-exit-what-help = group、stonewall 或 all
fio-not-supported = 不支持 fio 的 `{ $key }`：{ $why }
fio-include = `include` 未指定文件
fio-include-help = 请写 include 文件名
fio-include-unread = 无法读取被包含的文件 { $path }：{ $error }
fio-include-unread-help = 请给出相对于当前目录或本文件所在目录的路径
fio-include-circle = { $path } 包含了自身，或嵌套超过 16 层
fio-include-circle-help = 请删除该 include
fio-include-section = 被包含的文件不能有自己的小节
fio-include-section-help = 请把该小节移到作业文件中
fio-unknown-number-help = 本机的该数值未知；请直接写数字
fio-arithmetic = 无法计算 { $text }
fio-arithmetic-help = 请使用整数、4k 之类的大小以及 + - * / ( )
fio-engine-not-built-in = ioengine={ $engine } 未内置
fio-engine-not-built-in-help = 请使用 libaio、io_uring、psync 或 mmap
fio-format-repeats = filename_format={ $format } 使作业的多个文件同名
fio-format-repeats-help = 请在其中使用 $jobnum 和 $filenum
fio-command-terse = 不存在 terse 版本 { $text }
fio-command-terse-help = 请使用 2、3、4 或 5
fio-command-value = { $key } 不接受值，但给出了 { $value }
fio-command-value-help = 请只写 { $key }
fio-unlink = 作业的文件会保留
fio-unlink-help = 请在运行后自行删除
fio-share-of-several = 多个文件大小各异
fio-share-of-several-help = 请写字节数，或为每个文件单独建一个小节
fio-filesize-increment = 使用 filesize 时，作业的各副本区域大小不同
fio-filesize-increment-help = 请使用 size，或分别建小节
fio-file-twice = filename 两次指定了 { $name }
fio-file-twice-help = 每个文件只写一次，或分别建小节
fio-io-size-of-several = 与 loops 或多个文件同用时，fio 按另一规则结束
fio-io-size-of-several-help = 请使用 number_ios，或去掉 loops
fio-no-job = 作业文件中没有作业
fio-no-job-help = 除 [global] 外请再加一个小节，例如 [job]
fio-too-many-jobs = 作业文件的作业数（含 numjobs 的副本）超过 { $max }
fio-too-many-steps = 作业文件的步骤超过 { $max } 个
fio-too-many-steps-help = 请拆分它
fio-command-refused = 不支持 fio 的 { $option }
fio-command-refused-help = 请用 fio 本身运行，或去掉该选项
fio-command-format = 不支持 fio 的输出格式 { $format }
fio-command-format-help = 请使用 normal、json、json+ 或 terse；多个之间用逗号分隔
fio-no-such-section = 没有名为 { $name } 的小节
fio-no-such-section-help = 现有 { $sections }
fio-needs-a-value = `{ $key }` 需要一个值
fio-needs-a-value-help = 请写 { $key }=...
fio-section = 小节写作 [name]
fio-section-help = 请以 `]` 结束，每行一个
fio-key-before-section = 第一个小节之前出现了键
fio-begin-with-global = 请以 [global] 开头
fio-key-and-value = `=` 两边应有键和值
fio-key-and-value-help = 例如 iodepth=32
fio-open-variable = `${"{"}` 没有闭合
fio-open-variable-help = 请写 ${"{"}NAME{"}"}
fio-unset-variable = 变量 `{ $name }` 未设置
fio-unset-variable-help = 请这样运行：{ $name }=... fathom run ...
fio-sections-at-once = 小节 { $sections } 在 fio 中同时运行：合为一个覆盖其全部文件的步骤
fio-no-such-engine = 不支持 ioengine={ $engine }：Fathom 没有这个引擎
fio-several-directories = 不支持多个目录
fio-uneven-folders = 这些相同的作业中，一个文件夹里的比另一个多
fio-uneven-folders-help = 请让每个文件夹有同样多的作业，或用 stonewall 分开
fio-one-open-file = 每个线程同时只打开一个文件
fio-unique-names = 每个线程有自己的文件
fio-stat-type = 文件用 statx 查看
fio-no-file = filename 没有指定文件
fio-no-file-help = 例如 filename=a:b
fio-file-per-job = [{ $section }] 没有 filename：fio 会给它的 { $jobs } 个作业各一个文件
fio-not-a-time = runtime：`{ $text }` 不是时间
fio-not-a-time-help = 例如 30 或 30s
fio-time-based = time_based 需要 runtime
fio-time-based-help = 请加上 runtime=30s
fio-no-effect = { $key } 在 { $with } 下不起作用
fio-ends-after-size = 没有 time_based 时，作业在访问完 size 后结束（无论用时多久），与 fio 相同
fio-ends-after-size-or-runtime = 没有 time_based 时，作业在访问完 size 或到达 runtime 后结束，与 fio 相同
fio-not-a-rate = rate_iops：这不是速率
fio-rate-help = 例如 rate_iops=1000，或读与写各为 rate_iops=700,300
fio-rate-of-step = 每个 fio 作业的 rate_iops={ $text } 合计为该步骤的 { $total }
fio-defaults = 作业未说明之处采用 fio 的默认值：{ $defaults }
fio-kib = { $key }={ $value }：fio 把 KiB 读作 1000 字节（kb_base=1024），Fathom 在此也一样；4096 字节请写 4k
fio-verify = verify：Fathom 的块采用自己的格式，而非 fio 的格式
fio-unknown-policy = 未知的策略 `{ $policy }`
fio-shared-cpus = cpus_allowed：fio 允许每个作业在列表中的任意 CPU 上运行（cpus_allowed_policy=shared）；Fathom 把第 i 个线程绑定到第 i 个 CPU

fio-lacks-cores = 每个物理核一个线程：请用 cpus_allowed 指定 CPU
fio-lacks-smt = 线程占用每个核的两个同核线程：请用 cpus_allowed 指定 CPU
fio-lacks-local = 线程在目标所在的 NUMA 节点上：请用 cpus_allowed 指定 CPU
fio-lacks-remote = 线程在目标所在节点以外的 NUMA 节点上：请用 cpus_allowed 指定 CPU
fio-lacks-pair = 读写速率为之前所测值的比例：请用 rate_iops 指定
fio-lacks-share = 速率为之前闭环所得 IOPS 的 { $share }：请用 rate_iops 指定
fio-lacks-stages = 速率逐段变化：fio 保持各段的平均速率
fio-lacks-adaptive = 从 { $floor } 起，区间足够窄即结束

# 由 fio 运行的作业。
label-by-fio = { $engine }（由 fio 运行）
label-by-spdk = { $engine }（由 spdk 运行）
cross-check-left-out = { $step }：不交给 spdk_nvme_perf：{ $why }
cross-check-spdk-drives = 它的每个线程只用一块盘
cross-check-spdk-mix = 它不区分混合负载中的读与写，也没有 trim
cross-check-spdk-sizes = 它的块只有一种大小
cross-check-spdk-pattern = 它只有各块概率相同的随机块，以及单个线程的连续块
cross-check-spdk-region = 它作用于整块盘，而此负载只用一部分
cross-check-spdk-plain = 它没有速率、停顿、同步、遍数与数据校验
fio-by-fio = [{ $section }] 由已安装的 fio 运行（{ $engine }）：同样受保护、采样和评判；不探查其瓶颈
fio-by-fio-refused = fio 的 `{ $key }` 不会交给 fio：{ $why }
fio-by-fio-refused-help = 请去掉它，或单独用 fio 运行该作业
fio-by-fio-program = 它会运行此处无法保护的程序
fio-by-fio-setting = 它会更改主机设置且不会恢复
fio-by-fio-other-files = 它会让 fio 触及此处无法保护的文件
fio-by-fio-own-names = 该引擎在一个新建的文件夹中创建自己的文件，结束时删除
fio-by-fio-own-names-help = 请用 `directory` 指定所在文件夹
fio-by-fio-engine = 不清楚 ioengine={ $engine } 会触及什么，因此不让 fio 运行它
fio-by-fio-engine-help = 已知的有 { $engines }
fio-by-fio-remote = ioengine={ $engine } 写入远端存储，无从判断会毁坏什么
fio-by-fio-remote-help = 请只读，或单独用 fio 运行该作业
fio-by-fio-files = 此处每个作业最多 { $max } 个文件
fio-by-fio-files-help = 请减小 `nrfiles`，或使用自行创建文件的引擎（filecreate）

# 用户态阵列的名称

array-level = 用户态没有 { $word } 级别的阵列
array-level-help = 可用的级别：raid0、raid10（两个成员即镜像）、raid5 和 raid6；也可由 Linux md 组成，如 md-raid5
array-rebuild = 无法在该阵列的负载旁重建 { $member }
array-rebuild-help = 有冗余的级别可在负载旁重建一个成员：50m+/dev/sdd（每秒至多 50 MiB）或 full+/dev/sdd；没有负载时用 fathom rebuild
array-form = { $name } 不是完整的阵列名称
array-form-help = 请写成 级别:条带块:成员,成员...，例如 raid5:64k:/dev/sdb,/dev/sdc,/dev/sdd
array-chunk = { $text } 不能作为阵列的条带块大小
array-chunk-help = 请给出 4k 到 64m 之间的 2 的幂，例如 64k
array-too-few = { $level } 需要 { $min } 个成员，只给出了 { $count } 个
array-too-few-help = 请给出更多成员，或选用需要成员更少的级别
array-too-many = { $count } 个成员超过了一个阵列的上限 { $max }
array-too-many-help = 请分成几个阵列，分别作为目标
array-twice = { $member } 在阵列中出现了两次
array-twice-help = 每个成员只写一次
array-kind = 有一个成员名为“{ $member }”
array-kind-help = 成员可以是文件、块设备，或表示缺失的单词 missing
array-too-many-missing = { $level } 缺少这些成员就无法工作：{ $count } 个
array-too-many-missing-help = 请写出在位的成员；raid5 可缺一个，raid6 可缺两个，raid10 每对可缺一个
