# The front door: every target is one line of CMake, ctest or a script.
#
#   make            build/release/bin/hoist and what belongs to it
#   make test       set-up, build, all tests            make demo    the main job on real input
#   make bench      ratios against the plain programs   make soak    long fuzzing, by hand
#   make asan|tsan|clang|dev   build and test that preset
#   make check      layers, format                      make tidy    clang-tidy
#   make coverage   line coverage                       make bundle  self-contained tree
#   make install PREFIX=/usr/local [DESTDIR=…]
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
BENCH_FLAGS ?=
DEMO_FLAGS ?=
SOAK_FLAGS ?=
TIDY_FLAGS ?=

.PHONY: all test demo bench soak dev asan tsan clang check format tidy coverage bundle install \
        setup clean

all: build/release/build.ninja
	@cmake --build --preset release

# A configured build tree; ninja itself notices when CMake's input changed.
build/%/build.ninja: CMakePresets.json
	@cmake --preset $*

setup:
	@scripts/setup

test: setup
	@$(MAKE) --no-print-directory all
	@ctest --preset release -j $(JOBS)

demo: setup
	@$(MAKE) --no-print-directory all
	@python3 scripts/demo --build-dir build/release --html demo.html $(DEMO_FLAGS)

bench: setup
	@$(MAKE) --no-print-directory all
	@python3 bench/run/run_bench.py --build-dir build/release $(BENCH_FLAGS)

dev asan tsan clang: %: build/%/build.ninja
	@cmake --build --preset $@
	@ctest --preset $@ -j $(JOBS)

check:
	@scripts/check-layers
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

install: all
	@cmake --install build/release --prefix "$(PREFIX)"

clean:
	@rm -rf build
