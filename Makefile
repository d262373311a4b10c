# Needs Go, make and a POSIX shell; only `make race` needs a C compiler.
.POSIX:

PREFIX = /usr/local
FUZZTIME = 60s
TESTFLAGS =
# All but `make test` as releases have it: programs, tests and linters compile a package once.
# Data for debuggers, a tenth of the compilers' work, is left out: `go build ./cmd/hookd` makes it.
# With GOGC=200 they take a ninth less of the processor's time, and 0.9 GB for the largest package;
# with 400 another twentieth, and 1.2 GB.
GC = 200
GO = GOGC=$(GC) CGO_ENABLED=0 GOFLAGS="$$GOFLAGS -trimpath '-gcflags=all=-dwarf=false $(INLINE)' $(ALWAYS)" go
# Empty, or -l: compilers inline no calls, which saves a sixth of their work.
INLINE =
# SQLite and Go's runtime are inlined always: with -l the tests of the store take a third longer.
ALWAYS = `printf ' -gcflags=%s/...=-dwarf=false' modernc.org runtime internal/runtime sync`
# Where programs are built.
BIN = bin
# Many tests wait for a deadline, a process or a disk: three times as many packages as there
# are processors are tested at the same time.
AT_ONCE = -p $$((3 * `getconf _NPROCESSORS_ONLN`)) -parallel $$((2 * `getconf _NPROCESSORS_ONLN`))
# Nor do a hundred test programs get tables of symbols.
PLAIN = -vet=off -ldflags='-s -w'
TEST = HOOKTEST_PROGRAMS="$(CURDIR)/$(BIN)" $(GO) test $(PLAIN) $(AT_ONCE) $(TESTFLAGS)
# SQLite, C that was translated to Go, has no part in races of hookd: with the detector
# the tests of the store would take seven times as long.
RACE = GOGC=200 CGO_ENABLED=1 go test -race -vet=off -gcflags='modernc.org/...=-race=false' -timeout 20m $(AT_ONCE)
# What starts goroutines or has locks: memory is shared there.
SHARES = ^[[:space:]]*go |\.Go\(|sync\.(RW)?Mutex
# What makes files and processes of other users, or judges as root does.
NEEDS_ROOT = NeedRoot\(|Gete?uid\(\) != 0
# A version manager's python3 is a script, and starts five times as slowly: tests find python3 itself.
PYTHON = case `command -v python3` in */shims/*) python=`python3 -c 'import os, sys; print(os.path.dirname(sys.executable))'` && PATH="$$python:$$PATH";; esac
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' Makefile

build: ## build hookd, hookd-bridge, hookd-fleet and hookd-fleet-server into bin/
	@mkdir -p $(BIN)
	@entry=`sh packaging/entry.sh` && \
	flags="-X main.version=$${VERSION:-`git describe --tags --always --dirty 2>/dev/null`} -X main.commit=`git rev-parse HEAD 2>/dev/null`" && \
	$(GO) build -buildvcs=false -ldflags "$$flags" -ldflags "./cmd/hookd-bridge=$$flags $$entry" -o $(BIN)/ ./cmd/...

demo-fleet: build ## show three machines that share hooks, one of them killed
	@sh demo/fleet.sh $(BIN)

demo: build ## show what hookd does, on a home that is removed afterwards
	@sh demo/demo.sh $(BIN)/hookd

test: ## test all behaviour; `make check` vets
	@$(MAKE) -s test-built INLINE=-l GC=400 BIN=bin/test

test-all: ## test, with all cases and as released, and load the machine: many kills, fleets, memory
	@HOOKTEST_ALL=1 $(MAKE) -s test-built

test-built: build
	@$(PYTHON); $(TEST) ./...

test-root: build ## test, as root, the packages with tests that need root; of the commands only those tests
	$(TEST) `grep -rlE --include='*_test.go' '$(NEEDS_ROOT)' internal packaging | sed 's,^,./,; s,/[^/]*$$,,' | sort -u`
	$(TEST) -run "^(`sed -n 's/^func \(Test[A-Za-z0-9_]*\)(.*/\1/p' $$(grep -lE '$(NEEDS_ROOT)' cmd/hookd/*_test.go) | paste -sd'|' -`)\$$" ./cmd/hookd

man: build ## write the man pages into bin/man
	@rm -rf $(BIN)/man
	@SOURCE_DATE_EPOCH=$${SOURCE_DATE_EPOCH:-`git log -1 --format=%ct 2>/dev/null || date +%s`} $(GO) run -tags man ./cmd/hookd $(BIN)/man

notices: ## write THIRD_PARTY, the licences of the modules that the programs are linked with
	@$(GO) run ./packaging/notices

race: ## test what shares memory with the race detector, without its longest tests (needs a C compiler)
	$(RACE) -short $(TESTFLAGS) `grep -rlE --include='*.go' --exclude='*_test.go' --exclude-dir='*test' '$(SHARES)' client internal | sed 's,^,./,; s,/[^/]*$$,,' | sort -u`

race-all: ## test everything with the race detector (needs a C compiler)
	$(RACE) $(TESTFLAGS) ./...

test-ui: ## test the page whole, also under load, and make its pictures (needs Chromium)
	HOOKTEST_ALL=1 HOOKD_UI_LOAD=1 HOOKD_PICTURES="$${HOOKD_PICTURES:-$(CURDIR)/docs/page}" $(GO) test -count=1 -v -timeout 20m ./internal/people/ui

ui-update: ## get the files of other authors that the page has, in the newest versions (needs npm)
	@sh internal/people/ui/update.sh

test-agents: ## test with the real agents in PATH or in $HOOKD_AGENTS
	$(GO) test -tags agents -count=1 -v -run '^TestRealAgents' ./internal/agents/bridge

fuzz: ## run each fuzz target for FUZZTIME (60s)
	@for file in `grep -rl --include='*_test.go' '^func Fuzz' .`; do \
		for target in `sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' $$file`; do \
			echo "$$target in `dirname $$file`"; \
			$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 2s `dirname $$file` || exit 1; \
		done; \
	done

bench: ## measure the whole daemon against peers, write docs/design/benchmarks.md
	@cd bench && $(GO) run ./table -o ../docs/design/benchmarks.md

gobench: ## run the Go benchmarks, for benchstat
	@$(GO) test ./internal/... -run '^$$' -bench . -benchmem -count $${COUNT:-1}
	@cd bench && $(GO) test ./... -run '^$$' -bench . -benchmem -count $${COUNT:-1}

check: ## format, vet and staticcheck, for Linux and macOS; shellcheck, tsc and oxlint where they are there
	@unformatted=`gofmt -l .`; if [ -n "$$unformatted" ]; then echo "gofmt -w $$unformatted"; exit 1; fi
	$(GO) vet ./...
	cd bench && $(GO) vet ./...
	GOOS=darwin $(GO) build -o /dev/null ./cmd/...
	GOOS=darwin $(GO) vet ./...
	$(GO) tool staticcheck ./...
	@if command -v shellcheck >/dev/null; then \
		shellcheck demo/demo.sh demo/fleet.sh packaging/*.sh internal/people/ui/*.sh .ci/run docs/gallery/*/*.sh; \
	else echo "SKIP-TOOL shellcheck: not installed"; fi
	@sh internal/people/ui/check.sh

vuln: ## look for known vulnerabilities (needs govulncheck and its database, GOVULNDB)
	govulncheck -db "$${GOVULNDB:-https://vuln.go.dev}" ./...

install: man ## install programs, man pages and completions to PREFIX (/usr/local)
	@sh packaging/install-tree.sh $(BIN) "$(DESTDIR)$(PREFIX)"

uninstall: ## remove what install has put into PREFIX; hooks and settings stay
	@sh packaging/install-tree.sh --remove "$(DESTDIR)$(PREFIX)"

package: ## build archives, .deb, .rpm, SBOMs, the Homebrew formula and SHA256SUMS into dist/
	@sh packaging/package.sh

clean: ## remove what build and package made
	rm -rf bin dist

.PHONY: help build demo man test test-all test-built test-root race race-all test-ui ui-update test-agents fuzz bench gobench check vuln notices install uninstall package clean
