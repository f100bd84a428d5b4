# 真实数据库上的订单录入。

oltp-open = 无法打开数据库：{ $answer }
oltp-load = 装载失败：{ $answer }
oltp-transaction = 事务失败：{ $answer }
oltp-check = 无法查询数据库：{ $answer }
oltp-system = { $path }：{ $source }
oltp-space = { $path } 剩余 { $free }，数据库最多需要 { $needed }
oltp-space-help = 减少仓库数（--warehouses）或换一个目录
oltp-not-ours = { $place } 中没有由 Fathom 完整装载的数据库
oltp-not-ours-help = 请指定 fathom oltp 留下的目录：--keep 会保留它，被终止的运行也会留下
oltp-table-exists = { $place } 中已有表 { $table }
oltp-table-exists-help = 请指定空的数据库或模式：不会改动已有内容
oltp-no-server = 未安装 PostgreSQL 服务器
oltp-no-server-help = 请安装（Debian：apt install postgresql），或指定正在运行的服务器：--postgres URL
oltp-no-user = PostgreSQL 不以 root 运行，而系统中没有 postgres 或 nobody 用户
oltp-no-user-help = 以普通用户运行 Fathom，或创建 postgres 用户
oltp-socket-path = { $path } 作为套接字路径过长
oltp-socket-path-help = 请指定路径更短的目录
oltp-still-runs = 先前运行的服务器仍在 { $path } 中，没有结束
