#!/usr/bin/env bash
# Renews the ladders that crates/lab/fathom-lab/tests/recorded judges: measured on the disk under FOLDER, on a loop device
# over a file there, and on a fresh zram device. Takes root, sqlite3, 1 GiB in FOLDER and 300 MiB of memory, and two minutes. Only
# what it makes itself is written to, and removed at the end. What names the host or its drives is left out.
#   scripts/record_ladders.sh FATHOM FOLDER
set -euo pipefail
fathom=$(realpath "${1:?usage: $0 FATHOM FOLDER}")
folder=$(mktemp -d "${2:?usage: $0 FATHOM FOLDER}/ladders.XXXXXX")
kept=$(realpath "$(dirname "$0")/..")/crates/lab/fathom-lab/tests/recorded/ladders.db.gz
loop="" zram=""
cleanup() {
  [ -z "$loop" ] || losetup -d "$loop"
  [ -z "$zram" ] || { echo 1 > "/sys/block/zram$zram/reset"; echo "$zram" > /sys/class/zram-control/hot_remove; }
  rm -r "$folder"
}
trap cleanup EXIT
cd "$folder"

for load in "randread 4k 1" "randread 4k 4" "read 128k 1"; do
  read -r rw bs threads <<< "$load"
  cat > "$rw-$bs-T$threads.toml" <<PLAN
[study]
name = "ladder"
question = "What does more in flight bring?"

[defaults]
size = "256m"
ramp_time = "100ms"
runtime = "1200ms"

[[ladder]]
rw = "$rw"
bs = "$bs"
numjobs = $threads
iodepth = [1, 2, 8, 32, 128]
PLAN
done

# Data that does not compress: a device that only has zeros answers without reading.
head -c 256M /dev/urandom > backing
loop=$(losetup --find --show --direct-io=on backing)
zram=$(cat /sys/class/zram-control/hot_add)
echo 256M > "/sys/block/zram$zram/disksize"
dd if=backing of="/dev/zram$zram" bs=1M oflag=direct status=none
sync

measure() { # TARGET PLAN...
  local target=$1 plan
  shift
  for plan; do
    "$fathom" run "$plan.toml" --target "$target" --lab lab.db --quiet > /dev/null || echo "$plan on $target: exit $?" >&2
  done
}
measure ./file randread-4k-T1 randread-4k-T4 read-128k-T1
measure "$loop" randread-4k-T1 randread-4k-T4
measure "/dev/zram$zram" randread-4k-T1 read-128k-T1

sqlite3 lab.db <<'SQL'
UPDATE run SET command_line = 'fathom run ladder.toml',
               host_json = json_remove(json_set(host_json, '$.kernel', '6', '$.inventory.kernel', '6'), '$.identities', '$.advice');
UPDATE run SET owner_boot_id = '';
-- A limit does not ask for them, and they are half of the file.
DELETE FROM histogram WHERE kind <> 'lat';
PRAGMA journal_mode = DELETE;
VACUUM;
SQL
gzip -9 -n < lab.db > "$kept"
ls -l "$kept"
