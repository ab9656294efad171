# Two commands do everything on a fresh Debian or Ubuntu machine: make demo, make check.
BUILD = build
PREFIX = /usr/local

FUZZ = 60
ATTACK = 100

# Options of tools/check-systems; none but this one is the whole matrix.
SYSTEMS = --unit

.PHONY: help deps build demo check check-all check-gpu check-spark check-systems check-web gpu-code web wheels dist pages site \
	fuzz attack coverage golden bench bench-deps bench-huge install \
	uninstall format clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' Makefile

deps: ## install what building needs
	@tools/install-deps demo

build: deps ## build the library and the program
	@tools/build $(BUILD)

demo: build ## see it work on data inside the repository
	@tools/demo $(BUILD)

check: ## tests of a release build and 20 seconds of fuzzing
	@tools/install-deps check
	@tools/check

check-systems: build ## the whole matrix of other systems, bytes and unit tests; 70 minutes of a processor, half with SYSTEMS=
	@tools/install-systems
	@tools/check-systems --program $(BUILD)/cli/propercal $(SYSTEMS)

web: ## the page for the browser, build-web/propercal.html
	@tools/install-systems wasm
	@tools/cross wasm32-wasi build-wasm32-wasi >/dev/null
	@ninja -C build-wasm32-wasi cli/propercal-page >/dev/null
	@tools/make-web build-wasm32-wasi/cli/propercal-page build-web/propercal.html

check-web: build web ## test that page in Chromium
	@tools/install-deps web
	@tools/check-web --program $(BUILD)/cli/propercal

wheels: ## wheels of the Python package for six systems, in dist, and their tests
	@tools/install-systems
	@tools/make-wheels
	@tools/check-wheels

dist: ## a release in dist: sources, programs, wheels, Debian packages, the page, checksums
	@tools/install-systems
	@tools/install-deps dist
	@tools/make-dist $(DIST)
	@tools/check-wheels
	@tools/check-debs || test $$? -eq 77

check-all: ## check, long tests, sanitizers, clang, layout, manual, scripts, Python, Spark, browser
	@tools/install-deps check-all
	@tools/install-systems wasm || echo "check-all: WebAssembly and the page are left out" >&2
	@tools/check all

check-spark: ## propercal.spark on executors of Apache Spark
	@tools/install-deps check-all
	@tools/check-spark

pages: build ## a page for each metric, calibrator and Python function, in build-pages
	@tools/make-pages --build $(BUILD)
	@tools/check-python --reference

site: build web ## the documentation as a site with search, in build-site/html
	@tools/make-site --build $(BUILD)

fuzz: ## fuzz for FUZZ seconds, 60 by default; a night, into the docs: make fuzz FUZZ=3600 RECORD=--record
	@tools/install-deps check
	@tools/fuzz --seconds $(FUZZ) $(RECORD)
	@tools/fuzz-python --install --seconds $$(($(FUZZ) / 10 + 1)) $(RECORD) || test $$? -eq 77

attack: build ## hostile files, failing memory, kills, changing files for ATTACK seconds, 100 by default
	@tools/attack --build $(BUILD) --seconds $(ATTACK) $(RECORD)

check-gpu: ## results of tensors on an NVIDIA GPU against those in memory; needs one, and PyTorch; for a release: GPU=--strict
	@tools/install-deps check
	@tools/build $(BUILD) -Dtests=true -Dpython=true
	@tools/check-gpu $(GPU) $(BUILD)

gpu-code: ## compile the kernels for GPUs anew (needs nvcc); the library embeds src/device/device_kernels.*
	@tools/make-gpu-code

coverage: ## which branches of the library the tests reach; writes docs/branch-coverage.md
	@tools/install-deps check
	@tools/branch-coverage --write

golden: build bench-deps ## compute tests/golden/independent.json anew by other packages
	@.venv-bench/bin/python tools/make-golden --build $(BUILD)

bench: deps ## speed against other packages and the machine; options: make bench BENCH=--help
	@bench/run.py --build $(BUILD) $(BENCH)

bench-deps: ## install those packages into .venv-bench
	@tools/install-peers

bench-huge: deps ## a billion scores: writes 5 GB into build-bench
	@bench/run.py --build $(BUILD) --huge --only huge $(BENCH)

install: ## install what is built, without fetching packages; elsewhere: make install PREFIX=/usr
	@tools/install-deps --look demo
	@tools/build $(BUILD) --prefix=$(abspath $(PREFIX))
	@tools/meson install -C $(BUILD) --no-rebuild --quiet
	@echo "Installed in $(abspath $(PREFIX))"

uninstall: ## remove what make install installed
	@ninja -C $(BUILD) uninstall >/dev/null
	@echo "Uninstalled"

format: ## lay out all C files by .clang-format
	@tools/format

clean: ## remove what was built
	@rm -rf build build-asan build-bench build-clang build-fuzz build-gcov build-pages build-python build-tsan build-web build-*-* demo-output
