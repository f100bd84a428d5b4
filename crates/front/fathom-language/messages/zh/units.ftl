# 无法读懂的数值 (fathom-units)。

unit-error = `{ $text }` 不是{ $what }：{ $problem }
unit-unknown = 未知单位 `{ $unit }`

number-missing = 开头不是数字
number-malformed = 数字格式错误
number-too-large = 数值过大
number-not-whole = 不是整数个{ $unit }
number-not-above-zero = 速率必须大于零
number-not-below-100 = 不在 0 到 100（不含）之间
number-above-100 = 大于 100
number-followed = 数字后面多出 `{ $rest }`
duration-without-unit = 有一段缺少单位

unit-of-ios = I/O
unit-of-bytes = 字节
unit-of-ns = 纳秒
unit-of-percent = 百分点

unit-rate = I/O 速率
unit-rate-help = 请写大于零的每秒 I/O 数，或带 k、M、G（1000 的幂）的数字，例如 500、20k 或 1.5M
unit-size = 大小
unit-size-help = 请写字节数，或带 k、m、g、t、p（1024 的幂）的数字，例如 512、4k 或 1.5g
unit-duration = 时长
unit-duration-help = 请写秒数，或带 ns、us、ms、s、m、h、d 的数字，例如 30s、500ms 或 1h30m
unit-percentage = 百分比
unit-percentage-help = 请写 0 到 100（不含）之间的数字，例如 3% 或 0.5%
unit-percentile = 百分位
unit-percentile-help = 请写 p 加 0 到 100 的百分数，例如 p99 或 p99.99
unit-cpu-list = CPU 列表
unit-cpu-list-help = 请写以逗号分隔的 CPU 编号和范围，例如 0-3,8

cpu-range-descends = 范围 { $first }-{ $last } 是递减的
cpu-twice = CPU { $cpu } 重复出现
cpu-missing = 缺少 CPU 编号
cpu-not-a-map = `{ $text }` 不是 CPU 位图中的 32 位
cpu-not-a-number = `{ $text }` 不是 CPU 编号
cpu-too-large = CPU { $cpu } 大于 { $max }
