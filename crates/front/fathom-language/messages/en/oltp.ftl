# Order entry on real databases.

oltp-open = the database cannot be opened: { $answer }
oltp-load = the load failed: { $answer }
oltp-transaction = a transaction failed: { $answer }
oltp-check = the database cannot be asked: { $answer }
oltp-system = { $path }: { $source }
oltp-space = { $path } has { $free } free, and the database needs up to { $needed }
oltp-space-help = take fewer warehouses (--warehouses) or another folder
oltp-not-ours = { $place } holds no database that Fathom loaded whole
oltp-not-ours-help = name a folder that fathom oltp left: --keep leaves it, as does a run that is killed
