# Every target sets up what it needs; a second run finds it done and starts at once.
#
#   make test      everything that must hold: check, coverage, unit, peers
#   make quick     what most changes need, in two minutes: lint, types, tests of what changed
#   make check     format, lint, types, import contracts, lengths
#   make coverage  the pure folders by their own tests, all branches
#   make unit      all other tests except those of interop
#   make peers     the official SDKs, acpx and the reference MCP servers as peers
#   make interop   those, and real agents, which it installs (1.5 GB)
#   make soak      many simulated worlds, cut connections and kills, every broken peer against every rule
#   make accuracy  the conformance kit against programs that each break one rule
#   make verdicts  the kit's verdicts on our programs, the SDKs' and real agents, as tables
#   make fuzz      the fuzz targets with atheris
#   make bench     speed beside the official SDKs
#   make rules     which rules of the protocol have a test
#   make page      build the page of the web client, which is committed (needs node)
#   make format    format the code
#   make picture   redraw the picture in the README
#   make snapshots redraw the pictures that tests compare: look at them before you commit
#   make lock      resolve the lock files again (needs uv)

PYTHON  := .venv/bin/python
PYTEST  := $(PYTHON) -m pytest --hypothesis-profile=ci
PYRIGHT := node_modules/.bin/pyright

# For two cores: while a test waits for a process, another has something to do.
WORKERS := -n 3 --dist worksteal

# Hundreds of programs are started here: let them find compiled what the first of them compiled.
unexport PYTHONDONTWRITEBYTECODE

# These hold no I/O, so their own tests, and no others, must reach every branch of theirs.
PURE := schema jsonrpc protocol transcript translate

.DEFAULT_GOAL := test
.PHONY: test tests quick quick-tests check lint mypy pyright coverage unit browser others peers peers-setup interop \
  page page-setup page-tests page-check quick-page soak accuracy verdicts fuzz rules bench format picture snapshots lock setup python

# Tests wait now and then, for a process or for a bound that they test.  What only reads the code
# fills those gaps, and does not get in their way: it is nice, mypy less so, whose cache a test uses.
test: python
	@$(MAKE) --no-print-directory -j2 lint setup
	@$(MAKE) --no-print-directory -j5 mypy pyright peers-setup page-tests tests || \
	  { echo "make test failed: the lines with *** above name the step." >&2; exit 1; }

# What most changes need: the rest of `make test` takes long, and seldom finds what this does not.
quick: python
	@$(MAKE) --no-print-directory -j2 lint mypy quick-tests quick-page || \
	  { echo "make quick failed: the lines with *** above name the step." >&2; exit 1; }

quick-tests: python
	@tests=$$($(PYTHON) scripts/changed.py) && $(PYTEST) -n 2 --dist worksteal -q -m "not slow" $$tests

quick-page: python
	@if $(PYTHON) scripts/changed.py --page; then $(MAKE) --no-print-directory page-tests; fi

# The page of the web client: its source is in web/frontend, what is built of it in the package.
PAGE_SOURCE := web/frontend
PAGE_BUILT := src/accord/web/page
NPM := npm --prefix $(PAGE_SOURCE)
# The set-up has said why there are none.
WITHOUT_NODE := if [ ! -x $(PAGE_SOURCE)/node_modules/.bin/vite ]; then exit 0; fi

page-setup:
	@sh scripts/setup.sh page

page: page-setup
	@$(WITHOUT_NODE); $(NPM) run build

page-tests: page-setup
	@$(WITHOUT_NODE); nice $(NPM) run check && nice $(NPM) test

# What is committed must be what the source gives.
page-check: page-setup
	@$(WITHOUT_NODE); built=$$(mktemp -d) && trap 'rm -rf "$$built"' EXIT && \
	  $(NPM) run build -- --outDir "$$built" --emptyOutDir && diff -r "$$built" $(PAGE_BUILT) || \
	  { echo "accord: $(PAGE_BUILT) is not what $(PAGE_SOURCE) gives: run make page, and commit it" >&2; \
	    exit 1; }

# What has a process of its own goes first, together.
tests: coverage browser
	@$(MAKE) --no-print-directory others
	@$(MAKE) --no-print-directory peers

setup:
	@sh scripts/setup.sh dev node

python:
	@sh scripts/setup.sh dev

check: lint mypy pyright

lint: python
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m ruff check .
	.venv/bin/lint-imports --no-logo
	$(PYTHON) scripts/check_lengths.py
	$(PYTHON) scripts/check_words.py
	@$(PYTHON) scripts/rules.py --require > .rules.log || { cat .rules.log; exit 1; }

mypy: python
	nice $(PYTHON) -m mypy

pyright: setup
	@if [ -x $(PYRIGHT) ]; then echo $(PYRIGHT); nice -n 19 $(PYRIGHT); fi

# One folder at a time: a branch of schema/ that only a test of agent/ reaches counts as missed.
coverage: setup
	@set -e; for folder in $(PURE); do \
	  echo "branches of $$folder/ reached by tests/$$folder/"; \
	  COVERAGE_FILE=.coverage.$$folder $(PYTHON) -m coverage run --source=accord.$$folder \
	    -m pytest --hypothesis-profile=ci -q tests/$$folder; \
	  COVERAGE_FILE=.coverage.$$folder $(PYTHON) -m coverage report; \
	done

# Of the program in a real terminal: what takes longest, for `interop`.
LONG := $(addprefix tests/terminal/real/test_,permissions.py recovery.py sizes.py interrupt.py prompt.py)

# All tests but those that `coverage`, `peers` and `interop` run.
unit: browser others

others: setup
	$(PYTEST) $(WORKERS) $(PURE:%=--ignore=tests/%) $(LONG:%=--ignore=%) \
	  --ignore=tests/interop --ignore=tests/browser

# The browser's driver keeps an event loop running, which other tests would stumble over.
browser: setup
	$(PYTEST) tests/browser

peers-setup: setup
	@sh scripts/setup.sh acp-0.12 acp-1.0rc

# The peers against each other, without us: they show that the peers are right.
THEIRS := tests/interop/test_official_pairs.py

peers: peers-setup
	$(PYTEST) $(WORKERS) tests/interop --ignore=tests/interop/agents $(THEIRS:%=--ignore=%)

interop: peers
	$(PYTHON) scripts/install_agents.py
	$(PYTEST) -n 2 tests/interop/agents $(THEIRS) $(LONG)

# As many worlds and cuts as told: `make soak WORLDS=100000 CUTS=1000 SEED=7`.
WORLDS ?= 20000
SEED ?= 1
# So many random cuts of a WebSocket and of HTTP each.
CUTS ?= 100000
# So often a gateway or one of its agents is killed in mid-turn.
KILLS ?= 200
soak: setup
	$(PYTHON) -m tests.simulation --worlds $(WORLDS) --seed $(SEED)
	$(PYTHON) -m tests.simulation --worlds $(WORLDS) --seed $(SEED) --remote
	$(PYTHON) -m tests.simulation --worlds $(WORLDS) --seed $(SEED) --gateway
	$(PYTHON) -m tests.simulation --planted
	$(PYTHON) -m tests.transport.random_cuts --cuts $(CUTS) --seed $(SEED)
	$(PYTHON) -m tests.gateway.durability.cuts --cuts $(CUTS) --seed $(SEED)
	$(PYTHON) -m tests.gateway.durability.kills --kills $(KILLS) --seed $(SEED)
	ACCORD_SOAK=1 $(PYTEST) -n 2 tests/defects tests/client/shell

accuracy: setup
	$(PYTHON) -m tests.kit_accuracy --jobs 2

verdicts: peers-setup
	$(PYTHON) scripts/install_agents.py
	$(PYTHON) -m tests.interop.kit_table

# Seconds for each target: `make fuzz SECONDS=600`.
SECONDS ?= 30
fuzz: setup
	@sh scripts/setup.sh fuzz
	.venvs/fuzz/bin/python -m tests.fuzz --seconds $(SECONDS)

rules: setup
	@$(PYTHON) scripts/rules.py

bench: peers-setup
	$(PYTHON) benchmarks/run.py
	$(PYTHON) -m benchmarks.proxy
	$(PYTHON) -m benchmarks.translate
	$(PYTHON) -m benchmarks.remote
	$(PYTHON) -m benchmarks.gateway
	$(PYTHON) -m benchmarks.terminal

picture: setup
	$(PYTHON) scripts/picture.py

snapshots: setup
	ACCORD_DRAW=1 $(PYTEST) tests/terminal/screen/test_snapshots.py -q

format: setup
	$(PYTHON) -m ruff format .
	$(PYTHON) -m ruff check --fix .

COMPILE := uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate
lock:
	$(COMPILE) --extra all pyproject.toml -o requirements.lock
	$(COMPILE) --extra tui -c requirements.lock pyproject.toml -o requirements/run.lock
	$(COMPILE) --extra tui --extra agent -c requirements.lock pyproject.toml -o requirements/mcp.lock
	$(COMPILE) --extra tui --extra agent --extra gateway -c requirements.lock pyproject.toml -o requirements/remote.lock
	$(COMPILE) --extra all --group dev -c requirements.lock pyproject.toml -o requirements/dev.lock
	$(COMPILE) requirements/acp-0.12.in -o requirements/acp-0.12.lock
	$(COMPILE) requirements/acp-1.0rc.in -o requirements/acp-1.0rc.lock
	$(COMPILE) -c requirements.lock requirements/fuzz.in -o requirements/fuzz.lock
	npm install --package-lock-only --ignore-scripts
