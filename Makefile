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

# What Cargo is told where MPI is installed: its program and its tests are built, too.
MPI := $(shell command -v mpicc >/dev/null 2>&1 && echo --features fathom-mpi/mpi)

.PHONY: run run-oltp test stages check build mpi setup-mpi install uninstall packages viewer setup-run setup-packages setup-test lint doc unit web-test \
	browser newcomer testbed bench agreement latency miri truth truth-simulated gaps truth-built truth-oltp truth-quick windows windows-test setup-windows clean

run: build
	sync # What the build left in memory would otherwise be written out during the first steps.
	./target/release/fathom run quick --output $(REPORT)

# Order entry on the newest PostgreSQL that is installed, or else on SQLite: under three minutes, with a report.
run-oltp: build
	mkdir -p target/oltp && chmod 755 target/oltp
	./target/release/fathom oltp --target target/oltp --output fathom-oltp.html --force \
		$$(ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 && echo --managed-postgres)

# A stage that fails does not keep the others from being run.
test: setup-test viewer
	$(MAKE) --no-print-directory --keep-going stages

stages: lint doc unit web-test browser newcomer truth-quick testbed

# The inner loop: everything that needs no device, browser or emulated machine.
check:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings
	$(CARGO) test --workspace --lib --bins --no-fail-fast
	$(CARGO) test -p fathom-language --no-fail-fast

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

# A tarball and a .deb into target/packages. What would say where in the source is not made: it would be stripped.
packages: setup-packages viewer
	CARGO_PROFILE_RELEASE_DEBUG=false $(CARGO) build --profile $(PROFILE) --target $(STATIC) -p fathom
	scripts/packages.sh $${CARGO_TARGET_DIR:-target}/$(STATIC)/$(PROFILE)/fathom $(STATIC) $(PACKAGES)

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
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --features fathom-engine/bench $(MPI) -- -D warnings

doc:
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --document-private-items

unit:
	FATHOM_FIO_PLOT=$$(pwd)/target/fio-plot/bin/fio-plot $(CARGO) test --workspace $(MPI) --no-fail-fast

web-test:
	cd web && npm run check && npm test

# A real run on a real file, opened in a real browser.
browser:
	$(CARGO) build -p fathom
	scripts/browser.sh

# The package in a fresh Debian: installed, used and removed, as somebody does who has never seen it.
newcomer:
	$(MAKE) --no-print-directory packages PROFILE=lean PACKAGES=target/packages-lean
	scripts/newcomer.sh target/packages-lean/fathom_*.deb

# Emulated machines with NVMe drives, switches and NUMA nodes, from Debian's QEMU; see docs/TESTBED.md.
testbed: viewer
	python3 -m unittest discover -q -s testbed/unit -t testbed
	$(CARGO) build -p fathom
	testbed/testbed.py test --binary $${CARGO_TARGET_DIR:-target}/debug/fathom

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

# Half a minute of them on this host, a part of `make test`: fails only where a wrong limit is said with 90 % or more.
# Databases on a disk that is slowed down as they know nothing of. Needs root and control groups of version 1.
truth-oltp:
	$(CARGO) test -p fathom --test oltp -- --ignored

truth-quick: viewer
	$(CARGO) build -p fathom
	python3 -m unittest discover -q -s truth/unit -t truth
	truth/built.py --quick --binary $${CARGO_TARGET_DIR:-target}/debug/fathom

clean:
	$(CARGO) clean
	rm -rf web/dist web/node_modules bench/work truth/work
