# 仿真机器：其文件，以及无法运行的情况 (fathom-sim)。

sim-time = 时间
sim-size = 大小
sim-rate = 速率
sim-share = 占比
sim-quantity-negative = { $what }不能为负
sim-quantity-without-number = { $what }必须以数字开头：`{ $text }`
sim-quantity-without-unit = { $what }需要单位：{ $units } 之一
sim-quantity-unknown-unit = `{ $unit }` 不是{ $what }的单位：应为 { $units } 之一
sim-quantity-bad-number = `{ $number }` 不是可用的数字
sim-quantity-too-large = { $what } `{ $text }` 过大

sim-text-expected = 这里应为文本
sim-quantity-expected = 这里应为带单位的数字，例如 "1.5us"
sim-whole-expected = 这里应为 { $min } 到 { $max } 的整数
sim-percent-expected = 这里应为 { $min } 到 { $max } 的整数百分比
sim-share-expected = 这里应为百分比
sim-table-expected = 这里应为一个表
sim-tables-expected = 这里应为表的列表
sim-tables-expected-help = 请写 [[{ $key }]]
sim-unknown-word = 这里不认识 `{ $word }`
sim-key-missing = 这里缺少 `{ $key }`
sim-key-missing-or-zero = 这里缺少 `{ $key }`，或其值为零

sim-no-machine-table = 机器文件以 [machine] 开头
sim-no-host-table = 缺少表 [host]
sim-no-engine-table = 缺少表 [engine.default]：每个 I/O 的 CPU 开销
sim-no-drive = 机器至少需要一个 [[drive]]
sim-interrupt-cpu = interrupt_cpu：该主机的 CPU 为 0-{ $last }
sim-name-taken = 该名称已被使用
sim-no-such-link = 没有链路 `{ $link }`
sim-links-in-a-circle = 链路 { $link } 是它自己的上游：链路构成了环
sim-link-without-rate = 没有速率的链路无法传输
sim-mps = mps：最大有效载荷只能是 128 B、256 B、512 B 至 4096 B
sim-no-link = 这里缺少 `link`：{"{"} gen = 4, lanes = 4 {"}"}
sim-no-such-device = 没有设备 `{ $device }`
sim-two-drives = 有两块名为 `{ $drive }` 的盘
sim-too-many-drives = 一台机器最多 { $max } 块盘
sim-no-such-drive = 没有盘 `{ $drive }`
sim-members = { $members } 个成员数量不足，或不是偶数
sim-card-or-md = 阵列只能用 card 或 md 之一
sim-device-media = 设备须有 nand、xpoint、memory 三个表之一
sim-capacity-too-small = 容量不足 1 MiB，无法使用
sim-channels-without-rate = 有 `channels` 就需要 `channel_rate`
sim-no-spare = `spare` 必须大于零：没有预留空间的闪存无法回收

sim-no-such-machine = 没有仿真机器 `{ $name }`
sim-no-such-part = 机器 { $machine } 没有 `{ $part }`：{ $hint }
sim-parts-of-machine = 它有 { $parts }
sim-parts-help = `fathom machines show NAME` 会列出它们
sim-target = 目标 { $target }
sim-trace = write_iolog
sim-trace-why = 模拟机器上的 I/O 不会被记录
sim-order = 顺序修饰、区、块大小范围、停顿或 flow
sim-order-why = 模拟机器只支持模式、大小划分和速率
sim-order-help = 请去掉它们，或在真实目标上测量
sim-priorities = I/O 优先级或内存节点
sim-priorities-why = 模拟机器按到达顺序处理 I/O，其内存只有一处
sim-durable = 在仿真盘上使用 fsync、fdatasync 或 O_SYNC
sim-durable-why = 没有仿真它的写缓存，刷写时间只能是编造的
sim-durable-help = 请去掉它，或指定真实的目标
sim-verify = 在仿真盘上使用 verify
sim-verify-why = 它没有可供校验的数据
sim-verify-help = 请去掉 verify，或指定真实的目标
sim-too-small = 它有 { $has } 字节，而该步骤要访问 { $wants } 字节
sim-too-small-help = 请减小范围：--size { $bytes }
sim-threads-on = { $target } 上的 { $threads } 个线程
sim-stages = 模拟硬盘只能保持一个速率
sim-stages-help = 每个速率一个步骤，或使用真实硬盘
sim-few-blocks = 其区域只有 { $blocks } 个块，而每个线程至少需要一个自己的块
sim-few-blocks-help = 请减少线程、增大 size 或减小块大小
sim-memory-beside-drives = 模拟线程不能同时访问持久内存和驱动器
sim-coalescing-of-several = 在合并中断的设备上，模拟线程只访问一个目标
sim-one-target-each-help = 请使用 spread=each_target
sim-no-smt = placement smt：该机器没有 SMT 同核线程
sim-no-such-node = 该机器没有 NUMA 节点 { $node }：最后一个是 { $last }
sim-one-node = placement local 与 remote：该机器只有一个 NUMA 节点
sim-no-such-cpu = placement：CPU { $cpu } 不存在；该机器的 CPU 为 0-{ $last }
sim-no-cpus = placement：CPU 列表为空
sim-placement-help = 请选择其他 placement
sim-law-broken = 仿真中有一条运行定律不成立
sim-law-broken-help = 这是 Fathom 的缺陷；请连同计划和机器一起报告

sim-machine = 机器 { $name }
sim-machine-known = 机器 { $name }；在 { $asked } 中的 { $ran } 之后数值已知
sim-machine-many = 机器 { $name }；因 I/O 数量已足，在 { $asked } 中的 { $ran } 之后结束
sim-machine-aged = 机器 { $name }；{ $ran } 之内，其盘经历了 { $asked }
sim-simulated = 仿真
sim-purged = 仿真格式化：映射表为空
sim-conditioned-analytically = 仿真盘以解析方式完成预处理；最多只运行了其中一秒

sim-by-fio = 由 fio 运行的作业
sim-by-fio-why = fio 在本机上运行，不在模拟机器中运行
sim-by-fio-help = 请去掉 --with-fio
sim-files = 创建、查看和删除文件
sim-files-why = 模拟机器有驱动器，但没有文件系统
sim-files-help = 请测量本机的一个文件夹
