# 导入 fio 与 Fathom 的结果（fathom-report）

import-at = { $place }：{ $what }
import-wrong-kind = { $file }：不是 fio、SPDK 或 Fathom 的结果，看起来是{ $looks_like }
import-old-fio = { $file }：由 { $version } 写成，其延时以微秒计，分箱含义也不同
import-newer = { $file }：文档的 schema 为 { $found }，此版本最多读到 { $known }
import-json-help = 文件可能被截断或改动；用 fio 的 --output=FILE 可写出干净的 JSON
import-old-fio-help = 请用 fio 3.0 或更新版本并加 --output-format=json+ 运行该作业
import-newer-help = 请用写出它的 Fathom 或更新的版本
import-reads = `fathom import` 可读 fio 的 json 与 json+、spdk_nvme_perf 的表格、bdevperf 的 JSON，以及 `fathom export --format json` 写出的文件
import-want-json = 请用 --output-format=json+ 运行 fio 并导入该文件
import-empty-object = 空的 JSON 对象
import-foreign-json = 其他程序的 JSON，键为 { $keys }
import-second-document = 这里开始了第二个 JSON 文档，且不属于同一次 fio 运行；请逐个导入，或放入一个 JSON 数组
import-empty-file = 空文件
import-empty-file-help = 请检查写它的运行是否已结束
import-sqlite = SQLite 数据库
import-sqlite-help = 若它是 Fathom 的实验库，请用 --lab 指定而不是导入
import-html = HTML 页面
import-html-help = 请导入生成它的 JSON
import-xml = diskspd 或 Iometer 所写的 XML
import-fio-terse = fio 的 terse 输出
import-fio-normal = fio 给人看的普通输出
import-study-file = 研究文件
import-job-file = fio 作业文件
import-run-it = 请交给 `fathom run`
import-csv = 逗号分隔的表格
import-csv-help = 请用 --format json 代替 csv 导出，或用 --output-format=json+ 运行 fio
import-plain-text = 纯文本
import-beside = { $file }：JSON 之外还有：{ $line }
import-no-jobs = 没有作业列表
import-no-jobs-help = fio 没有结束，或文件被改动过
import-no-object = 不是对象
import-no-job = 其中没有作业
import-no-job-help = 请看 fio 在 stderr 上打印了什么
import-no-number = 不是整数
import-no-number-help = 它是否来自 fio 3.0 或更新版本？
import-workloads = fio 的词为 read、write、trim、rw、trimwrite，以及前面加 rand 的同类词
import-fio-unknown = 未注明版本的 fio
import-not-run = 块的顺序未知：导入的负载无法运行
import-fio-last-document = 文件包含同一次运行的 { $count } 个文档（--status-interval）；导入最后一个
import-fio-no-runtime = { $ios } 次 I/O 的 runtime 为 0 ms：fio 没有给出速率
import-fio-no-runtime-help = 使用 --verify_only 时的写入以及不足 1 ms 的作业会这样；请延长作业的运行时间
import-fio-backlog = { $place }：{ $ios } 次读取在写入之间校验数据（verify_backlog）；fio 不报告其时间，因此未导入
import-fio-verify-reads = 这些读取在写入之后校验数据
import-fio-unknown-load = 文件没有列出此作业的选项：文件未说明的部分在此为未知，而不是 fio 的默认值
import-fio-start = fio 只记录运行结束的时刻：每个步骤的开始时刻由它减去步骤时长得出
import-fio-together = 同一组的作业（如 `{ $a }` 与 `{ $b }`）同时运行，共用目标
import-fio-bins = { $place }：分箱只有 { $ios } 个 I/O 中的 { $bins } 个
import-fio-clat = { $place }：延时是 fio 的 clat，不含提交时间；未设 lat_percentiles=1
import-fio-clat-mean = { $place }：延时是 fio 的 clat，不含提交时间（lat 平均 { $mean }）；未设 lat_percentiles=1
import-fio-no-latencies = { $place }：fio 没有记录延时
import-fio-no-merge = 没有分箱就不能合并多个作业的百分位数；json+ 或 group_reporting 有
import-fio-cpu = fio 的作业每个占用一个 CPU 的 { $user_pct } % 用户时间与 { $system_pct } % 系统时间；整机开销不在文件中
import-fio-no-workload = `{ $word }` 不是 fio 的负载
import-fio-verify = fio 用 `{ $word }` 校验，此处不支持
import-fio-distribution = 不支持 fio 的 random_distribution `{ $word }`；步骤记为 `random`
import-fio-bssplit = 无法读取 bssplit `{ $word }`；取平均大小
import-fio-bs = bs 为 `{ $word }`，但 I/O 平均为 { $mean } 字节；步骤以后者为准
import-fio-no-bs = 块大小未知；按 fio 默认的 4096 字节
import-fio-engine = fio 的 ioengine 为 `{ $word }`；步骤记为最接近的 `{ $engine }`
import-fio-no-filename = 选项中没有 filename：fio 自建了文件，此处以作业名代替
import-fio-files = { $jobs } 个作业共同访问 { $files } 个文件；导入为一个目标
import-fio-rate = fio 每个作业限速 rate_iops={ $rate }；其延时从实际开始时刻算起
import-fio-cpus = 无法读取 cpus_allowed `{ $word }`；步骤记为未绑核
import-fathom-run = { $file }：Fathom { $version } 的运行 { $run }，由其 JSON 导入
import-fathom-step = 步骤 { $index }（{ $label }）未测量：{ $reason }
import-fathom-probe = 步骤 { $index }（{ $label }）是运行时追加的探测步骤，未导入
import-fathom-no-step = 那里没有步骤 { $index }，而 `steps` 有其数据
import-fathom-no-step-help = 请重新导出该运行
import-fathom-mixed = 混合负载的 slat、clat 与 service 按全部操作合并打印，未导入
import-fathom-quoted = 由 JSON 导入：数据为引用，文件中没有区间
import-spdk-engine = { $program } 绕过内核驱动硬盘，与引擎 { $engine } 相同；步骤记为 { $engine }
import-spdk-no-command = spdk_nvme_perf 的表格没有说明其负载
import-spdk-no-command-help = 请在表格之前加一行当时输入的命令：spdk_nvme_perf -q 32 -o 4096 -w randread -t 10 ...
import-spdk-no-table = 此命令之后没有表格：{ $command }
import-spdk-two-tables = 一条命令之后有多个表格：{ $command }
import-spdk-no-option = 命令中没有 --{ $word }
import-spdk-other-command = 表格的 IOPS 与 MiB/s 与 { $bytes } 字节的块不符：它是另一条命令的表格
import-spdk-mixed = 其中混合负载（`{ $word }`）的读与写没有分开报告
import-spdk-mixed-help = 请让读和写各自运行：randread、randwrite、read、write
import-spdk-no-figure = 不是数字
import-spdk-no-word = 不是词
import-spdk-no-figure-help = 运行被提前结束，或文件被改动过
import-spdk-nothing = 其中没有 I/O
