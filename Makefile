# make setup | demo | test | check | bench | lock. The first call prepares .venv from nothing.
.PHONY: setup demo test check format bench lock clean
VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= python3
STAMP := $(VENV)/.ready
MODEL := .cache/minilm

setup: $(STAMP)

$(STAMP): pyproject.toml requirements/dev.txt requirements/bootstrap.txt $(wildcard packages/byheart-minilm/*)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements/bootstrap.txt
	$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r requirements/dev.txt
	$(BIN)/python packages/byheart-minilm/build.py --out $(MODEL)
	$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --reinstall-package byheart-minilm $(MODEL)/*.whl
	$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation -e .
	touch $@

demo: setup
	$(BIN)/byheart demo

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/lint-imports

test: check
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

format: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# DATA is a folder with locomo/, locomo_plus/, beam/, qmsum/, longmemeval/ in their releases' own form.
bench: setup
	$(BIN)/python -m benchmarks speed
	test -z "$(DATA)" || for set in locomo locomo_plus beam qmsum; do \
		$(BIN)/python -m benchmarks quality $$set --data $(DATA)/$$set || exit 1; done

# Locks hold hashes and no index's address; the model's wheel is built here, so it is not in them.
lock:
	test -x $(BIN)/uv || $(BIN)/python -m pip install --quiet uv
	echo uv | $(BIN)/uv pip compile --quiet --generate-hashes --no-emit-index-url --no-header -o requirements/bootstrap.txt -
	$(BIN)/uv pip compile --quiet --generate-hashes --no-emit-index-url --no-header --universal --python-version 3.11 \
		--all-extras --group dev --find-links $(MODEL) --no-emit-find-links --no-emit-package byheart-minilm \
		-o requirements/dev.txt pyproject.toml

clean:
	rm -rf $(VENV) .cache .coverage* dist build
