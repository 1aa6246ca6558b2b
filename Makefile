# The front door. Every target is one command that also works by itself; `make help` lists them.
# Stdin is never read, so that CI and cron see what a terminal sees.

SHELL       := /bin/sh
MAKEFLAGS   += --no-print-directory
JOBS        ?= $(shell nproc)
PYTHON      ?= /usr/bin/python3
FORMAT      := clang-format-19
CPP_SOURCES  = $$(git ls-files -co --exclude-standard 'src/*.[hc]pp' 'test/*.[hc]pp' 'bench/*.[hc]pp')
BUILD        = cmake --build --preset $(1) -j $(JOBS) $(2) </dev/null

.DEFAULT_GOAL := help
.PHONY: help run build test unit check sim e2e sanitize fuzz bench bench-quick bench-failure format format-check lint \
        setup setup-test setup-bench clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: build ## install what is missing, build, and watch a breaker trip and recover
	@build/release/switchgear demo $(DEMO)

build: setup ## the release binary, build/release/switchgear
	@cmake --preset release >/dev/null </dev/null
	@$(call BUILD,release,--target switchgear)

test: setup-test ## every test there is; the last line counts them
	@$(PYTHON) tools/test.py </dev/null

check: setup-test ## the quick part: source rules, format, unit tests
	@$(PYTHON) tools/test.py --only source,tools,format,units </dev/null

sim: setup-test ## the breaker over hours of virtual time
	@$(PYTHON) tools/test.py --only sim </dev/null

e2e: setup-test ## the real binary with real MCP clients and servers
	@$(PYTHON) tools/test.py --only e2e </dev/null

sanitize: setup-test ## unit and end-to-end tests under ASan, UBSan and TSan
	@$(PYTHON) tools/test.py --only asan,tsan </dev/null

FUZZ_SECONDS ?= 60
FUZZERS      := $(addprefix fuzz_,$(notdir $(wildcard test/fuzz/corpus/*)))
fuzz: setup-test ## look for new inputs that break a decoder, FUZZ_SECONDS=60 each
	@cmake --preset fuzz >/dev/null </dev/null
	@$(call BUILD,fuzz,--target $(FUZZERS))
	@tools/fuzz.sh $(FUZZ_SECONDS) </dev/null

bench: build setup-bench ## the figures of docs/benchmarks.md, on this machine
	@$(call BUILD,release,--target bench_load bench_breaker)
	@$(PYTHON) bench/run.py </dev/null
	@$(PYTHON) bench/redis.py </dev/null
	@$(PYTHON) bench/frozen_redis.py </dev/null

bench-quick: build setup-bench ## the same in about a minute, too short to quote
	@$(call BUILD,release,--target bench_load bench_breaker)
	@$(PYTHON) bench/run.py --quick </dev/null
	@$(PYTHON) bench/redis.py --quick </dev/null
	@$(PYTHON) bench/frozen_redis.py --quick </dev/null

bench-failure: build setup-bench ## five outages, with Switchgear and without, in three minutes
	@$(PYTHON) bench/failure.py </dev/null

format: setup-test ## clang-format in place
	@$(FORMAT) -i $(CPP_SOURCES)

format-check:
	@$(FORMAT) --dry-run --Werror $(CPP_SOURCES)

lint: build setup-test ## clang-tidy over src/ (slow: minutes)
	@git ls-files 'src/*.cpp' | xargs -P $(JOBS) -n 4 clang-tidy-19 --quiet -p build/release

setup: ## packages to build
	@tools/setup.sh build

setup-test: ## packages to test
	@tools/setup.sh build test

setup-bench: ## packages to measure
	@tools/setup.sh bench

clean: ## forget what was built
	@rm -rf build
