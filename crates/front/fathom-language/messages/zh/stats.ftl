# 以字节保存的直方图 (fathom-hist)。

hist-truncated = 直方图在第 { $offset } 字节处结束，正处于一个数字中间：数据被截断
hist-unknown-version = 直方图的格式版本为 { $found }，本程序只能读取版本 { $readable }：请使用更新的程序
hist-trailing-bytes = 直方图在最后一个桶之后（第 { $offset } 字节处）仍有数据：数据已损坏
hist-inconsistent = 直方图已损坏：{ $what }
hist-too-many-buckets = 桶数超过格式所允许的数量
hist-bucket-beyond-last = 有一个桶超出最后一个桶
hist-empty-bucket = 有一个桶没有样本
hist-too-many-samples = 样本数超过 2^64
hist-extremes-outside = 最小值或最大值不在首桶或末桶之内
hist-impossible-sum = 总和与各桶不符
hist-too-many-bits = 有一个数字超过 { $max } 位

# 成对数值的比较 (fathom-stats)。

stats-unpaired = A 的 { $a } 个数值与 B 的 { $b } 个数值不能配对
stats-unpaired-help = 请把每一对都测量完整
stats-too-few-pairs = { $pairs } 对数值太少，得不出 95 % 区间
stats-too-few-pairs-help = 请至少测量 { $least } 对
stats-not-positive = 第 { $pair } 对中有一个数值不大于零
stats-not-positive-help = 请把失败的整对去掉

# 按 SNIA PTS 的稳态。

stats-snia-rounds = 第 { $first }..{ $last } 轮
stats-snia-not-achieved = 未达到
