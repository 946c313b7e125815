# The front door: every target is one line of CMake, ctest or a script.
#
#   make            build/release/bin/hoist and what belongs to it
#   make test       set-up, build, tests (no slow ones) make demo    the main job on real input
#   make test-all   all tests that need no GPU          make nightly test-all, ThreadSanitizer, tidy
#   make bench      ratios against the plain programs   make soak    long fuzzing, by hand
#   make asan|tsan|clang|dev   build and test that preset
#   make check      layers, docs, words, format     make tidy    clang-tidy
#   make coverage   line coverage                       make bundle  self-contained tree
#   make all|test|test-all HOIST_PARTS="match tensors"  these parts alone (areas of src/)
#   make deb        Debian packages: build/deb      make wheel   wheels for Python: build/wheel
#   make install PREFIX=/usr/local [DESTDIR=…]
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
BENCH_FLAGS ?=
DEMO_FLAGS ?=
SOAK_FLAGS ?=
TIDY_FLAGS ?=
HOIST_PARTS ?=
space := $(subst ,, )
TARGETS = $(if $(HOIST_PARTS),--target $(HOIST_PARTS:%=part-%))
OF_PARTS = $(if $(HOIST_PARTS),-L '^($(subst $(space),|,$(strip $(HOIST_PARTS))))$$')

.PHONY: all test test-all nightly demo bench soak dev asan tsan clang check format tidy coverage bundle deb wheel install \
        setup clean

all: build/release/build.ninja
	@cmake --build --preset release $(TARGETS)

# A configured build tree; ninja itself notices when CMake's input changed.
build/%/build.ninja: CMakePresets.json
	@cmake --preset $*

setup:
	@scripts/setup

# Labels: a test's kind, its part, and `slow` above 20 s (scripts/check-labels).
test: setup
	@echo "make test: builds $(or $(HOIST_PARTS),everything) (everything: about 15 minutes on 2 cores, 1 with a warm ccache), then 5 of tests"
	@$(MAKE) --no-print-directory all
	@ctest --preset release -j $(JOBS) $(OF_PARTS) -LE '^(real|slow|gpu)$$'

test-all: setup
	@$(MAKE) --no-print-directory all
	@ctest --preset release -j $(JOBS) $(OF_PARTS) -LE '^gpu$$'

nightly: setup
	@scripts/nightly

# Only the programs that it runs; an unpacked bundle runs scripts/demo without a build.
demo: setup
	@echo "make demo: builds the programs that it runs (about 3 minutes on 2 cores), measures for 2 to 4"
	@$(MAKE) --no-print-directory build/release/build.ninja
	@cmake --build --preset release --target hoist-demo-programs
	@python3 scripts/demo --build-dir build/release --html demo.html $(DEMO_FLAGS)

bench: setup
	@$(MAKE) --no-print-directory all
	@python3 bench/run/run_bench.py --build-dir build/release $(BENCH_FLAGS)

dev asan tsan clang: %: build/%/build.ninja
	@cmake --build --preset $@
	@$(if $(filter asan,$@),scripts/asan-tests,ctest --preset $@) -j $(JOBS)

check:
	@scripts/check-layers
	@scripts/check-docs
	@scripts/check-words
	@scripts/check-format

format:
	@scripts/check-format --fix

tidy: build/tidy/build.ninja
	@scripts/tidy build/tidy $(TIDY_FLAGS)

coverage: build/coverage/build.ninja
	@scripts/coverage

soak: setup
	@scripts/soak $(SOAK_FLAGS)

bundle: build/bundle/build.ninja
	@scripts/bundle

deb: all
	@scripts/setup packages
	@scripts/deb

wheel:
	@scripts/setup packages
	@scripts/wheel

install: all
	@cmake --install build/release --prefix "$(PREFIX)"

clean:
	@rm -rf build
