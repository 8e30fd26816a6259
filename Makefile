# Airpath: `make help` lists the targets.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# The extension module, and the program that emulates, are built by one of two profiles: `quick`
# compiles in seconds, for work on Rust; `release` is measured and shipped. Results are the same,
# bit for bit.
QUICK := $(VENV)/.stamp-module-quick
RELEASE := $(VENV)/.stamp-module-release
PAPERS_INSTALLED := $(VENV)/.stamp-papers
LOGS := target/test-logs
RECORDS := $(abspath target/conformance.jsonl)
CONFORMANCE := docs/reference/conformance
PAPERS := clamp qawla sbd vcp wimax
STUDIES := vcp wimax
PAPER_PAGES := docs/reference/papers

# The interpreter of the environment for everything that cargo builds against Python; the same for
# every target, so that nothing is built twice.
export PYO3_PYTHON := $(abspath $(BIN)/python)
export VIRTUAL_ENV := $(abspath $(VENV))
# So does maturin: cargo compiles again what has another environment.
export PYO3_BUILD_EXTENSION_MODULE := 1
export CARGO_TERM_COLOR ?= auto
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_QUIET := 1
export MPLBACKEND := Agg
# Developers keep recorded traces in the directory that contains the checkout.
ifneq ($(wildcard ../shared/traces),)
export AIRPATH_TRACES ?= $(abspath ../shared/traces)
endif

RUST_SOURCES := $(shell find crates -type f \( -name '*.rs' -o -name Cargo.toml \)) \
    Cargo.toml Cargo.lock
# The module notes the commit that it was built from.
COMMIT := $(wildcard .git/logs/HEAD)

# All tests and lints use the libraries of the module: that airpath-py is named gives them its features.
CARGO_TEST := cargo test --locked --profile quick --no-fail-fast -p airpath-py
# A library compiles with its unit tests in a tenth of the time without optimisation, over the libraries of the
# module; not those whose tests compute long.
SLOW_UNITS := emu model phy
UNITS := $(filter-out py airpath $(SLOW_UNITS),$(patsubst crates/%/src/lib.rs,%,$(wildcard crates/*/src/lib.rs)))
PLUGINS := $(patsubst crates/airpath/plugins/%/Cargo.toml,%,$(wildcard crates/airpath/plugins/*/Cargo.toml))
OPTIMISED_TESTS := $(CARGO_TEST) -p 'airpath-*-tests' $(SLOW_UNITS:%=-p airpath-%) $(PLUGINS:%=-p airpath-%) --tests
DOC_TESTS := $(CARGO_TEST) --workspace --exclude 'airpath-*-tests' --doc
ALL_TESTS := cargo test --locked --profile quick --no-fail-fast --workspace --tests
PYTEST := $(BIN)/python -m pytest

.PHONY: help demo announce-demo build wheel sdist audit test long-tests bench reproduce-full studies conformance generate-docs draw-studies site clean check-build check-test \
    lint-rust test-rust doc-rust lint-python lint-workflows test-python test-wheel test-realtime lock hooks optimised-tests doc-tests

help:
	@echo 'make demo            set up, build, then run examples and all papers quickly: out/index.html'
	@echo 'make test            every test and lint, and the wheel tried away from the sources'
	@echo 'make build           set up .venv and build the module into it, quickly (demo, bench: optimised)'
	@echo 'make clean           remove everything that was made'
	@echo
	@echo 'make long-tests      tests that take minutes, properties over many random cases'
	@echo 'make bench           benchmarks: a table here, numbers in out/bench.json'
	@echo '                     NAMES="dumbbell-16 rlc-384": only these; REPEAT=N: number of runs, or pairs'
	@echo '                     AGAINST=REV: the ratios to another commit, which is built and takes turns'
	@echo 'make reproduce-full  the papers at full length (many minutes), into out/'
	@echo 'make studies         results.json of papers/studies/vcp and wimax, at full length (hours)'
	@echo 'make draw-studies    the pictures in docs/explanation/img (minutes)'
	@echo 'make conformance     from the tests of scripts and laws: $(CONFORMANCE)-full.md and'
	@echo '                     the data of the committed summary'
	@echo 'make generate-docs   what is generated and committed: the class of TCP parameters, tables in docs/,'
	@echo '                     files for Rust, pages of the papers, the summary of conformance, figures'
	@echo 'make site            the documentation as a site, in out/site/: notebooks executed, figures of the papers,'
	@echo '                     the plug-in crate; to serve it: python3 -m http.server -d out/site'
	@echo
	@echo 'make wheel           the wheels of a release, each tried in an empty environment, in dist/'
	@echo 'make sdist           the source distributions, in dist/; a wheel is built from them and tried'
	@echo 'make lock            scripts/requirements-dev.txt, all versions, from pyproject.toml (needs uv)'
	@echo 'make hooks           check format, lints, words and links before each commit (pre-commit)'
	@echo 'make audit           licences and known vulnerabilities of dependencies (needs cargo-deny)'
	@echo 'make lint-workflows  actionlint over .github/workflows (needs Go)'
	@echo
	@echo 'Parts of make test: lint-rust test-rust doc-rust lint-python test-python test-wheel test-realtime'
	@echo 'Another interpreter: make PYTHON=python3.12 demo'

demo: announce-demo $(RELEASE)
	@$(BIN)/python -m airpath.demo

announce-demo:
	@echo 'make demo: sets up .venv, compiles Airpath optimised (some minutes, only the first time),'
	@echo 'then simulates for up to three minutes and writes out/index.html. Ctrl-C stops; make demo resumes.'

build: $(QUICK)

# The module comes first: it is what tests in Python wait for, and what the others compile less for.
test: check-test $(VENV)/.stamp-venv
	@scripts/test $(LOGS) build \
	    'test-rust lint-rust doc-rust lint-python test-wheel | test-python | test-realtime'

long-tests: build
	PROPTEST_CASES=10000 $(ALL_TESTS) -- --include-ignored
	$(PYTEST) -m long
	$(PYTEST) --hypothesis-profile=long -m 'hypothesis and not long'

bench: $(RELEASE)
	$(BIN)/python tests/benches/run.py $(NAMES) $(AGAINST:%=--against %) $(REPEAT:%=--repeat %)

reproduce-full: $(RELEASE) $(PAPERS:%=reproduce-full-%)

reproduce-full-%: $(RELEASE)
	$(BIN)/airpath reproduce $* --full --out out/$*-full
	$(BIN)/python -m airpath.reproduction --archive out/$*-full/$*.json $(call results,$*)
	$(call paper-pages,$*)
	$(OVERVIEW)

# Work beyond the papers: the results of all items of a study, kept next to it.
studies: $(STUDIES:%=study-%)

# The pictures of two pages, from full runs of one item each: the same versions give the same bytes.
draw-studies: $(RELEASE)
	$(BIN)/airpath reproduce papers/studies/qawla three_regimes --full --figure-format png --out out/three-regimes
	$(BIN)/airpath reproduce papers/studies/vcp loss-response --full --figure-format png --out out/loss-response
	cp out/three-regimes/qawla-three_regimes.png docs/explanation/img/three-regimes.png
	cp out/three-regimes/qawla-three_regimes-why.png docs/explanation/img/three-regimes-why.png
	cp out/loss-response/vcp-loss-response.png docs/explanation/img/loss-response.png
	$(BIN)/airpath reproduce papers/studies/fairness disciplines same --figure-format png --out out/fairness
	cp out/fairness/fairness-disciplines.png out/fairness/fairness-same.png docs/explanation/img/
	$(BIN)/airpath reproduce papers/studies/cellular plane by-delay --figure-format png --out out/cellular
	cp out/cellular/cellular-plane.png out/cellular/cellular-by-delay.png docs/explanation/img/

study-%: $(RELEASE)
	$(BIN)/airpath reproduce papers/studies/$* --full --out out/$*-studies
	$(BIN)/python -m airpath.reproduction --archive out/$*-studies/$*-studies.json papers/studies/$*/results.json

results = papers/airpath_papers/$(1)/results.json
OVERVIEW := $(BIN)/python -m airpath.reproduction --overview $(PAPER_PAGES)/index.md

# The summary, and the page with every number, which is not committed.
define paper-pages
$(BIN)/python -m airpath.reproduction --summary $(call results,$(1)) $(PAPER_PAGES)/$(1).md
$(BIN)/python -m airpath.reproduction $(call results,$(1)) $(PAPER_PAGES)/$(1)-full.md

endef

# The tests leave records of what they compare; tests of one thread have no name to record.
conformance: build
	@mkdir -p $(dir $(RECORDS))
	@rm -f $(RECORDS)
	RUST_TEST_THREADS=2 AIRPATH_CONFORMANCE=$(RECORDS) \
	    $(ALL_TESTS) --exclude airpath-conformance -- --include-ignored
	AIRPATH_CONFORMANCE=$(RECORDS) $(PYTEST) -m 'not paper_full' \
	    $$(grep -rl --include='test_*.py' 'from conformance import' tests)
	$(BIN)/python tests/docs/conformance_page.py $(RECORDS)

# The docstring of a class is the source of its section in the reference.
generate-docs: build
	$(BIN)/python tests/docs/tcp_texts.py
	$(BIN)/python tests/docs/reference_pages.py
	$(BIN)/python tests/docs/engine_files.py
	$(BIN)/python tests/docs/conformance_summary.py
	$(BIN)/python tests/docs/figures.py
	$(foreach paper,$(PAPERS),$(call paper-pages,$(paper)))
	$(OVERVIEW)

# Figures of the papers are those of the demonstration. Of Rust, only the plug-in crate is documented.
site: demo
	rm -rf target/doc
	RUSTDOCFLAGS='-D warnings' cargo doc --locked --profile quick --no-deps -p airpath
	AIRPATH_SITE_EXECUTE=1 AIRPATH_SITE_PAPERS=$(abspath out/demo) AIRPATH_SITE_RUST=$(abspath target/doc) \
	    NO_MKDOCS_2_WARNING=1 \
	    $(BIN)/python -m mkdocs build --quiet --strict --config-file scripts/site/mkdocs.yml

clean:
	rm -rf target out dist $(VENV) python/airpath/_airpath*.so python/airpath/bin
	rm -rf $(PAPER_PAGES)/*-full.md $(CONFORMANCE)-full.md
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find python papers tests -type d -name __pycache__ -prune -exec rm -rf {} +

# --- set-up and build ---------------------------------------------------------------------------

check-build:
	@PYTHON='$(PYTHON)' scripts/check-prerequisites build

check-test:
	@PYTHON='$(PYTHON)' scripts/check-prerequisites test

$(VENV)/.stamp-venv:
	@PYTHON='$(PYTHON)' scripts/check-prerequisites build
	PYTHON='$(PYTHON)' scripts/install $(VENV)
	@touch $@

# Every version is pinned, with what it requires itself.
$(VENV)/.stamp-tools: $(VENV)/.stamp-venv scripts/requirements-dev.txt
	scripts/install $(VENV) --no-deps --requirement scripts/requirements-dev.txt
	@touch $@

# Keeps pinned versions where it can; without the file, the newest are taken.
lock:
	uv pip compile --quiet --universal --python-version 3.10 --extra dev --no-annotate \
	    --custom-compile-command 'make lock' --output-file scripts/requirements-dev.txt pyproject.toml

# Checks before each commit, in the clone of a contributor.
hooks: $(VENV)/.stamp-tools
	scripts/install $(VENV) 'pre-commit>=4,<5'
	$(BIN)/pre-commit install --config scripts/pre-commit.yaml

# Builds the module and installs the package in place; later the module alone, unless what describes
# the package is newer. One module is installed at a time: the other profile's stamp goes.
$(QUICK) $(RELEASE): $(VENV)/.stamp-tools pyproject.toml $(RUST_SOURCES) $(COMMIT) \
    | $(PAPERS_INSTALLED)
	@rm -f $(QUICK) $(RELEASE)
	PATH=$(abspath $(BIN)):$$PATH scripts/build-native $(@:$(VENV)/.stamp-module-%=%) \
	    $(if $(filter pyproject.toml Cargo.toml,$?),emulator)
	$(if $(filter pyproject.toml Cargo.toml,$?),\
	    $(BIN)/maturin develop --profile $(@:$(VENV)/.stamp-module-%=%) --locked --quiet)
	@touch $@

# Installs the papers in place. Their one requirement is the package, which is built here.
$(PAPERS_INSTALLED): $(VENV)/.stamp-tools papers/pyproject.toml
	scripts/install $(VENV) --no-deps --no-build-isolation --editable papers
	@touch $@

# --- parts of `make test` -----------------------------------------------------------------------

lint-rust: $(VENV)/.stamp-venv
	cargo fmt --all --check
	cargo clippy --locked --profile quick --workspace --all-targets -- -D warnings

# Properties draw the same cases every time; `make long-tests` hunts among others.
test-rust: export PROPTEST_RNG_SEED ?= 1
test-rust: $(VENV)/.stamp-venv
	$(MAKE) --no-print-directory --keep-going optimised-tests $(UNITS:%=unit-tests-%) doc-tests

optimised-tests:
	$(OPTIMISED_TESTS)

unit-tests-%:
	$(CARGO_TEST) -p airpath-$* --tests --config profile.quick.package.airpath-$*.opt-level=0

doc-tests:
	$(DOC_TESTS)

doc-rust: $(VENV)/.stamp-venv
	RUSTDOCFLAGS='-D warnings' cargo doc --locked --profile quick --workspace --no-deps

lint-python: $(VENV)/.stamp-tools
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python scripts/check-words
	$(BIN)/python -m pip check >/dev/null

test-python: build
	$(PYTEST) -n 2 --dist loadfile -m 'not paper_full and not long and not realtime'

test-realtime: build
	$(PYTEST) -m 'realtime and not long' \
	    $$(grep -rl --include='test_*.py' 'mark[.]realtime' tests)

# Tests the packaging, with the module of `make build`; `make wheel` optimises.
test-wheel: build
	rm -rf target/wheels
	$(BIN)/maturin build --profile quick --locked --quiet --out target/wheels
	$(BIN)/python -m flit_core.wheel --outdir $(abspath target/wheels) papers
	scripts/smoke-test-wheel $(BIN)/python target/wheels

# --- the distributions of a release ---------------------------------------------------------------

$(VENV)/.stamp-release-tools: $(VENV)/.stamp-tools
	scripts/install $(VENV) --constraint scripts/requirements-dev.txt 'maturin[zig]' twine pip-audit
	@touch $@

# On Linux Zig links the module against the symbols of glibc 2.28, not of this machine; the emulator
# is static.
ifeq ($(shell uname -s),Linux)
PLATFORM := manylinux_2_28
LINKED := --zig --compatibility $(PLATFORM)
else
PLATFORM := native
endif

wheel: $(VENV)/.stamp-release-tools
	rm -rf dist
	scripts/build-native release static
	PATH=$(abspath $(BIN)):$$PATH $(BIN)/maturin build --release --locked --quiet --out dist $(LINKED)
	$(BIN)/python -m flit_core.wheel --outdir $(abspath dist) papers
	$(BIN)/twine check --strict dist/*
	scripts/smoke-test-wheel $(BIN)/python dist $(PLATFORM)

# Both source distributions. The wheel that is built from one is tried; it has no emulator. Not `--locked`:
# cargo drops the crates that the distribution leaves out from the lock file, and keeps all versions.
sdist: $(VENV)/.stamp-release-tools
	rm -rf target/sdist
	$(BIN)/maturin sdist --out target/sdist
	cd papers && $(abspath $(BIN))/python -c \
	    'from flit_core.buildapi import build_sdist; build_sdist("$(abspath target/sdist)")'
	$(BIN)/twine check --strict target/sdist/*
	PATH=$(abspath $(BIN)):$$PATH $(BIN)/python -m pip wheel --no-deps --no-build-isolation \
	    --wheel-dir target/sdist/wheels \
	    --config-settings build-args='--profile quick' target/sdist/*.tar.gz
	scripts/smoke-test-wheel $(BIN)/python target/sdist/wheels sdist
	mkdir -p dist
	cp target/sdist/*.tar.gz target/sdist/wheels/airpath_papers-*.whl dist

# --- of the forge -----------------------------------------------------------------------------------

# Licences and known vulnerabilities of everything that is locked; needs cargo-deny and the network.
audit: $(VENV)/.stamp-release-tools
	cargo deny --locked --config crates/deny.toml check
	$(BIN)/pip-audit --no-deps --disable-pip --requirement scripts/requirements-dev.txt

# Needs Go and the network.
lint-workflows:
	go run github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
