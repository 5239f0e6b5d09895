# `make test` is all that CI runs; `make help` lists the rest.
CARGO ?= cargo
SHARED ?= ../shared

.PHONY: help check servers browser test bench fuzz docs deny ci

help: ## list the targets
	@grep -E '^[a-z]+:.*##' Makefile | sed 's/:.*##/\t/'

check: ## formatting, lints and documentation, without tests
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --quiet

servers: ## installs the database servers that tests start, where they are missing and this is Debian
	@scripts/servers || echo "tests of the databases that are missing are left out"

test: check deny servers ## everything: check, all tests on real databases too, the contract
	@if scripts/servers 2>/dev/null; then export ISONOMY_SERVERS=1; fi; $(CARGO) test --workspace
	$(CARGO) build --release --quiet
	@if [ -x $(SHARED)/checks/contract ]; then $(SHARED)/checks/contract target/release/isonomy; \
	else echo "the outside contract check is not here; going on without it"; fi
	@$(MAKE) --no-print-directory browser

browser: ## pages in a real browser, where there is one or Debian has one; screenshots are in target/browser
	$(CARGO) build --release --quiet
	@if chromium=$$(scripts/browser); then \
	for tests in pages replicas serve large; do \
	CHROMIUM=$$chromium NODE_PATH=target/browser/node_modules node tests/browser/$$tests.cjs target/release/isonomy target/browser || exit 1; done; \
	else echo "there is no browser; pages are not tried in one"; fi

deny: ## licences, advisories and duplicates, where cargo-deny is installed
	@if command -v cargo-deny >/dev/null 2>&1; then cargo deny check licenses bans sources; \
	else echo "cargo-deny is not installed; going on without it"; fi

bench: ## comparisons beside any peer tools on PATH; see bench/README.md
	$(CARGO) build --release --quiet -p isonomy-cli -p isonomy-bench
	target/release/isonomy-bench

fuzz: ## many rounds of byte mutations through every reader
	ISONOMY_MUTATIONS=200000 $(CARGO) test --release -p isonomy-history --test mutations

docs: ## the API documentation, and docs/anomalies.md, its drawings and the gallery from the table
	ISONOMY_UPDATE=1 $(CARGO) test -p isonomy-draw --test documents
	$(CARGO) doc --workspace --no-deps

ci: test ## what CI runs
