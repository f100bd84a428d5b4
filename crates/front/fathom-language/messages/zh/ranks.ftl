# 在一台或多台主机上同时运行同一计划的多个进程。

ranks-on = { $host } 上的 rank { $rank }：{ $why }
ranks-version = 它是 Fathom { $version }，而 rank 0 是 { $own }
ranks-version-help = 请在每台主机上安装相同的版本
ranks-plan = 它的计划与 rank 0 的不同
ranks-plan-help = 请给每个 rank 相同的命令和相同的研究文件；通配符或序列号在其他主机上可能指向其他目标
ranks-silent = 已有 { $time } 没有它的任何消息
ranks-clock-silent = 它的时钟没有应答
ranks-no-end = 运行被停止时它还没有交出数据
ranks-record-unreadable = 它的数据无法读取
ranks-lost = 缺少 { $host } 上的 rank { $rank }：{ $why }
ranks-lost-help = 请检查该主机和进程是否仍在运行，以及主机之间的网络
ranks-cut = 有些 rank 先于其他结束：这些是全部 rank 同时运行的 { $time } 内的数据
ranks-straggler = { $host } 上的 rank { $rank } 落后：它传输的数据量是中位 rank 的 { $share }
ranks-streams = 并行的多个负载只能由一个进程运行
ranks-streams-help = 请让每个负载单独运行，或使用 `fathom io`
ranks-same-drive = { $path } 也是 { $other } 要写入的硬盘
ranks-same-drive-help = 请给每个 rank 各自的硬盘，或把硬盘分成区域：--targets-are partitioned
ranks-no-block = 区域中的块比 rank 还少
ranks-no-block-help = 请使用更大的区域（--size），或更少的 rank
target-not-shared = { $target } 不存在，而要共享它的 rank 都不会创建它
target-not-shared-help = 请先创建它，例如 `fallocate -l 10G FILE`；或让每个 rank 各用各的：--targets-are per-rank
target-shared-write = { $target } 是块设备，所有 rank 都会写遍它
target-shared-write-help = 请把它分成区域：--targets-are partitioned；或只读取它
target-simulated-ranks = sim:{ $machine } 由一个进程在虚拟时间中运行
target-simulated-ranks-help = 请使用 `fathom`，不要用 mpirun
setting-on-host = 在 { $host } 上：{ $why }
