# 本机 (fathom-host)。

probe-unreadable = 无法读取 { $path }：{ $source }
probe-not-understood = 无法理解 { $path }：{ $what }
probe-help = 请挂载 /proc 和 /sys，或在未隐藏它们的环境中运行
probe-no-number = 应为数字，实际为“{ $text }”
probe-not-text = 它不是文本
probe-no-line = 缺少以下行：{ $line }
probe-bad-line = 格式错误的行“{ $line }”
probe-line-no-number = { $line } 行：应为数字，实际为“{ $text }”
probe-few-fields = { $line } 行：应至少有 { $min } 个字段，实际为 { $found } 个
probe-disk-not-listed = 未列出设备 { $device }

disk-none-below-file-system = { $path } 位于 { $fs } 上，该文件系统没有块设备
disk-none = { $path } 所在的文件系统没有块设备
disk-unknown = 内核未显示块设备 { $name }

placement-no-siblings = 绑核方式 smt：本机没有在线的 SMT 兄弟线程
placement-no-node = 按 NUMA 节点绑核：本机的 NUMA 节点 { $node } 没有 CPU；有 CPU 的节点：{ $nodes }
placement-no-node-help = 请指定本机具有的节点（见 `fathom inspect`）
placement-one-node = 绑核方式 { $placement }：本机只有一个 NUMA 节点
placement-node-unknown = 绑核方式 { $placement }：内核未报告目标连接到哪个 NUMA 节点
placement-cpu-offline = CPU { $cpu } 不在线；可用的 CPU：{ $usable }
placement-cpu-withheld = CPU { $cpu } 不在本进程的 cpuset 内；可用的 CPU：{ $usable }
placement-none-named = 未指定任何 CPU
placement-no-cpu = 绑核方式 { $placement }：其中没有本进程可用的 CPU
placement-other-help = 请使用绑核方式 unpinned 或 cores，或指定 CPU：0,1
placement-node-unknown-help = 请改为指定 CPU：固件没有为该设备分配节点
placement-usable-help = 请从可用的 CPU 中指定
placement-none-named-help = 请至少指定一个 CPU，例如 0
placement-no-cpu-help = 请指定 CPU，或放宽本进程的亲和性或 cpuset

poll-md = { $device } 是 md 阵列，而 md 只以中断方式完成
poll-md-help = 请使用 interrupt 或 sqpoll 模式，或指定阵列下面的硬盘
poll-mapped = { $device } 构建在无法轮询的设备之上
poll-no-queues = { $device } 没有轮询队列
poll-nvme-help = 请为驱动配置轮询队列（NVMe：在内核命令行加上 `nvme.poll_queues=4`），或使用 interrupt 模式
poll-help = 请使用 interrupt 或 sqpoll 模式

erase-stopped = 已停止等待，但硬盘仍在自行清除（sanitize），完成之前会拒绝所有 I/O
erase-not-one-drive = 它不是单独一块硬盘
erase-partition = { $partition } 只是硬盘的一部分，而 Format 和 Sanitize 会擦除整块硬盘
erase-not-nvme = 它不是 NVMe 硬盘
erase-namespaces-unknown = 硬盘未报告其命名空间：{ $error }
erase-all-namespaces = { $command } 会擦除该硬盘的全部 { $count } 个命名空间，而只指定了一个
erase-no-format = 该硬盘不支持 Format NVM
erase-after-format = Format 之后：{ $error }
erase-format-changed = Format 改变了硬盘的块格式或容量；请用 `fathom inspect` 查看
erase-formatted = NVMe Format，擦除用户数据，块格式不变（{ $block } 的块）
erase-formatted-as-before = NVMe Format，擦除用户数据，块格式不变
erase-by-blocks = 块擦除
erase-by-key = 加密擦除
erase-by-overwriting-only = 该硬盘只支持以覆写方式清除（Sanitize），会造成磨损且耗时数小时
erase-no-sanitize = 该硬盘不支持 Sanitize
erase-progress-unknown = 硬盘未报告进度：{ $error }
erase-sanitized = NVMe Sanitize（{ $action }）
erase-sanitize-failed = 硬盘报告 Sanitize 失败
erase-sanitize-failed-and-stays = 硬盘报告 Sanitize 失败，且仍处于故障模式：{ $error }

generic-missing = { $block } 旁边没有用于向硬盘直通命令的字符设备 { $generic }
generic-missing-help = 内核自 5.13 起会创建它；`--engine io_uring` 不需要它
generic-other = { $generic } 不是 { $block } 所在命名空间的字符设备
generic-other-help = 请将正确的字符设备指定为目标；`ls -l /sys/class/nvme-generic` 显示各自的归属
