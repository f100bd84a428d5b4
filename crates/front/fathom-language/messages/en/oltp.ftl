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
oltp-table-exists = { $place } has a table { $table } already
oltp-table-exists-help = name an empty database or schema: nothing that is there is touched
oltp-no-server = no PostgreSQL server is installed
oltp-no-server-help = install it (Debian: apt install postgresql), or name one that runs: --postgres URL
oltp-no-user = PostgreSQL does not run as root, and there is neither a user postgres nor nobody to run it as
oltp-no-user-help = run Fathom as an ordinary user, or make a user postgres
oltp-socket-path = { $path } is too long for the path of a socket
oltp-socket-path-help = name a folder with a shorter path
oltp-still-runs = the server of an earlier run in { $path } does not end
