#!/bin/sh
# Stands in for spdk_nvme_perf in tests: takes its options, says what it says, and moves no data. Written after
# app/spdk_nvme_perf/perf.c of SPDK (parse_args, print_performance); the program itself was not to be had.
#
# STAND_IN_DRIVE=1   demand that vfio-pci has the drive, and hold its group open meanwhile
# STAND_IN_SPINS=1   keep a CPU busy, as a thread that polls does
# STAND_IN_HANGS=1   neither end nor mind SIGINT
# STAND_IN_FAILS=1   say of a command that it failed
# STAND_IN_OLD=1     know no -L
# STAND_IN_LOG=FILE  write down what it was told, and that it runs

die() {
    echo "$1" >&2
    echo "$0: errors occurred" >&2
    exit 1
}

[ -z "$STAND_IN_LOG" ] || echo "$*" >> "$STAND_IN_LOG"
level=0
while [ $# -gt 0 ]; do
    case "$1" in
    -q) depth=$2 ;;
    -o) bytes=$2 ;;
    -w) pattern=$2 ;;
    -t) seconds=$2 ;;
    -c) mask=$2 ;;
    -r) drive=$2 ;;
    -L | -LL)
        [ -z "$STAND_IN_OLD" ] || die "invalid option -- 'L'"
        level=$((${#1} - 1))
        shift
        continue
        ;;
    *) die "invalid option $1" ;;
    esac
    [ -n "$2" ] || die "option requires an argument -- '$1'"
    shift 2
done
[ "${depth:-0}" -gt 0 ] || die "missing -q (--io-depth) operand"
[ "${bytes:-0}" -gt 0 ] || die "missing -o (--io-size) operand"
[ "${seconds:-0}" -gt 0 ] || die "missing -t (--time) operand"
case "$pattern" in read | write | randread | randwrite) ;; *) die "-w (--io-pattern) io pattern type must be one of" ;; esac
case "$drive" in "trtype:PCIe traddr:"????:??:??.?" ns:"*) ;; *) die "not the address of a drive: $drive" ;; esac
address=${drive#*traddr:}
namespace=${address##* ns:}
address=${address%% *}

echo "Initializing NVMe Controllers"
if [ -n "$STAND_IN_DRIVE" ]; then
    home=/sys/bus/pci/devices/$address
    driver=$(basename "$(readlink "$home/driver")")
    [ "$driver" = vfio-pci ] || die "$address is bound to $driver"
    group=/dev/vfio/$(basename "$(readlink "$home/iommu_group")")
    # The kernel lets one program have a group: that of a driver which holds it is busy.
    (exec 9<> "$group") || die "$group cannot be opened"
    exec 9<> "$group"
    [ -z "$(cat "$home"/nvme/*/serial 2> /dev/null)" ] || die "the kernel has $address"
fi
if [ -n "$STAND_IN_HANGS" ]; then
    trap '' INT TERM
    while :; do sleep 1; done
fi
echo "Attached to NVMe Controller at $address [1b36:0010]"
echo "Initialization complete. Launching workers."
begun=$(date +%s)
spinner=
if [ -n "$STAND_IN_SPINS" ]; then
    (while :; do :; done) &
    spinner=$!
fi
sleep "$seconds" &
sleeper=$!
# As its handler does: leave the loop, and print what there is.
trap 'kill $sleeper 2> /dev/null' INT TERM
[ -z "$STAND_IN_LOG" ] || echo running >> "$STAND_IN_LOG"
wait $sleeper
wait $sleeper 2> /dev/null
[ -z "$spinner" ] || kill "$spinner"
elapsed=$(($(date +%s) - begun))
[ "$elapsed" -le "$seconds" ] || elapsed=$seconds
[ "$elapsed" -gt 0 ] || elapsed=1
[ -z "$STAND_IN_FAILS" ] || echo "Read completed with error (sct=2, sc=129)" >&2
# shellcheck disable=SC2004
cores=$(i=0; while [ $i -lt 62 ]; do [ $((($mask >> i) & 1)) = 0 ] || echo $i; i=$((i + 1)); done)
awk -v address="$address" -v namespace="$namespace" -v cores="$cores" -v bytes="$bytes" -v elapsed="$elapsed" \
    -v depth="$depth" -v level="$level" 'BEGIN {
    # As many as have the mean of the latencies below with so many in flight.
    iops = int(depth * 1000000 / 98.944)
    name = "PCIE (" address ") NSID " namespace
    width = length(name)
    count = split(cores, core, "\n")
    line = "========================================================"
    print line
    printf "%" width + 60 "s\n", "Latency(us)"
    printf "%-" width + 13 "s: %10s %10s %10s %10s %10s\n", "Device Information", "IOPS", "MiB/s", "Average", "min", "max"
    for (i = 1; i <= count; i++)
        printf "%s from core %2d: %10.2f %10.2f %10.2f %10.2f %10.2f\n", name, core[i], iops, iops * bytes / 1048576, 98.94, 60.16, 512.5
    print line
    printf "%-" width + 13 "s: %10.2f %10.2f %10.2f %10.2f %10.2f\n\n", "Total", iops * count, iops * count * bytes / 1048576, 98.94, 60.16, 512.5
    if (level == 0) exit
    for (i = 1; i <= count; i++) {
        printf "Summary latency data for %-43.43s from core %u:\n", name, core[i]
        print "================================================================================="
        printf "%9.5f%% : %9.3fus\n%9.5f%% : %9.3fus\n%9.5f%% : %9.3fus\n\n", 1, 71.68, 50, 71.68, 99, 125.952
    }
    if (level == 1) exit
    ios = iops * elapsed
    low = int(ios / 2)
    top = int(ios / 1000)
    for (i = 1; i <= count; i++) {
        printf "Latency histogram for %-43.43s from core %u:\n", name, core[i]
        print "=============================================================================="
        print "       Range in us     Cumulative    IO count"
        printf "%9.3f - %9.3f: %9.4f%%  (%9d)\n", 71.168, 71.68, low * 100 / ios, low
        printf "%9.3f - %9.3f: %9.4f%%  (%9d)\n", 125.44, 125.952, (ios - top) * 100 / ios, ios - low - top
        printf "%9.3f - %9.3f: %9.4f%%  (%9d)\n\n", 508, 512, 100, top
    }
}'
[ -z "$STAND_IN_FAILS" ] || { echo "$0: errors occurred" >&2; exit 1; }
