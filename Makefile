# The whole developer interface: `make` alone lists it.

PYTHON ?= python3#  the Python that .venv is made with
ARGS ?=#            passed on to pytest or to a benchmark
TEXT ?= I saw Sarah with a telescope.#  what make parse parses
TREEBANKS ?= treebanks#  a folder of UD treebanks, one folder each

VENV := .venv
BIN := $(VENV)/bin
# Stamps: treecrf alone, which parsing needs; and with what the tests and the other targets need.
PARSES := $(VENV)/.parses
INSTALLED := $(VENV)/.installed
PIP := $(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt
DEMO := build/demo
# Without the notice that Material's support ends, which CONTRIBUTING.md has, each time.
MKDOCS := NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
# Every target that no file is made by.
.PHONY: $(shell awk -F: '/^[a-z-]+:.*## / { print $$1 }' $(firstword $(MAKEFILE_LIST)))

help: ## list these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-22s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
	@echo
	@echo "  PYTHON=python3.12   the Python that .venv is made with (3.11 or later)"
	@echo "  ARGS='-k marginals' options for pytest (make test) or for a benchmark (make bench-ops)"
	@echo "  TREEBANKS=FOLDER    UD treebanks for check-roundtrip, bench-io, bench-host, bench-parser,"
	@echo "                      bench-pseudoprojective, bench-rare-marks, bench-gpu, profile-parser"

# The English model is in a release; a copy without it draws what a tiny parser makes of the examples.
ifneq ($(wildcard src/treecrf/models/en/model*.safetensors),)
parse: export TEXT := $(TEXT)# so that the shell leaves quotes in it alone
parse: $(PARSES) ## parse a sentence and draw its tree (TEXT=...)
	@$(BIN)/treecrf parse --text "$$TEXT" --format tree
else
parse: $(DEMO)/model/model.safetensors
	@$(BIN)/treecrf parse examples/sentences.txt --model $(DEMO)/model --probs -o $(DEMO)/parsed.conllu
	@$(BIN)/treecrf data show $(DEMO)/parsed.conllu -n 3
endif

$(DEMO)/model/model.safetensors: | $(PARSES)
	@echo "training a tiny parser on made-up sentences, once ..."
	@mkdir -p $(DEMO)
	@$(BIN)/treecrf data generate $(DEMO)/train.conllu --sentences 1000
	@$(BIN)/treecrf data generate $(DEMO)/dev.conllu --sentences 200 --seed 2
	@$(BIN)/treecrf train --train $(DEMO)/train.conllu --dev $(DEMO)/dev.conllu --out $(DEMO)/model \
	    --config tiny --resume

install: $(INSTALLED) ## make .venv with all extras and tools, in the tested versions

# --no-compile: Python compiles what it imports; all of torch would take a quarter of the time.
$(PARSES): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	    echo "treecrf needs Python 3.11 or later and '$(PYTHON)' is not; try: make install PYTHON=python3.12"; exit 2; }
	@test -x $(BIN)/pip || { echo "making $(VENV) with $(PYTHON) ..."; $(PYTHON) -m venv $(VENV); }
	@echo "installing treecrf into $(VENV) ..."
	@$(PIP) --no-compile -e .
	@echo "compiling for this machine ..."
	@test ! -e src/treecrf/models/en/config.toml || $(BIN)/treecrf parse --text "So that it is fast." > /dev/null
	@touch $@

$(INSTALLED): $(PARSES)
	@echo "installing what the tests need into $(VENV) ..."
	@$(PIP) -e '.[dev]'
	@touch $@

wheel: $(PARSES) ## build the wheel in dist/, with the English model in it
	@$(BIN)/python -m pip wheel -q --disable-pip-version-check -c constraints.txt --no-deps -w dist .
	@ls -lh dist/treecrf-*.whl

# No restarts: a new worker would run the test that ended the last one, and hang again.
PYTEST := $(BIN)/python -m pytest -q -n auto --maxprocesses 4 --max-worker-restart 0 --dist loadfile

test: $(INSTALLED) ## run the tests but those marked slow: some minutes
	@$(PYTEST) -m "not slow" $(ARGS)

test-all: $(INSTALLED) ## run all tests, as CI does
	@$(PYTEST) $(ARGS)

lint: $(INSTALLED) ## check style, formatting and types
	@echo "ruff check ..." && $(BIN)/ruff check --quiet .
	@echo "ruff format ..." && $(BIN)/ruff format --quiet --check . || \
	    { echo "some files are not formatted; run: make format"; exit 1; }
	@echo "mypy ..." && $(BIN)/mypy --no-error-summary

check: lint test ## lint and test: what must pass before a commit

check-all: lint test-all ## lint and all tests: what CI runs

format: $(INSTALLED) ## format the code and fix what ruff can fix
	@$(BIN)/ruff check --quiet --fix-only .
	@$(BIN)/ruff format .

bench-ops: $(INSTALLED) ## time log Z, marginals and best trees beside other libraries
	@$(BIN)/python -m benchmarks.ops $(ARGS)

profile-ops: $(INSTALLED) ## tell how much of a call is kernels
	@$(BIN)/python -m benchmarks.profile $(ARGS)

bench-shapes: $(INSTALLED) ## time other tiles and teams beside those of the fused CUDA kernels
	@$(BIN)/python -m benchmarks.shapes $(ARGS)

bench-lstm: $(INSTALLED) ## time the fused LSTM beside cuDNN, and its tiles (wants a GPU)
	@$(BIN)/python -m benchmarks.lstm $(ARGS)

bench-parser: $(INSTALLED) ## time training and parsing beside the encoder alone and SuPar
	@$(BIN)/python -m benchmarks.parser $(TREEBANKS) $(ARGS)

profile-parser: $(INSTALLED) ## tell where the time of a training step and of a parse goes
	@$(BIN)/python -m benchmarks.profile_parser $(TREEBANKS) $(ARGS)

bench-io: $(INSTALLED) ## time reading and writing beside the package conllu
	@$(BIN)/python -m benchmarks.io $(TREEBANKS) $(ARGS)

bench-host: $(INSTALLED) ## time CoNLL-U to CoNLL-U without the network, on one thread
	@OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.host $(TREEBANKS) $(ARGS)

bench-pseudoprojective: $(INSTALLED) ## count the lifted arcs that come back, in every treebank
	@$(BIN)/python -m benchmarks.pseudoprojective $(TREEBANKS) $(ARGS)

bench-rare-marks: $(INSTALLED) ## count the lifted arcs that come back by min_marked, without training
	@$(BIN)/python -m benchmarks.rare_marks $(TREEBANKS) $(ARGS)

bench-segment: $(INSTALLED) ## time raw text to sentences: ARGS='FILE.conllu --model FOLDER'
	@$(BIN)/python -m benchmarks.segment $(ARGS)

bench-text: $(INSTALLED) ## time raw text to CoNLL-U with the English model: ARGS='FILE.conllu'
	@$(BIN)/python -m benchmarks.text $(ARGS)

bench-layers: $(INSTALLED) ## time raw text with the first layers of the English model: ARGS='FILE.conllu'
	@$(BIN)/python -m benchmarks.layers $(ARGS)

bench-columns: $(INSTALLED) ## time a model with all columns beside UPOS alone: ARGS='FILE.conllu --model FOLDER'
	@$(BIN)/python -m benchmarks.columns $(ARGS)

bench-serve: $(INSTALLED) ## load the service beside the parser alone, then ten times over
	@$(BIN)/python -m benchmarks.serve $(ARGS)

bench-busy: $(INSTALLED) ## CPU time of small work with and without busy neighbours
	@$(BIN)/python -m benchmarks.busy $(ARGS)

bench-latency: $(INSTALLED) ## time one sentence of 18 words from raw text to its tree
	@$(BIN)/python -m benchmarks.latency $(ARGS)

bench-onnx: $(INSTALLED) ## time parsing with onnxruntime beside torch, where the trees are the same
	@$(BIN)/python -m benchmarks.onnx $(ARGS)

bench-kept: $(INSTALLED) ## time what we keep by hand beside the libraries: ARGS='--file FILE.conllu'
	@OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.kept $(ARGS)

bench-ray: $(INSTALLED) ## parse a corpus with one worker of Ray, two, and two of which one dies
	@$(BIN)/python -m benchmarks.cluster $(ARGS)

bench-gpu: $(INSTALLED) ## all that is measured on a GPU, and the kernels' tests; figures in build/gpu
	@$(BIN)/python -m benchmarks.gpu $(TREEBANKS) $(ARGS)

check-api: $(INSTALLED) ## ask the service whatever its description allows, and more
	@API_EXAMPLES=2000 $(BIN)/python -m pytest -q tests/serve/test_schema.py $(ARGS)

check-roundtrip: $(INSTALLED) ## write every treebank back and compare the bytes
	@$(BIN)/python -m benchmarks.roundtrip $(TREEBANKS)

check-stream: $(INSTALLED) ## parse a million sentences and watch the memory
	@$(BIN)/python -m benchmarks.stream $(ARGS)

check-long-text: $(INSTALLED) ## parse 10 MB of text on one line, and watch the memory
	@TEXT_MEGABYTES=10 $(BIN)/python -m pytest -q tests/cli/test_odd_texts.py -k one_line $(ARGS)

check-kills: $(INSTALLED) ## kill twenty trainings at random moments, and go on with them
	@KILLED_RUNS=20 $(BIN)/python -m pytest -q tests/cli/test_resume.py -k killed $(ARGS)

# Not --quiet, with which --strict does not see the warnings.
docs: $(INSTALLED) ## build the documentation as a site in build/site; a warning is an error
	@$(MKDOCS) build --strict

docs-serve: $(INSTALLED) ## show the site at http://127.0.0.1:8000, built again when a page changes
	@$(MKDOCS) serve --strict

commands: $(INSTALLED) ## write docs/commands.md, the reference of the command line, from its help
	@$(BIN)/python -m website.commands

tour: $(INSTALLED) ## run examples/tour.ipynb and store its outputs
	@$(BIN)/python -m website.tour

screenshots: $(INSTALLED) $(DEMO)/model/model.safetensors ## make the pictures of the pages in docs/ again (wants Chromium)
	@$(BIN)/python -m tests.serve.screenshots $(DEMO)/model $(DEMO)/dev.conllu docs/images

fuzz: $(INSTALLED) ## read 100,000 mutated files
	@FUZZ_EXAMPLES=100000 $(BIN)/python -m pytest -q tests/treebank/test_fuzz.py $(ARGS)

clean: ## delete caches (Numba's kernels too) and build outputs; .venv stays
	@find src tests benchmarks experiments website -name __pycache__ -type d -prune -exec rm -rf {} +
	@rm -rf build dist src/*.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
