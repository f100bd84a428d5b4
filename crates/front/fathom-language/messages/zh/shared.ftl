# 不属于任何部分的用语。

verbatim = { $text }
interval = （95 % 区间 { $low } 至 { $high }）
interval-wide = （{ $low } 至 { $high }）
interval-open = （无定论）
several-sentences = { $list }
did-you-mean = 您是不是指 `{ $near }`？
what-and-why = { $what }：{ $why }
warning-feature-missing = { $feature } 未生效：{ $reason }。
valid-words = 可用：{ $words }
unknown-key = 未知的键 `{ $key }`
invalid-toml = 这不是有效的 TOML：{ $why }
several = { $list }
