# 本机设置及其日志 (fathom-host)。

setting-queue = { $device } 的 { $attribute }
setting-md-array = Linux md 的 { $level } 阵列 { $device }（{ $members } 个成员）
setting-governor = CPU { $cpu } 的调速器
setting-energy-preference = CPU { $cpu } 的能耗偏好
setting-idle-disable = CPU { $cpu } 空闲状态 { $state } 的禁用
setting-smt = SMT
setting-irq-affinity = 中断 { $irq } 的亲和性
setting-of-devices = { $devices } 的 { $word }

setting-takes = 它接受 { $values }
setting-takes-number = 它接受不小于 { $least } 的整数
setting-takes-cpus = 它接受 CPU 列表，例如 0-3,8
setting-takes-microseconds = 它接受微秒数，例如 20；0 使所有核保持唤醒
setting-smt-state = 本机报告 { $state }

setting-unknown = 没有名为 `{ $word }` 的设置
setting-unknown-help = 可用的设置：{ $words }
setting-form = `{ $text }` 不符合“设置=值”的形式
setting-form-help = 例如写作 scheduler=none
setting-no-device = 设置 { $word } 属于块设备，而目标没有块设备
setting-no-device-help = 请指定块设备，或其上的文件
setting-missing = 本机无法设置 { $what }：没有 { $path }
setting-missing-help = 驱动、内核或虚拟机管理程序未提供它
setting-value = { $what } 不能设为“{ $value }”：{ $takes }
setting-value-help = 请从可接受的值中选择
setting-unreadable = 无法读取 { $setting }：{ $source }
setting-unwritable = 无法将 { $setting } 设为“{ $value }”：{ $source }
setting-needs-root = 更改设置需要 root 权限
setting-managed-interrupt = 内核不允许移动由其自行管理的中断，例如 NVMe 队列的中断
setting-see-kernel-log = 内核日志中可能有原因
setting-not-taken = { $setting } 已设为“{ $wanted }”，读回却是“{ $found }”
setting-not-taken-help = 已恢复旧值；请选择内核会保留的值
setting-busy = 另一个 Fathom 正在使用 { $setting }（进程 { $pid }：{ $command }）
setting-busy-help = 请等待其结束
setting-abandoned = 一个被终止的 Fathom 留下了已更改的 { $setting }（进程 { $pid }：{ $command }）
setting-abandoned-help = 请先恢复旧值：fathom restore
setting-changed-since = { $setting } 现为“{ $found }”：在 Fathom 设为“{ $set }”之后又被更改；此前为“{ $from }”
setting-changed-since-help = 未作改动；如有需要，请手动将 { $setting } 设为 { $from }

setting-dropped-other-boot = 此后机器重启过，更改已失效
setting-dropped-gone = 它已不存在
setting-dropped-other-device = 现在有另一个设备或中断使用该名称

journal-failed = 设置日志 { $path }：{ $source }
journal-failed-help = 没有日志就不更改任何设置：请使该目录可读写，或用 FATHOM_JOURNAL 指定其他目录
journal-not-a-file = { $path } 具有设置日志的名称，但不是普通文件
journal-not-a-file-help = 已跳过；请将其删除
journal-corrupt = 设置日志 { $path } 第 { $line } 行：{ $why }
journal-corrupt-help = `fathom restore` 会按其余各行恢复，然后将文件保留为 { $kept }：请检查该行是否有需要手动恢复的设置
journal-line-malformed = 格式错误：{ $error }
journal-line-names-nothing = 它未指明本内核的任何设置
journal-newer = 设置日志 { $path } 由更新版本的 Fathom 写入（格式 { $version }）
journal-newer-help = 请运行该版本的 `fathom restore`
md-array-member = { $member } 不是可写的块设备，而 Linux md 只能用块设备组成阵列
md-array-member-help = 请给出磁盘或分区，或去掉级别前的 md-：Fathom 自己可以用文件组成阵列
md-array-closed = 无法打开阵列 { $target }：{ $source }
setting-coalescing = { $controller } 的中断合并
setting-takes-coalescing = 完成数/微秒：2 到 256，100us 到 25500us、步长 100us（8/300us），或 off
setting-of-drive = { $setting }：{ $error }
setting-of-drive-help = 该盘不提供此项；不带它测量
