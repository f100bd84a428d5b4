"""The testbed: QEMU guests with NVMe drives, a PCIe switch, NUMA nodes and SMT siblings, which CI does not have."""
