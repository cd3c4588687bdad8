# What each target needs is installed into .venv and node_modules first; nothing else has to be set up.
# Needs Python 3.11 or newer (found by tools/find_python.sh, or given as PYTHON=...) and, for the editor extension, Node 20.

VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
MODULES := node_modules/.installed
PYTEST_ARGS ?= -n 2 --dist loadfile
NEEDS_NODE = command -v npm >/dev/null 2>&1 || { echo "make $@: needs Node 20 or newer with npm on PATH (Debian: apt-get install nodejs npm)" >&2; exit 1; }

.DEFAULT_GOAL := help
.PHONY: help demo test test-python test-client lint docs vsix bundle score facts-share bench fuzz-rules fuzz-stores fuzz-copies lock clean

help: ## Show the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' $(MAKEFILE_LIST) | awk -F '|' '{ printf "  make %-12s %s\n", $$1, $$2 }'

demo: $(INSTALLED) ## Show the main job on examples/: findings, the fix, JAX's verdict before and after
	@$(BIN)/python tools/demo.py

# Python's tests run also where Node is missing or the client's fail, so that one run shows everything that is broken.
test: $(INSTALLED) ## Run all tests, of the server and of the client
	@status=0; \
	$(MAKE) --no-print-directory test-client || status=1; \
	$(MAKE) --no-print-directory test-python || status=1; \
	[ $$status -eq 0 ] || echo "make test: something failed; see above" >&2; \
	exit $$status

test-python: $(INSTALLED) ## Run the server's tests (PYTEST_ARGS=... replaces "-n 2 --dist loadfile")
	$(BIN)/python -m pytest $(PYTEST_ARGS)

test-client: ## Check the client's types and run its tests
	@$(NEEDS_NODE)
	@$(MAKE) --silent $(MODULES)
	npm run --silent check
	npm run --silent test

lint: $(INSTALLED) ## Check style (ruff) and types (pyright)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/pyright --pythonpath $(BIN)/python

bundle: $(INSTALLED) ## Build bundled/: the server with its dependencies, as the extension runs it
	$(BIN)/python tools/bundle.py

docs: $(INSTALLED) ## Write docs/rules and the output shown in the README anew
	$(BIN)/python tools/rule_docs.py
	$(BIN)/python tools/readme.py

# SEED=... begins elsewhere. The second runs also where the first has found something.
fuzz-rules: $(INSTALLED) ## Compare N=... random kernels, and N changed real ones that lower, with the installed JAX
	@status=0; \
	$(BIN)/python -m tests.fuzz.whole --kernels $(or $(N),1000) --seed $(or $(SEED),0) || status=1; \
	$(BIN)/python -m tests.fuzz.mutants --kept $(or $(N),1000) --seed $(or $(SEED),0) || status=1; \
	exit $$status

fuzz-stores: $(INSTALLED) ## Compare N=... random files around async_store_smem with the installed JAX
	$(BIN)/python -m tests.fuzz --kernels $(or $(N),1000)

fuzz-copies: $(INSTALLED) ## Compare N=... random copies between GMEM and SMEM with the installed JAX
	$(BIN)/python -m tests.copies --copies $(or $(N),1000)

# package.json tells vsce not to search for secrets: that takes nine minutes over public wheels and our own bundle.
vsix: bundle ## Build pallas-ls-<version>.vsix for VS Code and check it
	@$(NEEDS_NODE)
	@$(MAKE) --silent $(MODULES)
	rm -f pallas-ls-*.vsix
	npm run --silent build
	npm run --silent package
	$(BIN)/python tools/check_vsix.py pallas-ls-*.vsix

score: $(INSTALLED) ## Score the facts against the recorded truth (../shared/truth, if it is there)
	@$(BIN)/python tools/score.py

facts-share: $(INSTALLED) ## Count how much facts answer about the kernels in KERNELS=FOLDER...
	@$(BIN)/python tools/facts_share.py $(or $(KERNELS),examples)

bench: $(INSTALLED) ## Measure the time and memory of analysis
	@$(BIN)/python tools/bench.py

lock: $(INSTALLED) ## Install the newest of everything into .venv and show what differs from constraints.txt
	@$(BIN)/python -m pip install --quiet --upgrade --upgrade-strategy eager --editable '.[jax,dev]'
	@rm -f $(INSTALLED)
	@$(BIN)/python -m pip freeze --exclude-editable | sort > $(VENV)/newest.txt
	@sed -n 's/ *[;#].*//; /==/p' constraints.txt | while read -r pin; do \
		grep -qix "$$pin" $(VENV)/newest.txt || \
		echo "$$pin  newest: $$(grep -i "^$${pin%%==*}==" $(VENV)/newest.txt || echo not installed here)"; done

clean: ## Remove everything that was built or installed here
	rm -rf $(VENV) node_modules bundled dist out build pallas-ls-*.vsix .pytest_cache .ruff_cache .hypothesis
	find server tests tools client -name __pycache__ -type d -prune -exec rm -rf {} +

# --clear: an installation that was broken off must not be built upon.
$(INSTALLED): pyproject.toml constraints.txt tools/find_python.sh
	@python=$$(sh tools/find_python.sh) && echo "Installing into $(VENV) with $$python" && "$$python" -m venv --clear $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[jax,dev]'
	@touch $@

# No package here needs its install script, so none runs.
$(MODULES): package.json package-lock.json
	npm ci --ignore-scripts
	@touch $@
