# Runs set side by side (fathom-judge)

compare-run = 运行 { $run }
compare-runs = 运行 { $list }
compare-too-few = 比较至少需要两次运行；只给出 { $given } 次
compare-too-few-help = 请先给出参照，再给出其他运行：fathom compare 6 7
compare-nothing-matches = 运行 { $b } 中没有步骤与运行 { $a } 的步骤相同；无从比较
compare-nothing-matches-help = 请比较同一研究或计划的运行；`fathom run --like RUN` 可重复一次运行

## 结论

compare-answer = { $side } 相对 { $reference }：{ $result }
compare-nothing-on-both = 没有步骤在两方都测得。
compare-one-faster = 该步骤更快。
compare-one-slower = 该步骤更慢。
compare-one-same = 该步骤差异在 { $margin } 以内。
compare-one-inconclusive = 该步骤无法判断。
compare-counts = { $steps } 个步骤中 { $counts }。
compare-count-faster = { $steps } 个更快
compare-count-slower = { $steps } 个更慢
compare-count-same = { $steps } 个差异在 { $margin } 以内
compare-count-inconclusive = { $steps } 个无法判断
compare-most-slower = 变慢最多的：{ $step }，{ $change }{ $change-ci }。
compare-most-faster = 变快最多的：{ $step }，{ $change }{ $change-ci }。
compare-spread-runs = 运行间波动：最大 { $spread }，来自所比较的 { $runs } 次运行。
compare-spread-ledger = 运行间波动：最大 { $spread }，来自本机同类负载的 { $runs } 次运行。
compare-inconclusive-some = { $all } 个无法判断的步骤中有 { $count } 个：{ $why }。
compare-inconclusive-because = 无法判断：{ $why }。
compare-why-one-draw = 运行次数太少（A：{ $a }，{ $side }：{ $b }）；请每侧运行三次，或在本机先有三次此负载的运行
compare-why-unknown-host = { $side } 未注明测量所在的主机（导入的结果即如此），因此其运行间波动未知
compare-why-one-leg = 有一侧只测量了一次，因此其波动未知
compare-why-interval = 区间既包含差异也包含无差异

## 第一眼

compare-besides = 另外不同：{ $list }
compare-besides-more = 另外不同：{ $list }；还有 { $more } 项
compare-besides-one = { $what } { $values }
compare-not-known = 未知
compare-of-side = { $side } { $label }
compare-faster = 更快
compare-slower = 更慢
compare-same = 相同
compare-inconclusive = 无定论
next-three-runs = 每侧三次运行：fathom compare 1,2,3 4,5,6

## 注意事项与说明

compare-caveat-spread = 比值的离散超出自身误差 { $spread }：视为各次运行之间的波动，并据此放宽每个区间。
compare-caveat-mixed-side = { $side } 的各次运行之间也有差异：{ $names }。
compare-caveat-environment = 除数据外，两方还有其他差异：{ $names }。
compare-caveat-noted = { $steps } 个步骤中有 { $noted } 个带有说明。
compare-caveat-unmatched = { $steps } 个步骤没有对应步骤，未作比较。
compare-note-unsteady = { $side } 在测量窗口内未达稳态
compare-note-failed-ios = { $side } 有失败的 I/O
compare-note-no-interval = 有一方没有置信区间：时间太短，或导入时没有分段数据
compare-note-differs = { $what }：{ $a } 对 { $b }
compare-note-rate = 速率 { $a-figure } 对 { $b-figure }

## 未比较的步骤

compare-no-pair = 没有一对测量完整
compare-refused = 被拒绝：{ $why }
compare-failed = 失败：{ $why }
compare-refused-on = 在 { $side } 上被拒绝：{ $why }
compare-failed-on = 在 { $side } 上失败：{ $why }
compare-no-such-step = { $side } 没有这个步骤

## 数据以外的差异

compare-of-target = 目标 { $target } 的{ $what }
compare-setting = { $of } 的 { $name }
compare-kernel = 内核
compare-cpu = CPU
compare-cores = 物理核
compare-sockets = 插槽
compare-numa-nodes = NUMA 节点
compare-memory = 内存（字节）
compare-governor = 调频策略
compare-other-work = 忙于其他工作的 CPU
compare-busy-cores = { $cores }
compare-clock-source = 时钟源
compare-hypervisor = 虚拟化平台
compare-mitigations = CPU 漏洞缓解
compare-drive = 硬盘
compare-serial = 序列号
compare-firmware = 固件
compare-size = 容量（字节）
compare-transport = 接口
compare-scheduler = 调度器
compare-nr-requests = nr_requests
compare-hw-queues = 硬件队列
compare-poll-queues = 轮询队列
compare-write-cache = 写缓存
compare-logical-block = 逻辑块（字节）
compare-numa-node = NUMA 节点
compare-polling = 轮询
compare-file-system = 文件系统
compare-mount-options = 挂载选项
compare-study = 研究
compare-engine = 引擎
compare-mode = 模式
compare-placement = 线程放置
compare-page-cache = 页缓存
compare-touched = 访问的字节
compare-precondition = 预处理
compare-bypassed = 绕过
compare-used = 使用
compare-all = 全部
compare-none = 无
