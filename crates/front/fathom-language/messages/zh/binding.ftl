# 从内核驱动取出并归还的 NVMe 硬盘 (fathom-host)。

setting-driver = { $address } 的驱动
setting-driver-of-drive = { $address }（硬盘 { $serial }）的驱动
setting-hugepages-of-node = 节点 { $node } 上的 { $kib } KiB 大页
setting-hugepages = { $kib } KiB 大页
setting-hugepages-help = 内存过于零碎或不足，无法留出这么多；请减少数量，或在启动后立即预留
setting-vfio-without-iommu = 无 IOMMU 的 VFIO
setting-in-use = 无法更改 { $setting }：{ $program }（进程 { $pid }）正打开着该硬盘
setting-in-use-help = 请先停止进程 { $pid }
setting-namespaces-gone = { $setting }：内核已重新接管硬盘，但 { $wanted } 个块设备中只回来了 { $found } 个

bind-no-drive = 没有 NVMe 硬盘 { $text }
bind-no-drive-help = `fathom nvme status` 列出本机的 NVMe 硬盘：请用其 PCI 地址、序列号或块设备指定
bind-not-nvme = { $address } 不是 NVMe 控制器
bind-not-allowed = 将从内核取出硬盘 { $name }（{ $address }），但没有 --allow-unbind 指定它
bind-not-allowed-help = 如果其块设备可以暂时消失：--allow-unbind { $name }
bind-mounted-help = 请选择其他硬盘，或先将其卸载
bind-root-drive-help = 请选择其他硬盘；内核绝不会放开这一块
bind-shared = { $address } 的命名空间 { $namespace } 也可经控制器 { $controller } 访问：内核会继续使用其数据块
bind-shared-help = 请选择只有一个控制器的硬盘，或先解除另一条路径 { $controller } 的绑定
bind-other-driver = { $address } 绑定在 { $driver } 上，且不是由 Fathom 绑定的
bind-other-driver-help = 由绑定者归还：driverctl unset-override、dpdk-devbind.py 或 SPDK 的 setup.sh
bind-no-driver = { $address } 没有驱动，无法判断是否有人在使用
bind-no-driver-help = 先让内核识别它：echo { $address } > /sys/bus/pci/drivers_probe
bind-already = { $address } 已由 `{ $command }` 从内核取出
bind-already-help = 可以直接使用；如需归还：fathom nvme unbind { $address }
bind-already-foreign = { $address } 已绑定到 vfio-pci，且不是由 Fathom 绑定的
bind-not-bound = { $address } 的驱动是 { $driver }，不是由 Fathom 绑定的
bind-group-in-use = { $address } 的组 { $node } 正由 { $program }（进程 { $pid }）打开
bind-kernel-has-it = { $address } 已在内核手中：没有可归还的
bind-no-access = 当前用户不能打开 { $address } 的组 { $node }：它属于用户 { $user } 和组 { $group }（{ $mode }）
bind-no-access-help = 请以 root 运行，或加入可打开它的组 { $group }，或以 root 运行：chown $USER { $node }
bind-no-iommu = 没有 IOMMU 防止 { $address } 越界访问内存：程序或硬盘的故障可能写入本机任意内存
bind-no-iommu-help = 请在固件中开启 IOMMU（VT-d、AMD-Vi），并加内核选项 intel_iommu=on 或 amd_iommu=on；iommu=pt 可免除其他硬盘的开销。如果数据和机器都可以损失：--no-iommu-i-accept-any-write-to-memory
bind-no-iommu-not-built = 没有 IOMMU 防止 { $address } 越界访问内存，且本内核未编入 VFIO 的相应模式 (CONFIG_VFIO_NOIOMMU)
bind-no-iommu-not-built-help = 请在固件中开启 IOMMU（VT-d、AMD-Vi），并加内核选项 intel_iommu=on 或 amd_iommu=on
bind-group-shared = IOMMU 无法区分 { $address } 与组 { $group } 中由内核使用的其他设备：{ $others }
bind-group-shared-help = 请将硬盘换到其他插槽，或在固件中开启其上端口的 ACS
bind-no-vfio = 本内核没有 vfio-pci
bind-no-vfio-help = 请安装本内核的附加模块包，然后运行：modprobe vfio-pci
bind-no-node = { $address } 已绑定到 vfio-pci，但其组 { $node } 没有出现；已归还给内核
bind-no-group = { $address } 已绑定到 vfio-pci，但未进入任何组；已归还给内核
