# Two commands are the whole set-up: `make run` and `make test`. Everything else is a part of one of them.
CARGO ?= cargo
REPORT ?= fathom-quick.html
PREFIX ?= /usr/local
BINARY ?= target/release/fathom
# How packages are built: release or lean.
PROFILE ?= release
PACKAGES ?= target/packages
# What packages hold: linked with its own C library, it runs on any Linux of this architecture.
STATIC := $(shell uname -m)-unknown-linux-musl

# The same features in every check, build and run of tests, so that Cargo builds each crate once. MPI where it is installed:
# `=` and not `:=`, because `setup-test` installs it.
MPI = $(shell command -v mpicc >/dev/null 2>&1 && echo fathom-mpi/mpi)
FEATURES = --features "fathom-engine/bench $(MPI)"

TARGET := $(or $(CARGO_TARGET_DIR),target)
# What `make test` installs and tests: the program of the package, and the example that renders a report from JSON.
PACKAGED := $(TARGET)/$(STATIC)/lean/fathom
RENDER := $(TARGET)/debug/examples/report_from_json
LEAN_PACKAGES := $(TARGET)/packages-lean
TOOLS := $(CURDIR)/target/tools/bin
# Set by scripts/stages.py, which has built everything before: the stages then build nothing.
BUILT ?=

# In this order. `make test-all` adds what takes minutes and protects few: docs/TESTING.md.
STAGES := setup-test viewer lint binaries package unit web-test browser newcomer truth-quick fio-differential testbed
STAGES_ALL := $(STAGES) doc fresh-machine windows-test

.PHONY: run run-oltp test test-all check binaries package downloads build mpi setup-mpi install uninstall packages viewer \
	setup-run setup-packages setup-test setup-windows lint doc unit web-test browser newcomer fio-differential fresh-machine testbed bench agreement latency \
	miri truth truth-simulated gaps truth-built truth-oltp truth-quick windows windows-test clean

# Built as the tested package is: in half the time of a release, with the same hot loop.
run: setup-run viewer
	$(CARGO) build --profile lean -p fathom
	sync # What the build left in memory would otherwise be written out during the first steps.
	$(TARGET)/lean/fathom run quick --output $(REPORT)

# Order entry on the newest PostgreSQL that is installed, or else on SQLite: under three minutes, with a report.
run-oltp: build
	mkdir -p target/oltp && chmod 755 target/oltp
	./target/release/fathom oltp --target target/oltp --output fathom-oltp.html --force \
		$$(ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 && echo --managed-postgres)

# Everything that protects users, in less than half an hour on two CPUs. Prints what each stage cost.
test:
	BUILT=1 scripts/stages.py test $(STAGES)

# Every test there is, with the long tables whole. Green before an issue is said resolved: docs/TESTING.md.
test-all:
	BUILT=1 FATHOM_TEST_ALL=1 scripts/stages.py test-all $(STAGES_ALL)

# The inner loop: everything that needs no device, browser or emulated machine.
check: setup-test viewer
	$(MAKE) --no-print-directory lint web-test
	$(TOOLS)/cargo-nextest nextest run --workspace $(FEATURES) --lib --tests --profile check

# All binaries of tests, built once. The stages that follow run them.
binaries:
	$(CARGO) test --workspace $(FEATURES) --lib --bins --tests --no-run
	$(CARGO) build --workspace $(FEATURES) --example other_version --example report_from_json

# The package that is tested: as released, but soon made.
package:
	$(MAKE) --no-print-directory packages PROFILE=lean PACKAGES=$(LEAN_PACKAGES)

# What tests fetch from Debian, so that it comes while others compile.
downloads:
	scripts/newcomer.sh --fetch
	testbed/testbed.py fetch

build: setup-run viewer
	$(CARGO) build --release -p fathom

# Load from many hosts, started by mpirun or srun: docs/CLUSTER.md. Installs Open MPI.
mpi: setup-run setup-mpi viewer
	$(CARGO) build --release -p fathom-mpi --features mpi

# fathom.exe for Windows 10, Server 2019 and later, built here: target/x86_64-pc-windows-gnu/release/fathom.exe. docs/WINDOWS.md.
windows: setup-windows viewer
	scripts/windows.sh build

# The same built, its tests and a run on a file under Wine. It shows that things work, never how fast.
windows-test: setup-windows viewer
	scripts/windows.sh test

# What `make build` made, with completions and pages of the manual; builds nothing, so that it can be run as root.
install:
	PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" scripts/install.sh install "$(BINARY)"

uninstall:
	PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" scripts/install.sh uninstall

# A tarball and a .deb into target/packages.
packages: setup-packages viewer
	$(CARGO) build --profile $(PROFILE) --target $(STATIC) -p fathom
	scripts/packages.sh $(TARGET)/$(STATIC)/$(PROFILE)/fathom $(STATIC) $(PACKAGES)

# The viewer is built from source and embedded by the report crate; it is never committed.
viewer: web/dist/viewer.html

web/dist/viewer.html: web/package-lock.json $(shell find web/src -type f 2>/dev/null) web/index.html web/vite.config.ts
	cd web && npm ci --no-audit --no-fund && npm run build
	touch $@

setup-run:
	scripts/setup.sh run

setup-mpi:
	scripts/setup.sh mpi

setup-packages:
	scripts/setup.sh packages

setup-windows:
	scripts/setup.sh windows

setup-test:
	scripts/setup.sh test

lint:
	python3 -m unittest discover -q -s scripts/unit
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets $(FEATURES) -- -D warnings

# The documentation builds without a warning, and its examples run.
doc:
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace $(FEATURES) --no-deps --document-private-items
	$(CARGO) test --workspace $(FEATURES) --doc

unit: $(if $(BUILT),,binaries)
	PATH=$(TOOLS):$$PATH FATHOM_FIO_PLOT=$(TOOLS)/fio-plot $(TOOLS)/cargo-nextest nextest run --workspace $(FEATURES) --lib --bins --tests \
		$(if $(FATHOM_TEST_ALL),--profile all --run-ignored all); \
		code=$$?; scripts/tests.py $(TARGET)/nextest/$(if $(FATHOM_TEST_ALL),all,default)/junit.xml && exit $$code

web-test: viewer
	cd web && npm run check && npm test

# A real run on a real file, opened in a real browser.
browser: $(if $(BUILT),,package binaries)
	FATHOM_BINARY=$(abspath $(PACKAGED)) FATHOM_RENDER=$(abspath $(RENDER)) scripts/browser.sh

# The package in a fresh Debian: installed, used and removed, as somebody does who has never seen it.
newcomer: $(if $(BUILT),,package)
	scripts/newcomer.sh $(LEAN_PACKAGES)/fathom_*.deb

# Tests scripts/setup.sh in a fresh Debian, then lints and builds the package there.
fresh-machine:
	scripts/fresh-machine.sh

# Emulated machines with NVMe drives, switches and NUMA nodes, from Debian's QEMU; see docs/TESTBED.md.
testbed: $(if $(BUILT),,package)
	python3 -m unittest discover -q -s testbed/unit -t testbed
	testbed/testbed.py test $(if $(FATHOM_TEST_ALL),--all) --binary $(PACKAGED)

bench: build
	scripts/setup.sh test
	$(CARGO) build --release -p fathom-engine --features bench --example bench
	python3 bench/side_by_side.py $(BENCH)
	$(CARGO) run --release -p fathom-lab --example thousand_ranks
	[ -z "$(MPI)" ] || { $(CARGO) build --release -p fathom-mpi --features mpi && python3 bench/cluster.py; }

# Whether fio and Fathom give the same load from the same job file. AGREEMENT: more words.
agreement: build
	scripts/setup.sh test
	python3 bench/agreement.py $(AGREEMENT)

# Latency at each depth beside fio's, quiet and beside other work: docs/LATENCY.md. LATENCY: more words.
latency: build
	scripts/setup.sh test
	python3 bench/latency.py --page $(LATENCY)

# Owners of memory that a kernel writes into, under an interpreter that knows whose memory is whose. No part of `make test`:
# it takes a nightly toolchain (rustup toolchain install nightly --component miri,rust-src). Leaks are meant: see the tests.
miri:
	MIRIFLAGS="-Zmiri-disable-isolation -Zmiri-ignore-leaks" $(CARGO) +nightly miri test -p fathom-engine --lib rig::

# How often the named limit is right: simulated machines (docs/TRUTH.md), then set-ups that are built (docs/TRUTH-BUILT.md).
truth: truth-simulated truth-built truth-oltp

truth-simulated:
	FATHOM_TRUTH_CASES=2000 FATHOM_TRUTH_PAGE=$$(pwd)/docs/TRUTH.md $(CARGO) test --release -p fathom-lab --test truth

# How far prediction and simulation are apart on drawn machines: docs/GAPS.md.
gaps:
	FATHOM_GAP_CASES=500 FATHOM_GAP_PAGE=$$(pwd)/docs/GAPS.md $(CARGO) test --release -p fathom-lab --test truth agree

# Set-ups whose limit is known because they are built, here and in the testbed: docs/TRUTH-BUILT.md. As root. TRUTH: more words.
truth-built: build
	python3 -m unittest discover -q -s truth/unit -t truth
	truth/built.py --binary $${CARGO_TARGET_DIR:-target}/release/fathom $(TRUTH)

# Databases on a disk that is slowed down as they know nothing of. Needs root and control groups of version 1.
truth-oltp:
	$(TOOLS)/cargo-nextest nextest run -p fathom $(FEATURES) --profile all --run-ignored only -E 'test(/^oltp::/)'

# Half a minute of them on this host, a part of `make test`: fails only where a wrong limit is said with 90 % or more.
truth-quick: $(if $(BUILT),,package)
	python3 -m unittest discover -q -s truth/unit -t truth
	truth/built.py --quick --binary $(PACKAGED)

# Random jobs, run by the installed fio and by Fathom. A seed that is known to agree; test-all also draws new ones.
fio-differential: $(if $(BUILT),,package)
	python3 tests/fio/differential.py --fathom $(PACKAGED) --seed 46 --cases 180
	$(if $(FATHOM_TEST_ALL),python3 tests/fio/differential.py --fathom $(PACKAGED) --cases 10000)

clean:
	$(CARGO) clean
	rm -rf web/dist web/node_modules bench/work truth/work
