# 无法读取的 I/O 记录 (fathom-trace)。

trace-unread = 无法读取：{ $error }
trace-none = 不是 I/O 记录：既不是 fio 的 iolog（版本 2 或 3），也不是 blktrace 的二进制文件（blkparse -d）
trace-version = 这是版本 { $found } 的 iolog；只能重放版本 2 和 3
trace-entry = 第 { $number } 条：{ $fault }
trace-words = 不是带有文件、偏移和长度的动作
trace-number = `{ $text }` 不是整数
trace-action = 未知动作 `{ $text }`
trace-file = 文件 { $name } 此前没有加入
trace-empty = 长度为 0
trace-long = 长度超过 4 GiB
trace-magic = 此处不是 blktrace 的记录
trace-binary-version = blktrace 的版本为 { $found }；只能读取版本 7
trace-cut = 文件在其中结束
