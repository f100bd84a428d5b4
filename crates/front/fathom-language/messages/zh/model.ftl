# 记录的含义，以及测量之前的预期 (fathom-model)。

# 一个步骤的瓶颈。句中的 `limit` 是以下两者之一。
limit-word = 瓶颈
limit-word-probable = 瓶颈（{ $probability }）

limit-name-queue-depth = 队列深度
limit-name-device = 设备
limit-name-link = PCIe 链路
limit-name-uplink = 共享链路
limit-name-core = 单核
limit-name-all-cores = 全部核心
limit-name-irq-core = 处理中断的核
limit-name-kernel-thread = 内核线程
limit-name-file-system = 文件系统
limit-name-network = 网络
limit-name-server = 服务器
limit-name-client = 客户端
limit-name-raid = 阵列
limit-name-memory = 内存带宽
limit-name-flush = 写入之间的刷写
limit-name-page-cache = 页缓存
limit-name-rate = 速率
limit-name-unknown = 未知部分

limit-pauses = 瓶颈是负载本身：其线程有 { $share } 的时间在停顿。
limit-rate-asked = 瓶颈是设定的速率 { $rate }：已维持。
limit-rate-allowed = { $limit }是{ $source } 允许的速率：{ $allowed }，已经达到。
limit-rate-allowed-not-met = { $limit }是{ $source } 允许的速率：{ $allowed }。实际达到其 { $reached }，每个 I/O 的用时为设备自身用时的 { $wait }。
limit-rate-of-control-group = 控制组对 { $device } 的 io.max
limit-rate-outside = { $limit }是本机之外（虚拟化平台或云服务商）的限速：各深度均为 { $rate }，相差不到 2 %。
limit-token-bucket = { $limit }是本机之外带突发额度的限速：{ $after }后额度中的 { $burst } 个 I/O 用尽，由 { $first } 降到 { $refill }。
limit-flush = 瓶颈是刷写：每次 { $call } 耗时 { $mean }，占 { $share } 的时间；其间的一次 I/O 耗时 { $io }。
limit-page-cache = 由页缓存应答：只有 { $share } 的字节到达设备。这是内存的速度，不是硬盘的。
limit-all-cores = { $limit }是全部 { $cpus } 个 CPU：繁忙 { $busy }，每 I/O 耗 CPU { $cost }。
limit-irq-cores = { $limit }是处理中断的 { $cpus ->
    [1] CPU { $cpu }
   *[other] { $cpus } 个 CPU
  }：繁忙 { $busy }，其中 { $interrupts } 用于中断。
limit-allocation = { $limit }是文件系统：{ $share } 的写入落在文件尚未分配的空间，文件系统每次只为一个写请求分配。
help-write-it-once = 先把文件从头到尾写一遍：之后只是覆盖已有的块
help-block-device = 用块设备代替文件
limit-network = { $limit }是网络：每个 I/O 耗时 { $total }，其中往返服务器的路程占 { $way }（{ $share }）。
limit-network-link = { $limit }是网络：通往服务器的 { $device } 已用去其速率的 { $share }。
limit-server = { $limit }是服务器：每个 I/O 耗时 { $total }，其中 { $time } 花在服务器上（{ $share }）。
limit-client = { $limit }是客户端：每个 I/O 耗时 { $total }，其中 { $time } 花在本机发送之前和收到应答之后（{ $share }）。
limit-unknown-server-or-client = 瓶颈未知：每个 I/O 的时间有 { $share } 不在网络上。该客户端没有可区分服务器与自身的计数。
help-hide-the-way = 增加同时进行的 I/O：每个等待时间不变，但同时等待的更多
help-larger-transfers = 增大 I/O：一次往返传送更多字节
help-look-at-server = 服务器自身的盘、线程和 CPU：在服务器上测量它的盘
help-client-connections = 增加客户端的连接或槽位（NFS：nconnect、max_session_slots），或增加主机
limit-kernel-thread = { $limit }是{ $cpus ->
    [1] 内核线程 { $name }（{ $work }）：占一个 CPU 的 { $busy }
   *[other] { $name } 的内核线程（{ $work }）：占 { $cpus } 个 CPU 的 { $busy }
  }，含等待 CPU 的时间。
kernel-work-md-parity = 用一个线程计算 md 阵列的校验
kernel-work-md-parity-group = 计算 md 阵列的校验
kernel-work-md = 用一个线程处理 md 阵列的 I/O
kernel-work-encryption = dm-crypt 加解密
kernel-work-encrypted-writes = 用一个线程提交 dm-crypt 加密后的写
kernel-work-device-mapper = device-mapper 目标
kernel-work-loop = 读写 loop 设备的映像文件，同时只有一个线程
kernel-work-journal = ext4 的日志
kernel-work-xfs = XFS
kernel-work-btrfs = btrfs
kernel-work-zfs = ZFS
kernel-work-writeback = 用一个线程回写页缓存中的数据
kernel-work-reclaim = 回收页缓存的内存
kernel-work-nvme-fabrics = 网络 NVMe
kernel-work-block-layer = 块层
kernel-work-ring-workers = io_uring 自己的工作线程
limit-cores = { $limit }是{ $workers ->
    [1] 单个核心
   *[other] 全部 { $workers } 个工作线程所在的核
  }：繁忙 { $busy }，每 I/O 耗 CPU { $cost }。
limit-polling-core = { $limit }是轮询核：每 I/O 耗 CPU { $cost }。
limit-link = { $limit }是 PCIe 链路：数据 { $rate }，占其承载能力（{ $ceiling }）的 { $used }。
limit-link-or-drive = { $limit }是硬盘的 PCIe 链路，或者是硬盘本身：数据 { $rate }，占链路承载能力（{ $ceiling }）的 { $used }。
limit-uplink = { $limit }是共享链路：数据 { $rate }，占其承载能力（{ $ceiling }）的 { $used }。
limit-memory = { $limit }是内存带宽：数据 { $rate }，占其承载能力（{ $ceiling }）的 { $used }。
limit-array = { $limit }是阵列：{ $iops } 达到其上限（{ $ceiling }）的 { $used }。
limit-array-writes = { $limit }是阵列：每次写要耗成员盘 { $ios } 次 I/O。
limit-shared-device = { $limit }是设备：全部 { $targets } 个目标都在其上，减少目标时总量不变。
limit-shared-part = { $limit }是各硬盘共享的部分：减少硬盘时总量不变。
limit-queue-depth = { $limit }是队列深度：{ $in_flight ->
    [1] 逐个 I/O，每个 { $latency }
   *[other] 在途 { $in_flight } 个，每个 { $latency }
  }。
limit-shared-with-streams = { $limit }是设备：与另外 { $streams } 个流同时运行时，本流的 IOPS 为单独运行的 { $share }，而主机的计数器均未饱和。
limit-as-alone = 与单独运行时相同：{ $cause }
limit-unknown-not-alone = 瓶颈未知：主机的计数器由各流共有，而本流未单独测量。
limit-unknown-as-alone = 瓶颈未知：与其他流同时运行时与单独运行给出的相同，而单独运行时受何限制尚不清楚。
limit-unknown-shared-among-streams = 瓶颈未知：与另外 { $streams } 个流在多个设备上同时运行时，本流的 IOPS 为单独运行的 { $share }。
help-stream-on-its-own = 为它单配一块硬盘：可达 { $iops }（{ $gain }），即它单独运行时所给
evidence-share-of-alone = IOPS 与单独运行之比
evidence-sum-of-shares = 各流此比之和
limit-device = { $limit }是设备：在途 { $in_flight } 个，每个 { $latency }，没有核饱和。
limit-less-at-depth = 瓶颈未知：此步骤的 IOPS 为在途 { $in_flight } 个时的 { $gain }，而后者前后两次给出的相同。在途更多反而互相妨碍，原因在设备或主机中。
limit-state-may-have-changed = 瓶颈未知：此步骤的 IOPS 为在途 { $in_flight } 个时的 { $gain }，超出两者的区间；或者设备变了，或者它在此深度给出得更少。
limit-state-changed-slower = 瓶颈未知：设备在这组步骤期间变慢了。此步骤的 IOPS 为在途 { $in_flight } 个时的 { $gain }，而后者再测一次只有 { $again }。
limit-state-changed-faster = 瓶颈未知：设备在这组步骤期间变了，后来又变快。此步骤的 IOPS 为在途 { $in_flight } 个时的 { $gain }，而后者再测一次为 { $again }。
limit-unknown-no-io = 瓶颈未知：没有完成任何 I/O。
limit-unknown-no-signature = 瓶颈未知：没有计数器到达极限，相邻步骤也不能判定。
limit-unknown-less-gave-more = 瓶颈未知：后面在途不多于此的步骤反而更快，说明设备的状态在步骤之间变了。
limit-unknown-deeper-held-by-threads = 瓶颈未知：队列更深时因其线程所在的核已满而增长甚少，这不能说明设备的情况。
limit-unknown-shallower-held-by-threads = 瓶颈未知：在途较少的步骤受其线程所限，因此此后的增长不能说明队列深度的作用。
limit-unknown-waits-above-device = 瓶颈未知：在途 I/O 中只有少数在设备上，其余的在设备之上等待：等文件系统或驱动的锁、内核线程，或速率限制。

limit-probe-more-in-flight = 在途 { $in_flight } 个时 IOPS 为此步骤的 { $gain }{ $gain-ci }。
limit-probe-fewer-in-flight = IOPS 为在途 { $in_flight } 个时的 { $growth }{ $growth-ci }。
limit-probe-more-threads = { $threads } 个线程时 IOPS 为此步骤的 { $gain }{ $gain-ci }。
limit-probe-other-engine = { $engine } { $mode } 的 IOPS 为此步骤的 { $gain }{ $gain-ci }。
limit-probe-fewer-targets = 只用 { $targets } 个目标时，每个目标的 IOPS 为此步骤的 { $gain }{ $gain-ci }。
limit-probe-other-block = { $block } 的块传输的字节为此步骤的 { $gain }{ $gain-ci }。
limit-probe-repeated = 在途 { $in_flight } 个再测一次，IOPS 为首次的 { $gain }{ $gain-ci }。
limit-probe-faster-link = 同型号硬盘在更快的链路上时 IOPS 为此步骤的 { $gain }{ $gain-ci }。
limit-caveat-noise = 区间尚不能排除其他答案。
limit-caveat-workers-waited = 其他程序使工作线程有 { $share } 的时间在等待。

evidence-iops = IOPS
evidence-mean-latency = 平均延时
evidence-mean-in-flight = 平均在途数
evidence-cpu-per-io = 每 I/O 的 CPU
evidence-allowed-cpus-busy = 本次运行可用 CPU 的平均繁忙程度
evidence-own-share-of-busy = 繁忙时间中属于本次运行的份额
evidence-cpu-busy = CPU { $cpu } 的繁忙程度
evidence-cpu-interrupts = CPU { $cpu } 繁忙时间中中断的份额
evidence-allocated-share = 需要文件系统分配空间的写入字节占比
evidence-network-way = 到服务器的往返（TCP 连接）
evidence-rpc-round-trip = 从发出调用到应答的平均时间
evidence-rpc-execute = 一次调用的平均时间
evidence-rpc-sent-again = 重发的调用占比
evidence-network-share = I/O 时间中网络占比
evidence-server-share = I/O 时间中服务器占比
evidence-client-share = I/O 时间中客户端占比
evidence-network-link-used = 链路速率的使用占比
evidence-kernel-threads-busy = 内核线程占用或等待的 CPU 份额
evidence-workers-busy = 工作线程的平均繁忙程度
evidence-workers-waited = 工作线程等待 CPU 的时间份额
evidence-gain-of-threads = { $threads } 个线程时的 IOPS 与此步骤之比
evidence-gain-of-depth = 在途 { $in_flight } 个时的 IOPS 与此步骤之比
evidence-growth-of-depth = 此步骤的 IOPS 与在途 { $in_flight } 个时之比
evidence-gain-of-repeat = 在途 { $in_flight } 个再测一次的 IOPS 与首次之比
evidence-gain-per-target = { $targets } 个目标时每个目标的 IOPS 与此步骤之比
evidence-bytes-at-device = 到达设备的字节
evidence-page-cache-bytes = 页缓存中的字节
evidence-intended-rate = 设定速率
evidence-allowed-rate = 允许速率
evidence-at-device = 在途 I/O 中位于设备上的比例
evidence-interval-spread = 各时段 IOPS 的离散程度
evidence-expected-interval-spread = 由延时推出的离散程度
evidence-latency-over-device = 延时与设备自身用时之比
evidence-ceiling = 上限
evidence-ceiling-used = 上限的利用率
evidence-rated-over-link = 硬盘标称值与链路承载能力之比
evidence-array-ceiling = 阵列的上限
evidence-member-ios-per-write = 每次写的成员盘 I/O
evidence-member-reads = 纯写时成员盘的读

help-up-to = { $help }：最多到 { $iops }（{ $gain }），其后的瓶颈是{ $next }
help-more-in-flight = 增加在途 I/O：加深队列或增加线程
help-another-drive = 再加一块硬盘
help-larger-blocks-for-bytes = 更大的块（若看重带宽）
help-link-or-drive = 区分二者：硬盘的标称值、更快链路上的同型号硬盘，或小得多的块
help-better-slot = 通道更多或代次更新的插槽
help-another-drive-on-own-link = 再加一块自带链路的硬盘
help-other-port = 把硬盘移到另一端口，不再共享此端口
help-more-threads = 在各自的核上增加线程
help-cheaper-engine = 开销更低的引擎：io_uring，硬盘支持时用轮询
help-larger-blocks = 更大的块
help-more-cores = 更多的核
help-spread-interrupts = 把中断分散到更多核
help-poll-queues = 不需要中断的轮询队列
help-md-group-threads = 用更多线程计算校验：sysfs 中该阵列 md 目录下的 group_thread_cnt
help-md-more-group-threads = 增大 sysfs 中该阵列 md 目录下的 group_thread_cnt
help-crypt-no-workqueue = dm-crypt 不用工作队列：no_read_workqueue 和 no_write_workqueue
help-crypt-no-write-workqueue = dm-crypt 不用写队列：no_write_workqueue
help-crypt-same-cpu = same_cpu_crypt，并把负载分散到更多 CPU
help-loop-direct = loop 设备用直接 I/O：losetup --direct-io=on
help-journal-device = 日志放在单独的设备上
help-fewer-commits = 减少 fsync，延长提交间隔
help-direct-io = 直接 I/O
help-several-devices = 多个这样的设备并列
help-several-files = 多个文件，可并行写
help-full-stripes = 按整条带写入
help-less-penalty = 写惩罚更小的级别：RAID 10
help-direct-crosses-once = 直接 I/O，只经过内存一次
help-memory-channels = 更多内存通道
help-see-the-drive = 用直接 I/O，或数倍于内存的文件，才能看到硬盘
help-cap-outside = 更高规格的云盘或虚拟机；换一种块大小可区分限的是 I/O 数还是字节
help-group-commit = 多次写入共用一次同步（fdatasync=8，即组提交），或更多写线程
help-protected-cache = 使用带掉电保护的硬盘，其写缓存无需刷写
help-higher-rate = 提高速率
help-higher-rate-of = 提高{ $source } 中的速率

# 上限是如何计算的。
ceiling-rate = 设定的速率：{ $rate }
ceiling-memory = 内存可搬运 { $rate }，每 I/O { $crossings } × { $block }
ceiling-queue-depth = 在途 { $in_flight } 个，无等待时每个 { $latency }（利特尔法则）
ceiling-device-commands = { $drives } 块硬盘，每块 { $each }，{ $reads } 读
ceiling-device-bandwidth = { $drives } 块硬盘，每块 { $each }，{ $block }，{ $reads } 读
ceiling-link = { $link } 在编码和 { $payload } 报文之后可承载 { $rate }（{ $block }）
ceiling-uplink = { $drives } 块硬盘共享 { $uplink }，{ $link }
ceiling-uplink-above = { $address } 上方的链路
ceiling-uplink-described = 上行链路
ceiling-core = { $threads } 个线程，每 I/O 占用其核 { $cost }（{ $origin }）
ceiling-cost-measured = 实测
ceiling-cost-described = 按其文件
ceiling-cost-published = { $source } 的 { $program }
ceiling-cost-scaled = { $source } 的 { $program }，由 { $from } 换算至 { $to }
ceiling-all-cores = { $cores } 个核，每 I/O { $cost }，含中断
ceiling-all-cores-smt = { $cores } 个核，同核两线程 { $gain }，每 I/O { $cost }，含中断
ceiling-irq-cores = { $cores } 个核处理中断，每 I/O { $cost }
ceiling-raid-stripes = { $members } 个成员的 { $level }，每字节写入 { $bytes } 字节
ceiling-raid-small-writes = { $members } 个成员的 { $level }：一次小写耗 { $reads } 次读和 { $writes } 次写
ceiling-card-commands = 该卡每秒接受 { $commands-figure } 条命令
ceiling-raid-degraded = { $members } 个成员的 { $level }，缺 { $missing } 个：一次 I/O 耗 { $reads } 次读和 { $writes } 次写，由最忙的成员决定
ceiling-member-link = 每个成员的 { $link } 承载其份额，阵列共 { $rate }（{ $block }）
ceiling-card-parity = 该卡每秒就地更新 { $updates-figure } 次校验
ceiling-card-parity-bytes = 该卡计算校验的速率为 { $rate }
ceiling-md-thread = 所有写都经过 md 的一个线程，每次 { $time }
ceiling-card-link = 该卡的 { $link } 可承载 { $rate }（{ $block }）

notice-link-trained-down = { $drive } 的链路为 { $link }，而两端均支持 { $possible }。
notice-drive-hot = { $drive }：温度 { $temperature }，从 { $warning } 起降速。
notice-scheduler = { $drive } 使用 I/O 调度器 { $scheduler }，会耗 CPU 并重排；快速硬盘应以 `none` 测量。
notice-slow-clock = 内核时钟源为 { $clocksource }，每次读取都要系统调用。
notice-interrupts-on-one-cpu = CPU { $cpu } 承担全部中断时间的 { $share }，而工作线程有 { $workers } 个。
notice-merges = { $share } 的 I/O 在 { $disk } 上被合并。
notice-no-poll-queues = 要求轮询完成，但硬盘没有轮询队列。
notice-interrupts-despite-polling = 要求轮询完成，但每 I/O 有 { $interrupts-figure } 次中断。
notice-io-control = { $device } 配置了 { $control }：它可能为其他控制组推迟 I/O。
notice-remote-node = 工作线程（CPU { $cpus }）与 { $drive } 不在同一 NUMA 节点：`--placement local` 可省去每个 I/O 跨节点的路程。
notice-siblings-as-cores = 工作线程运行在 CPU { $cpus }，它们属于同一物理核。

catalogue-kind-device = 设备
catalogue-kind-processor = 处理器
catalogue-kind-engine-cost = 引擎开销
catalogue-kind-figure = 已发表的数据
catalogue-kind-source = 来源
catalogue-kind-entry = 目录条目
catalogue-no-such = 没有名为 `{ $name }` 的{ $kind }
catalogue-did-you-mean-one-of = 您是不是指 { $names }？
catalogue-list-help = `fathom catalogue list` 会列出所有名称
catalogue-source-unknown = `{ $entry }` 的来源未知：`{ $source }`
catalogue-source-unknown-help = 请添加一个含 id、title 和 publisher 的 [[source]]
catalogue-name-twice = 名称 `{ $name }` 重复使用
catalogue-name-twice-help = { $file } 中已有该名称：请给此条目另起名称
catalogue-no-source = `{ $entry }` 没有来源
catalogue-no-source-help = 请写明其数值的出处：source = ["某个 [[source]] 的 id"]
catalogue-source-empty = 来源 `{ $source }` 为空
catalogue-source-empty-help = 请填写 title 和 publisher
catalogue-check-twice = 校验 `{ $check }` 重复定义
catalogue-check-without-figure = 校验 `{ $check }` 引用了不存在的数据 `{ $figure }`
catalogue-toml = 无法读取：{ $problem }
catalogue-key-missing = 缺少键 `{ $key }`
catalogue-key-unknown = 未知的键 `{ $key }`
catalogue-key-without-unit = `{ $key }` 没有单位
catalogue-key-without-unit-help = 请写 `{ $key } = ...`

predict-device-not-rated = 目录中既没有 `{ $device }` 的 IOPS，也没有其带宽
predict-device-not-rated-help = 请在自己的文件中给出 rand_read_4k_iops 或 seq_read_bytes_per_s（fathom catalogue new），或由一次运行拟合：fathom fit RUN -o FILE
predict-assumed-read-iops = 4 KiB 随机读达到带宽所允许的速度：没有标称 IOPS
predict-assumed-write-iops = 4 KiB 随机写达到带宽所允许的速度：没有标称 IOPS
predict-assumed-read-latency = 单个读耗时 { $latency }：没有标称延时
predict-assumed-write-latency = 写在 { $latency } 后得到确认：没有标称延时
predict-assumed-media = 介质速度为控制器的两倍
predict-assumed-up-to = 速率按规格书“最高”的写法：只是上界
predict-assumed-payload = 链路数据包为 { $payload }，否则无法读到 { $rate }
unknown-engine-cost = 本机每 I/O 的开销
unknown-read-rate = 此盘最多的读
unknown-write-rate = 此盘可持续的写
unknown-read-latency = 单个读的时间
unknown-write-latency = 单个写的时间
unknown-media = 介质同时服务的读数
unknown-bandwidth = 此盘的带宽
unknown-mix = 读写之间的相互影响
unknown-payload = 链路报文的载荷
unknown-array = 阵列实现者的额外开销
unknown-form = 公式未包含的部分
predict-link-malformed = `{ $text }` 不是链路
predict-link-no-lanes = `{ $text }` 没有通道
predict-link-lanes = `{ $text }`：链路有 1、2、4、8、12 或 16 条通道，不能是 { $lanes }
predict-link-generation = `{ $text }`：代次 { $generation } 不在 1 到 6 之内
predict-link-help = 请写代次和通道数，例如 gen4x4
predict-sim-no-drive = `{ $name }` 中没有该名称的盘或阵列
predict-sim-no-drive-help = 请写出一个阵列或一组相同的盘，如 --device sim:r650-h755n/raid5；`fathom machines` 会列出它们
predict-sim-unlike = `{ $name }` 的盘不是同一种
predict-sim-memory = `{ $name }` 是内存，没有针对它的驱动器公式
predict-raid-level = `{ $text }` 不是 RAID 级别
predict-raid-level-help = 级别有 0、1、5、6 和 10
predict-too-few-cores = { $cores } 个核以每 I/O { $cost } 的核时间给出 { $given }；需要 { $wanted }：{ $needed } 个核，或开销更低的引擎
predict-alone-too-slow-mean = 单个 I/O 已耗时 { $latency }（平均）；要求 { $wanted }，增加硬盘不能使单个 I/O 更快
predict-alone-too-slow-p99 = 单个 I/O 已耗时 { $latency }（p99）；要求 { $wanted }，增加硬盘不能使单个 I/O 更快
predict-drive-unknown = 对该硬盘了解不足
predict-most-within-goal = 在目标之内最多为 { $wanted } 中的 { $iops-figure }：{ $ceiling }

fit-file-comment = 由 `fathom fit` 拟合的设备；用法：--device FILE。
fit-note = 拟合误差：读 { $reads }，写 { $writes }（均方根）
fit-note-reads-only = 拟合误差：读 { $reads }（均方根），无写
