#!/usr/bin/env python3
"""Order entry beside go-tpc on one PostgreSQL: the same tables, sessions and warehouses, in turn A B B A.

    bench/oltp.py --binary target/release/fathom --go-tpc PATH [--turns 2] [--seconds 20]

Prints new orders a minute and the client's CPU time of a transaction, each as a ratio with the turns it comes from. Needs
Debian's PostgreSQL, and go-tpc (go install github.com/pingcap/go-tpc/cmd/go-tpc@latest).
"""

import argparse
import json
import os
import pwd
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

USER = "fathom"
PORT = 54329
WAREHOUSES = 2
SUMMARY = re.compile(r"\[Summary\] (\w+) - Takes\(s\): ([\d.]+), Count: (\d+)")


def unprivileged() -> list[str]:
    """PostgreSQL refuses to be root."""
    if os.getuid() != 0:
        return []
    name = next(name for name in ("postgres", "nobody") if name in {user.pw_name for user in pwd.getpwall()})
    return ["setpriv", "--reuid", name, "--clear-groups"]


class Server:
    def __init__(self, folder: Path):
        binaries = max(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
        data = folder / "data"
        data.mkdir()
        folder.chmod(0o755)
        if os.getuid() == 0:
            shutil.chown(data, user=unprivileged()[2])
        command = [*unprivileged(), binaries / "initdb", "-N", "-U", USER, "--auth=trust", "--encoding=UTF8", "--locale=C", "-D", data]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd="/")
        settings = ["-c", "listen_addresses=127.0.0.1", "-c", f"port={PORT}", "-c", f"unix_socket_directories={data}"]
        self.process = subprocess.Popen([*unprivileged(), binaries / "postgres", "-D", data, *settings], stderr=subprocess.DEVNULL, cwd="/")
        while subprocess.run(["psql", self.url("postgres"), "-c", "SELECT 1"], capture_output=True).returncode != 0:
            time.sleep(0.1)
        for name in ("peer", "ours"):
            subprocess.run(["psql", self.url("postgres"), "-c", f"CREATE DATABASE {name}"], check=True, capture_output=True)

    def url(self, database: str) -> str:
        return f"postgresql://{USER}@127.0.0.1:{PORT}/{database}"

    def stop(self) -> None:
        self.process.send_signal(2)
        self.process.wait()


def go_tpc(options: argparse.Namespace, action: str, *more: str) -> tuple[float, float]:
    """New orders a minute and client CPU seconds of a transaction."""
    command = [options.go_tpc, "tpcc", action, "-d", "postgres", "-H", "127.0.0.1", "-P", str(PORT), "-U", USER, "-D", "peer"]
    command += ["--conn-params", "sslmode=disable", "--warehouses", str(WAREHOUSES), "-T", str(options.sessions), *more]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ended = subprocess.run(command, check=True, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    rows = {name: (float(seconds), int(count)) for name, seconds, count in SUMMARY.findall(ended.stdout)}
    done = sum(count for name, (_, count) in rows.items() if not name.endswith("_ERR"))
    if not done:
        return 0.0, 0.0
    seconds, orders = rows["NEW_ORDER"]
    return orders / seconds * 60, cpu_s / done


def fathom(options: argparse.Namespace, server: Server) -> tuple[float, float]:
    command = [options.binary, "oltp", "--postgres", server.url("ours"), "--warehouses", str(WAREHOUSES), "--json"]
    command += ["--sessions", str(options.sessions), "--runtime", f"{options.seconds}s", "--ramp", "1s", "--no-probes"]
    run = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    if run["consistency"]["broken_after_run"]:
        sys.exit("the database is not consistent")
    return run["nopm"]["mean"], run["cpus"]["client_cores"] / run["tps"]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--binary", required=True)
    arguments.add_argument("--go-tpc", required=True)
    arguments.add_argument("--sessions", type=int, default=4)
    arguments.add_argument("--seconds", type=int, default=20)
    arguments.add_argument("--turns", type=int, default=2)
    arguments.add_argument("--folder", default=".", help="where the server's data go")
    options = arguments.parse_args()
    with tempfile.TemporaryDirectory(prefix="fathom-bench-", dir=options.folder) as name:
        server = Server(Path(name).resolve())
        try:
            go_tpc(options, "prepare")
            pairs = []
            for turn in range(options.turns):
                peer = lambda: go_tpc(options, "run", "--time", f"{options.seconds}s")
                ours = lambda: fathom(options, server)
                first, second = (peer, ours) if turn % 2 == 0 else (ours, peer)
                results = (first(), second())
                pairs.append(results if turn % 2 == 0 else results[::-1])
                (peer_nopm, peer_cpu), (our_nopm, our_cpu) = pairs[-1]
                print(f"turn {turn + 1}: NOPM {our_nopm:.0f} against {peer_nopm:.0f}; client CPU of a transaction "
                      f"{our_cpu * 1e6:.1f} us against {peer_cpu * 1e6:.1f} us")
            nopm = [ours[0] / peer[0] for peer, ours in pairs]
            cpu = [ours[1] / peer[1] for peer, ours in pairs]
            for what, ratios in (("NOPM", nopm), ("client CPU of a transaction", cpu)):
                print(f"{what}: {statistics.mean(ratios):.2f} of go-tpc's ({min(ratios):.2f} to {max(ratios):.2f})")
        finally:
            server.stop()


if __name__ == "__main__":
    main()
