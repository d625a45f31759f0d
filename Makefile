# `make demo` and `make test` do all their set-up in a fresh clone.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
TYPES := $(wildcard newscrawl/*/*.pxd)
BUILD := pyproject.toml setup.py $(TYPES) $(wildcard newscrawl/*/*.pyx $(TYPES:.pxd=.py))
# What is not in `dev`, being large or holding others back: EXTRAS=,spark,scrapyd
EXTRAS ?=
# A process per core; the tests of a file share servers and crawls.
PARALLEL := --numprocesses logical --dist loadfile
# The labelled pages.
CORPORA ?= ../shared/corpora

.PHONY: demo test test-slow test-all coverage test-corpora test-lowest test-pythons lint docs diagram constraints bench results faults fuzz fuzz-sanitized peers families bench-crawl bench-archive newsworld clean

demo: $(VENV)/installed
	$(BIN)/python -m samples --crawl articles.jsonl

# Up to five minutes on two cores.
test: $(VENV)/installed
	$(BIN)/python -m pytest $(PARALLEL) -m "not slow and not pythons" $(ARGS)

# The rest: crawls, builds, worker processes, and with EXTRAS Spark: ten to fifteen minutes.
test-slow: $(VENV)/installed
	$(BIN)/python -m pytest $(PARALLEL) --no-loadscope-reorder -m "slow and not pythons and not corpus" $(ARGS)

test-all: $(VENV)/installed
	$(BIN)/python -m pytest $(PARALLEL) -m "not pythons and not (slow and corpus)" $(ARGS)

# Branch coverage of all tests, worker processes and crawls included: half an hour, so not in .ci/run.
coverage:
	$(MAKE) test-all ARGS="--cov --cov-report=term --cov-fail-under=85 $(ARGS)"

# Long tests on the labelled pages, with fits of the models to them: ten minutes.
test-corpora: $(VENV)/installed
	$(BIN)/python -m pytest $(PARALLEL) -m "slow and corpus" $(ARGS)

# In a new environment of each other Python of the machine.
test-pythons: $(VENV)/installed
	$(BIN)/python -m pytest -m pythons $(ARGS)

# `make test` with the oldest dependencies that pyproject.toml allows.
test-lowest:
	$(PYTHON) -m venv .venv-lowest
	.venv-lowest/bin/python -m pip install --quiet --constraint tests/lowest.txt --editable '.[dev]'
	.venv-lowest/bin/python -m pytest $(PARALLEL) -m "not slow and not pythons" $(ARGS)

lint: $(VENV)/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict -p newscrawl -p samples -p benchmarks

docs: $(VENV)/installed
	$(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html

# The diagram of the layers, from the imports.
diagram: $(VENV)/installed
	$(BIN)/python -m tools.draw_layers

# The versions that the container installs, the newest ones: deploy/constraints.txt.
constraints: $(VENV)/installed
	$(BIN)/python -m tools.constraints

# CPU time and calls of extract() by stage and corpus, next to other tools and another commit:
# `make bench ARGS='--against COMMIT'`; five minutes on an idle machine.
bench: .venv-peers/installed
	.venv-peers/bin/python -m benchmarks.stages --corpora $(CORPORA) $(ARGS)

# The pages of docs/results with commit and day, those for the night by name: `make results ARGS='peers faults'`.
results: .venv-peers/installed
	.venv-peers/bin/python -m benchmarks.results --corpora $(CORPORA) $(ARGS)

# Every way for a site to go wrong, each in a crawl of its own: fifteen minutes.
faults: $(VENV)/installed
	$(BIN)/python -m benchmarks.faults $(ARGS)

# Mutated and generated inputs for everything that reads downloaded bytes: `make fuzz ARGS='--seed 2'`.
fuzz: $(VENV)/installed
	$(BIN)/python -m benchmarks.fuzz $(ARGS)

# The fuzzer on a copy whose compiled modules check addresses and undefined behaviour (gcc).
SANITIZED := build/sanitized
SANITIZE := -fsanitize=address,undefined
fuzz-sanitized: $(VENV)/installed
	rm -rf $(SANITIZED)
	git checkout-index --all --prefix=$(SANITIZED)/
	cd $(SANITIZED) && CFLAGS="$(SANITIZE) -O1 -g" LDFLAGS="$(SANITIZE)" $(abspath $(BIN))/python setup.py --quiet build_ext --inplace
	cd $(SANITIZED) && LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libubsan.so)" PYTHONMALLOC=malloc \
		ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1 $(abspath $(BIN))/python -m benchmarks.fuzz $(ARGS)

# Other tools on the same pages: `make peers ARGS='--out docs/results/peers.md'`.
# One thread a fit: on a busy machine those of scikit-learn wait actively for each other.
peers: .venv-peers/installed
	OMP_NUM_THREADS=1 .venv-peers/bin/python -m benchmarks.peers --corpora $(CORPORA) $(ARGS)

# The families of corpora next to trafilatura: `make families ARGS='--baseline before.json'`.
families: .venv-peers/installed
	OMP_NUM_THREADS=1 .venv-peers/bin/python -m scrapy evaluate --task families $(CORPORA) $(ARGS)

# The same pages crawled by newscrawl, Scrapy with trafilatura, news-please and Fundus, in turn. A stopped run
# continues: `make bench-crawl ARGS='--rounds 3 --out docs/results/crawl-benchmark.md'`; .bench has the runs.
bench-crawl: .venv-peers/installed .venv-crawlers/installed
	OMP_NUM_THREADS=1 .venv-peers/bin/python -m benchmarks.speed.crawl --corpora $(CORPORA) $(ARGS)

# One WARC archive extracted by newscrawl, fastwarc + resiliparse and warcio + trafilatura.
bench-archive: .venv-peers/installed
	OMP_NUM_THREADS=1 .venv-peers/bin/python -m benchmarks.speed.archive --corpora $(CORPORA) $(ARGS)

# Hourly crawls of simulated sites over two days, for the night: recall, delay, requests, alarms. Five minutes.
newsworld: $(VENV)/installed
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.newsworld $(ARGS)

# Crawlers that need older versions of our dependencies.
.venv-crawlers/installed:
	$(PYTHON) -m venv .venv-crawlers
	.venv-crawlers/bin/python -m pip install --quiet --upgrade pip
	.venv-crawlers/bin/python -m pip install --quiet 'curl_cffi<0.16' fundus news-please
	touch $@

# On top of the first environment: has only what is not in it, or in another version.
.venv-peers/installed: $(VENV)/installed
	$(PYTHON) -m venv --without-pip .venv-peers
	$(BIN)/python -c 'import site; print(f"import site; site.addsitedir({site.getsitepackages()[0]!r})")' \
		> $$(echo .venv-peers/lib/python*/site-packages)/first.pth
	.venv-peers/bin/python -m pip install --quiet 'newscrawl[peers]'
	touch $@

$(VENV)/installed: $(BUILD)
	@echo "Installing newscrawl and the packages for its tests into $(VENV): some minutes ..."
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[dev$(EXTRAS)]'
	touch $@

clean:
	rm -rf $(VENV) .venv-lowest .venv-peers .venv-crawlers .bench build dist *.egg-info docs/_build .scrapy articles.jsonl articles.log
