# fathom-engine

engine-on-target = 引擎 { $engine }，目标 { $target }
engine-target = 目标 { $target }
engine-null-alone = 引擎 `null` 不做任何 I/O，只能与目标 `null` 一起使用
engine-null-alone-help = 请使用 `--engine null --target null`，或在真实目标上使用真实引擎
engine-character-device = 它是字符设备
engine-character-device-help = 请指定块设备（/dev/nvme0n1），或在 NVMe 命名空间的字符设备（/dev/ng0n1）上使用 `--engine io_uring_cmd`
engine-passthrough-kind = 直通需要 NVMe 命名空间
engine-passthrough-kind-help = 请用块设备（/dev/nvme0n1）或字符设备（/dev/ng0n1）指定整个命名空间，或使用 `--engine io_uring`
engine-by-block-device = 请指定块设备（/dev/nvme0n1）并使用 `--engine io_uring`
engine-no-namespace = 它不是 NVMe 命名空间的字符设备
engine-no-namespace-help = 请指定这样的设备（/dev/ng0n1），参见 `fathom inspect`
engine-as-root = 请以 root 身份运行
engine-namespace-contradicts = 硬盘对自身格式的描述自相矛盾
engine-metadata = 其格式每块带有 { $bytes } 字节元数据
engine-metadata-help = 请在块设备上使用 `--engine io_uring`，或改用不带元数据的格式
engine-not-identified = 未能识别该命名空间
engine-reading-size = 读取 { $target } 的容量
engine-reading-size-help = 请检查硬盘是否仍有响应：`fathom inspect` 和内核日志（dmesg）
engine-no-direct-io = 其文件系统不支持 O_DIRECT
engine-no-direct-io-help = `--direct 0` 测量经过页缓存的 I/O，报告中会注明
engine-no-such-target = 没有这样的文件或设备
engine-no-such-target-help = 请检查路径，或指定大小以便新建文件
engine-may-not-open = 无权打开：{ $error }
engine-may-not-open-help = 请以有权打开它的用户身份运行
engine-read-only-file-system = 它位于只读文件系统上
engine-read-only-file-system-help = 请选择可写的位置，或只做读取
engine-device-gone = 设备已不存在或没有介质：{ $error }
engine-device-gone-help = 请查看 `fathom inspect`
engine-cannot-open = 无法打开：{ $error }
engine-cannot-open-help = 请检查路径和设备
engine-tmpfs = 它位于 tmpfs 上，tmpfs 没有 O_DIRECT：数据就是内存
engine-tmpfs-help = `--direct 0` 测量带缓存的 I/O，或选择真实硬盘上的文件
engine-block-not-a-multiple = 块大小 { $block } 不是其逻辑块（{ $logical } 字节）的整数倍
engine-block-not-a-multiple-help = 请使用 { $logical } 的整数倍，或对文件使用 `--direct 0`
engine-region-too-large = 区域结束于第 { $end } 字节，而目标只有 { $size } 字节：目标太小
engine-region-too-large-help = 请选择更小的大小或偏移，或新建更大的文件
engine-region-too-small = 其区域只有 { $size } 字节，容不下一个 { $block } 字节的块
engine-region-too-small-help = 请选择更大的区域或更小的块大小
engine-not-bound = 运行未将其绑定到文件或设备
engine-not-bound-help = 这是 Fathom 的缺陷；请附上命令行报告

# 步骤的要求
engine-depth = 队列深度 { $depth }
engine-depth-range = 每个线程必须为 1 至 { $max }
engine-depth-range-help = 如需更多在途 I/O，请增加线程
engine-threads-on-targets = { $targets } 个目标，每个 { $threads } 个线程
engine-threads-range = 一个步骤运行 1 至 { $max } 个线程
engine-threads-range-help = 请选择其他线程数
engine-no-target = 步骤没有目标
engine-no-target-why = 没有可测量的对象
engine-no-target-help = 请用 `--target` 指定目标
engine-no-time = 运行时间为 0
engine-no-time-why = 没有时间就无法测量
engine-no-time-help = 请指定 `--runtime`，例如 5s
engine-no-passes = 遍数为 0
engine-no-passes-why = 什么也不会做
engine-one-or-more = 请使用 1 或更大的值
engine-rate = 速率 { $rate }
engine-rate-not-above-zero = 速率必须大于 0
engine-rate-not-above-zero-help = 请给出每秒 I/O 数，例如 20k
engine-no-batch = 批量为 0
engine-no-batch-why = 每次至少提交一个 I/O
engine-mix = 读写混合
engine-mix-not-whole = 读、写、trim 的份额之和不是 100 %
engine-mix-not-whole-help = 请更正份额
engine-split = 块大小
engine-split-not-whole = 各份额之和不是 100 %
engine-split-not-whole-help = 请更正块大小的分配
engine-block-size = 块大小 { $bytes }
engine-block-size-range = 必须为 1 字节至 { $max }
engine-block-size-range-help = 请选择其他块大小
engine-pattern = 访问模式
engine-pattern-help = 请选择其他参数
engine-zipf-theta = zipf 不能取指数 { $theta }
engine-mode-of-engine = 引擎 { $engine } 的模式 { $mode }
engine-mode-of-ring-only = 只有 io_uring 和 io_uring_cmd 具有中断以外的模式
engine-mode-of-ring-only-help = 请使用 `--engine io_uring --mode { $mode }`
engine-iopoll-buffered = 带缓存 I/O 的 iopoll 模式
engine-iopoll-buffered-why = 内核只对 O_DIRECT I/O 轮询
engine-use-direct = 请使用 `--direct 1`
engine-threads-on-target = 目标 { $target } 上的 { $threads } 个线程
engine-too-few-blocks = 其区域只有 { $blocks } 个块，而每个线程都需要自己的块
engine-too-few-blocks-help = 请减少线程、增大区域或减小块大小
engine-placement = 绑核方式 { $placement }
engine-placement-unresolved = 未能在本机上为其确定 CPU
engine-placement-unresolved-help = 请用 `--cpus` 指定 CPU，或不绑核运行
engine-not-atomic = 它不支持原子写入，或内核（6.11 之前）未报告
engine-atomic-size = 它能原子写入 { $min } 到 { $max } 之间的 2 的幂，而不是 { $block }
engine-no-uncached = 内核（6.14 之前）或其文件系统不支持不在页缓存中留下内容的 I/O（RWF_DONTCACHE）
engine-no-uncached-help = 请去掉 `uncached`，或用 direct=1 测量
engine-array-uncached = 用户态阵列没有自己的页缓存
engine-array-uncached-help = 请去掉 `uncached`
engine-atomic-help = 请选择其他块大小或支持原子写入的硬盘（queue/atomic_write_unit_max_bytes），或去掉 `atomic`
engine-priority = I/O 优先级 { $priority }
engine-priority-forbidden-help = rt 类需要 root 或 CAP_SYS_NICE；be 和 idle 不需要
engine-priority-help = 请选择内核支持的类别、级别和提示
engine-no-priority = 取消线程的 I/O 优先级
engine-memory = 线程内存按 { $policy } 分配
engine-no-node = 本机的 NUMA 节点 { $node } 没有内存；有内存的节点：{ $nodes }
engine-memory-help = 请指定本机具有的节点，或去掉 `numa_mem_policy`
engine-depth-found = 使 { $share } 的 I/O 不超过 { $lat } 的最深队列为同时 { $depth } 个；结果包含搜索过程
engine-depth-missed = 即使每次只有一个 I/O，也做不到 { $share } 的 I/O 不超过 { $lat }
engine-depth-unfinished = 负载在找到使 { $share } 的 I/O 不超过 { $lat } 的最深队列之前结束；同时 { $depth } 个时能做到
engine-placement-on-cpus = 绑定到 CPU { $cpus }
engine-placement-on-cpus-help = 请指定存在、在线且允许本进程使用的 CPU（参见 `fathom inspect`）
engine-verify = verify=crc32c
engine-verify-blocks = 块要能描述自身，其大小必须是 { $multiple } 字节的整数倍，且最多有 { $sizes } 种大小
engine-verify-blocks-help = 请选择其他块大小
engine-verify-order = 块按位置区分，因此每个 I/O 必须是一个块
engine-verify-order-help = 请使用一种块大小，步幅、区和大小均为其整数倍
engine-verify-trims = 被 trim 的或从未写入的数据无法读回校验
engine-verify-trims-help = 请去掉 trim，并使用真实引擎

# 备注
engine-note-one-in-flight = 引擎 { $engine } 每个线程只有一个在途 I/O；队列深度 { $depth } 按 1 计
engine-note-trims = 即使使用引擎 { $engine }，trim 也以单独的系统调用逐个发出
engine-note-no-ramp = 按遍数结束的步骤没有预热：各遍的每个 I/O 都计入
engine-note-mmap-direct = 除非文件位于 DAX 上，引擎 mmap 都经过页缓存；O_DIRECT 对它没有意义
engine-note-verified-data = 校验块带有自身描述：每扇区有 16 字节既不重复也不可压缩
engine-left-behind = 步骤结束时仍有 { $threads } 个线程在等待 I/O；这些 I/O 未计入
engine-gave-up = 提前停止：一秒内所有 I/O 均失败
engine-drive-answered = 硬盘应答：{ $status }，首次出现在第 { $offset } 字节
engine-warming-up = 正在预热
engine-reading-back = 正在读回已写入的数据

# 引擎
engine-call-failed = { $call }：{ $error }
engine-at-depth = 引擎 { $engine }，队列深度 { $depth }
engine-aio-setup-help = 请调大 /proc/sys/fs/aio-max-nr，或减少线程、减小队列深度
engine-iocp-help = 请用 `Get-Volume` 查看目标所在的卷，并尝试较小的深度
engine-named = 引擎 { $engine }
engine-not-on-windows = Windows 没有这种引擎
engine-not-on-windows-help = 请使用 engine=iocp（重叠 I/O 与完成端口）、psync 或 null
engine-not-on-linux = Linux 没有完成端口
engine-not-on-linux-help = 请使用 engine=io_uring、libaio 或 psync
engine-mmap-failed = mmap { $bytes } 字节失败：{ $error }
engine-mmap-failed-help = 请使用更小的大小，或 `--engine psync`
engine-ring = 引擎 { $engine }，模式 { $mode }，队列深度 { $depth }
engine-io-uring-disabled = io_uring 已被禁用：/proc/sys/kernel/io_uring_disabled 为 { $value }
engine-io-uring-disabled-help = 请管理员执行 `sysctl kernel.io_uring_disabled=0`，或使用 `--engine libaio`
engine-io-uring-forbidden = 内核拒绝 io_uring_setup：{ $error }（容器的 seccomp 过滤器会这样做）
engine-io-uring-forbidden-help = 请在容器中允许 io_uring，或使用 `--engine libaio`
engine-no-io-uring = 此内核没有 io_uring（另见 /proc/sys/kernel/io_uring_disabled）
engine-use-libaio = 请使用 `--engine libaio`
engine-ring-memory = 没有内存可用于环：{ $error }
engine-ring-memory-help = 请调大锁定内存的限制（`ulimit -l`），或减少线程、减小队列深度
engine-ring-failed-help = 请使用 `--engine libaio`，或其他模式
engine-mode-on-target = 引擎 { $engine }，模式 { $mode }，目标 { $target }
engine-no-poll-queues = 设备没有轮询队列
engine-no-poll-queues-help = 请在加载驱动时启用（NVMe：内核命令行 `nvme.poll_queues=4`），或使用 `--mode interrupt`
engine-no-passthrough = 此内核不支持 io_uring 直通（自 5.19 起支持）
engine-no-passthrough-help = 请在块设备上使用 `--engine io_uring`
engine-passthrough-no-polling = 此内核不能对直通命令轮询（自 6.1 起支持）
engine-passthrough-no-polling-help = 请使用 `--mode interrupt`，或更新的内核
engine-passthrough-forbidden = 内核不允许该用户向硬盘直通命令
engine-passthrough-too-large = 内核拒绝 { $bytes } 字节的命令：直通不做拆分
engine-passthrough-too-large-help = 请使用更小的块大小（硬盘的上限见其块设备的 queue/max_hw_sectors_kb）
engine-atomic-no-buffers = 内核不接受来自已注册缓冲区的原子写
engine-passthrough-no-buffers = 此内核的直通不支持注册缓冲区

# 特性
engine-kernel-refuses = 此内核拒绝
engine-not-with-sqpoll = 不能与 sqpoll 同用
engine-sqpoll-cpu = 轮询线程位于 CPU { $cpu }
engine-buffers-registered = { $pieces } 段连续内存
engine-buffers-refused = { $error }；注册内存受 `ulimit -l` 限制
engine-by-worker = 向目标提交 I/O 必然阻塞（试了 { $probes } 处）：由内核线程（iou-wrk）执行 I/O
engine-by-worker-as-batch = 向目标提交 I/O 必然阻塞（试了 { $probes } 处）：由内核线程（iou-wrk）执行 I/O；本线程以 SCHED_BATCH 运行
engine-user-reap = 从映射的环读取完成事件
engine-no-user-reap = 没有映射的环；使用 io_getevents
engine-msync = msync(MS_SYNC) 返回时写入才算完成
engine-paranoid = 每个 I/O 单独计时，提交与等待分开
engine-on-threads = 线程 { $threads }：{ $reason }

# 失败的线程
engine-thread = 线程 { $thread }（目标 { $target }）：{ $doing }
engine-thread-panicked = 发生 panic
engine-thread-lost = 未给出结果就已结束
engine-fault-help = 这是 Fathom 的缺陷；请附上计划和以上消息报告
engine-failed = 引擎失败
engine-failed-help = 请尝试其他引擎或模式，并查看内核日志（dmesg）
engine-not-ready = { $time } 内未能就绪
engine-hung = 测量窗口结束后 { $time } 内没有任何动静
engine-drive-silent-help = 请检查硬盘是否仍有响应：`fathom inspect` 和内核日志（dmesg）
engine-stream-beside = 与它同时运行的流无法运行，或已失败
engine-stream-beside-help = 请看同组其他流的原因
engine-rank-beside = 要同时运行它的另一个 rank 无法运行，或已失败
engine-rank-beside-help = 请查看其他 rank 的原因
engine-no-thread = 无法启动
engine-no-thread-help = 请调大进程数限制（`ulimit -u`），或减少线程
engine-no-buffers = 没有内存可用于 { $count } 个 { $bytes } 字节的 I/O 缓冲区
engine-no-buffers-help = 请减少线程、减小队列深度或块大小
engine-memory-left = 需要 { $need } 内存，而{ $bound }还剩 { $left }
engine-memory-of-host = 本机
engine-memory-of-group = 所在控制组
engine-memory-of-address-space = 地址空间（ulimit -v）
engine-no-memory-help = 请释放一些内存，或调大控制组或 `ulimit -v` 的限制

# 读回的数据
engine-block-torn = 第 { $at } 字节：撕裂，各扇区来自不同的写入
engine-block-misplaced = 第 { $at } 字节：错位，内容是第 { $found } 字节的块
engine-block-stale = 第 { $at } 字节：陈旧，内容是该位置的第 { $found } 次写入
engine-block-corrupt = 第 { $at } 字节：损坏，CRC-32C 不符
engine-block-foreign = 第 { $at } 字节：外来数据，不是此类块
engine-block-unreadable = 第 { $at } 字节：无法读回

# 循环自身的开销
engine-nop-bench = NOP 基准
engine-nop-bench-range = 队列深度必须为 1 至 { $max }，批量至少为 1
engine-nop-bench-range-help = 请选择其他值
engine-no-bare-loop = 只有 psync、libaio 和 io_uring 具有裸循环
engine-no-bare-loop-help = 请使用其中之一
engine-cache-kept = 步骤开始前无法清空 { $target } 的页缓存（{ $error }）：可能从热缓存开始

engine-by-fio = 由 fio 运行的作业
engine-by-fio-why = Fathom 自己的引擎都不运行它
engine-by-fio-help = 这是 Fathom 的错误；请连同计划一起报告
engine-files-alone = 引擎 files 在为它创建的文件夹中创建、查看和删除整个文件，其他引擎都不能
engine-files-alone-help = 请对一个文件夹使用 rw=filecreate、filestat 或 filedelete
engine-making-files = 在 { $target } 中创建文件
engine-making-files-help = 请查看 dmesg 中该文件系统的消息，以及用户是否可写
engine-trace = 写入轨迹 { $path }
engine-trace-help = 请在 write_iolog 中指定一个尚不存在的文件，其目录须可写且有空间
engine-trace-name = 轨迹以空白分隔各词，而此名称含有空白
engine-trace-name-help = 请给目标取一个不含空白的名称（链接即可），或去掉 write_iolog
engine-replay = 回放 { $path }
engine-replay-changed = 轨迹与计划时的不同
engine-replay-help = 请用现在的轨迹重新制定计划

# 用户态阵列

engine-array-same = 其成员 { $a } 和 { $b } 是同一个文件或硬盘
engine-array-member-kind = 其成员 { $member } 既不是文件也不是块设备
engine-array-member-kind-help = 请使用文件和块设备；NVMe 硬盘用 /dev/nvme0n1，不用 /dev/ng0n1
engine-array-lost = 缺失的或在本次运行中已失败的成员过多：{ $count } 个
engine-array-lost-help = 请换用正常的成员重新开始
engine-array-unequal = { $array } 的成员大小不同：每个使用 { $used }，最大的有 { $largest }
engine-array-trusted = { $array } 成员上的校验或副本被视为正确，如同 mdadm --assume-clean：本次运行没有写过的数据在失去成员后不能保全，除非先用 `fathom rebuild` 处理过
engine-array-unfinished = 在 { $array } 中 { $member } 重建了 { $done }：本次运行中其后在该阵列上的步骤不使用它，运行之后应称它为 missing 或重新重建
engine-array-rebuild-failed = { $array } 一个成员的重建提前结束，因为 { $member } 出错：{ $error }
engine-array-degraded = { $array } 缺少 { $count } 个成员运行：其数值属于降级阵列
engine-array-engine = 用户态阵列可用的引擎是 psync、libaio 和 io_uring
engine-array-engine-help = 请用 `--engine` 指定其中之一
engine-array-iopoll = 用户态阵列不轮询完成
engine-array-iopoll-help = 请去掉 `mode=iopoll`
engine-array-trim = 用户态阵列不向成员传递 trim
engine-array-trim-help = 请从混合中去掉 trim，或直接对成员做 trim
engine-array-atomic = 对用户态阵列的一次写入会变成成员上的多次写入，它们不会同时持久化
engine-array-atomic-help = 请去掉 `atomic`，或写入单个硬盘
engine-array-priorities = 用户态阵列上的一个 I/O 会变成成员上的多个 I/O，它们使用线程的优先级
engine-array-priorities-help = 请用 `prioclass` 和 `prio` 为整个负载设定优先级
engine-array-mixed = 它与用户态阵列同列，而一个步骤的目标要么全是阵列，要么都不是
engine-array-mixed-help = 请各用一个步骤
engine-array-shared = 其成员 { $member } 也属于该步骤的另一个阵列
engine-array-shared-help = 请让每个阵列有自己的成员
engine-array-stream = 同时运行的流会从多个线程修改同一条带
engine-array-stream-help = 请用一个负载配合 `--threads` 写阵列：各线程会分得自己的条带
engine-array-offset = 彼此错开的线程会修改同一条带
engine-array-offset-help = 请去掉 `offset_increment`：各线程会分得自己的条带
engine-array-no-memory = 为校验分配空间
engine-array-parity = 使用 { $instructions }

# fathom rebuild

rebuild-no-array = 它不是用户态阵列
rebuild-no-redundancy = raid0 没有可用于重建的冗余
rebuild-no-redundancy-help = 可以重建 raid10、raid5 和 raid6
rebuild-beside = 它有一个成员要在负载旁重建，而这里没有负载
rebuild-beside-help = 请在该成员处写 missing，并用 `--onto` 指定它
rebuild-onto-what = 有成员缺失，但没有指定新的成员
rebuild-onto-what-help = 请用 `--onto` 指定新的成员
rebuild-nothing-missing = 没有成员缺失
rebuild-nothing-missing-help = 请在要重建的成员处写 missing；或去掉 `--onto`，重新写出校验或第二副本
rebuild-onto-member = 它已经是该阵列的成员
rebuild-onto-member-help = 请用 `--onto` 指定另一个文件或硬盘
rebuild-too-small = 它有 { $have } 字节，而 { $array } 的每个成员提供 { $need }
rebuild-too-small-help = 请加长文件（truncate -s），或换用更大的硬盘
rebuild-failed-help = 要写的内容不完整：请修复或更换出错的成员，然后重新重建

# 用户态的盘。
engine-user-space = 取到 { $found } 个完成，{ $empty } 次查看为空
engine-large-pages-on-node = NUMA 节点 { $node } 上的 { $pages } 个 2 MiB 大页
engine-large-pages = { $pages } 个 2 MiB 大页
engine-small-pages = 硬盘附近没有空闲的 2 MiB 大页：{ $bytes } 锁定内存，{ $pages } 个 4 KiB 页，IOMMU 须逐页查找（fathom nvme bind --hugepages）
engine-drive-taken = 该盘在此步骤中处于用户态
engine-drive-taken-help = 引擎 nvme 的步骤独占其盘；请在另一步骤中通过内核测量
engine-nvme-kind = 引擎 nvme 自行驱动整块 NVMe 盘，而此目标不是
engine-nvme-kind-help = 给出命名空间（/dev/nvme0n1），并允许其盘暂时离开内核：`--allow-unbind SERIAL`
engine-no-trim = 该盘不接受 trim（Dataset Management）
engine-no-trim-help = 只测读和写
