# Godwit. make help lists the targets.

GO      ?= go
FUZZTIME ?= 10s
SEED     ?= 7
REPEAT   ?= 5
SEEDS    ?= 10000
FIRST    ?= 1
SOAKTIME ?= 10m
HOSTILETIME ?= 5m
PORT     ?= 6379

# make install puts the files below PREFIX. DESTDIR goes in front of it, for packages.
PREFIX   ?= /usr/local
DESTDIR  ?=
SERVER   ?= bin/godwit-server
BINDIR    = $(DESTDIR)$(PREFIX)/bin
CONFDIR   = $(DESTDIR)$(PREFIX)/etc

# What passed passes again: the random tests take SEED here. make test-repeat, make
# soak and go test by itself take another one each time.
export GODWIT_SEED ?= $(SEED)

.PHONY: all help build install uninstall peers hostile hostile-short run test \
	test-invariants test-race test-repeat soak soak-short lint format check crash \
	replication failover demo-ha cluster cluster-chaos demo-cluster bench bench-quick \
	bench-persist bench-streams bench-replication bench-cluster cluster-scale figures pgo \
	fuzz fuzz-short oracle luadiff simulate clean

all: build

build: ## the static binary bin/godwit-server; the toolchain notes the commit in it
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w' -o bin/godwit-server ./cmd/server

help: ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/\1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 16

# What has been built is installed, so that sudo make install needs no toolchain.
$(SERVER):
	$(MAKE) build

install: $(SERVER) ## what make build has built, and its configuration, below PREFIX (/usr/local)
	install -d '$(BINDIR)' '$(CONFDIR)'
	install -m 755 '$(SERVER)' '$(BINDIR)/godwit-server'
	@to='$(CONFDIR)/godwit.conf'; if [ -e "$$to" ] && ! cmp -s conf/godwit.conf "$$to"; then \
		echo "$$to is another one and stays; the new one is $$to.new"; to=$$to.new; fi; \
	install -m 644 conf/godwit.conf "$$to" && echo "install -m 644 conf/godwit.conf $$to"

uninstall: ## remove the binary; the configuration stays
	rm -f '$(BINDIR)/godwit-server'

peers: ## the newest packaged Redis and Valkey, for the tests that compare with them
	scripts/peers.sh

run: build ## a server on PORT (6379) of 127.0.0.1 with conf/godwit.conf; data in this folder
	./bin/godwit-server conf/godwit.conf --port $(PORT)

# Tests of servers wait more than they compute: three packages at a time keep two cores busy.
test: ## all tests
	$(GO) test -p 3 -parallel 6 -timeout 20m ./...

# The packages that check invariants, or use one that does.
CHECKED = $(GO) list -f '{{.ImportPath}} {{.Deps}}' ./internal/... | \
	grep 'godwit/internal/invariant[] ]' | cut -d ' ' -f 1

test-invariants: ## the structures and what uses them with the invariants tag
	$(GO) test -p 3 -tags invariants $$($(CHECKED))

test-race: ## all tests under the race detector
	$(GO) test -race -timeout 30m ./internal/... ./integration/...

test-repeat: ## all tests REPEAT times over, the random ones with new seeds
	GODWIT_SEED= $(GO) test -count=$(REPEAT) -timeout 2h ./internal/... ./integration/...

soak: ## the server at its memory limit beside Redis 8 for SOAKTIME, with a new seed
	GODWIT_SEED= $(GO) test ./integration/soak -count=1 -v -timeout 0 -duration $(SOAKTIME)

soak-short: ## the same for a minute, with SEED
	$(GO) test ./integration/soak -count=1 -v -timeout 0 -duration 1m

lint: ## vet and staticcheck, on Linux and as macOS sees the tree
	$(GO) vet ./...
	$(GO) vet -tags invariants ./...
	GOOS=darwin $(GO) vet ./internal/... ./cmd/...
	$(GO) tool staticcheck ./...

format: ## fails when a file is not gofmt-clean
	@files=$$(gofmt -l $$(git ls-files '*.go')); \
	if [ -n "$$files" ]; then echo "not gofmt-clean:"; echo "$$files"; exit 1; fi

oracle: build ## a million commands compared with Redis 8, fewer with the others (SEED=n)
	$(GO) build -o bin/oracle ./integration/oracle
	bin/oracle -redis redis8 -n 1000000 -seed $(SEED) -godwit bin/godwit-server
	bin/oracle -redis valkey9 -n 300000 -seed $(SEED) -godwit bin/godwit-server
	bin/oracle -redis redis7 -n 300000 -seed $(SEED) -godwit bin/godwit-server
	$(GO) test ./integration/oracle/followers -count=1 -v -number 100000

luadiff: build ## a million Lua programs compared with lua5.1, fewer with Redis 8 (SEED=n)
	$(GO) build -o bin/luadiff ./integration/luadiff
	bin/luadiff -judge lua51 -tested host -n 1000000 -seed $(SEED)
	bin/luadiff -judge redis8 -tested server -n 100000 -seed $(SEED)

# Raft's random numbers are one for a process, so a process runs one seed at a time.
simulate: ## SEEDS clusters on simulated machines with faults, from seed FIRST on, on two cores
	$(GO) test -c -o bin/simulate.test ./internal/cluster/sim
	@run='bin/simulate.test -test.v -test.timeout 0 -test.run TestSeeds'; \
	half=$$(($(SEEDS) / 2)); \
	$$run -seeds $$half -first $(FIRST) & one=$$!; \
	$$run -seeds $$(($(SEEDS) - half)) -first $$(($(FIRST) + half)); two=$$?; \
	wait $$one && exit $$two

crash: ## kill -9 and orderly ends under load, 200 of each: nothing promised is lost
	$(GO) test ./integration/crash -count=1 -v -timeout 60m -rounds 200 -endings 200

CUTS     ?= 200

replication: ## the link between every pair of servers cut CUTS times under load
	GODWIT_SEED= $(GO) test ./integration/replication -count=1 -v -timeout 3h -cuts $(CUTS)

demo-ha: ## three servers, three Sentinels, a writer, kill -9, and what happened when
	$(GO) run ./integration/demoha

failover: ## the same 50 times beside Redis 8 and Valkey 9, and with their Sentinels
	$(GO) run ./integration/demoha -servers godwit,redis8,valkey9 -runs 50 -quick
	$(GO) run ./integration/demoha -runs 50 -quick -ack 1
	$(GO) test ./integration/demoha -count=1 -v -long

KINDS    ?= godwit
RUNS     ?= 100

cluster: ## all tests of clusters: tools, clients, failovers, some chaos (KINDS=redis8,valkey9)
	$(GO) test ./integration/cluster -count=1 -v -timeout 30m -long -kinds $(KINDS)
	$(GO) test ./internal/command -count=1 -run CasesRedis8 -cluster

cluster-chaos: ## nodes killed, stopped, cut off RUNS times under load: nothing promised is lost
	GODWIT_SEED= $(GO) test ./integration/cluster -count=1 -v -timeout 6h -long -kinds $(KINDS) \
		-run TestChaos -runs $(RUNS)

cluster-scale: ## what idle clusters cost: up to 30 processes, and up to 200 simulated nodes
	$(GO) test ./integration/cluster -count=1 -v -timeout 30m -run TestScale -scale \
		-kinds godwit,redis8,valkey9
	$(GO) test ./internal/cluster/sim -count=1 -v -run TestScale -scale

demo-cluster: ## six servers, a writer, a reshard, a kill, a partition, and what happened when
	$(GO) run ./integration/democluster -servers $(KINDS)

hostile: ## every command with hostile arguments from many connections, for HOSTILETIME
	HOSTILETIME=$(HOSTILETIME) $(GO) test ./integration/hostile -count=1 -v -timeout 3h

hostile-short: ## the same for two minutes
	@$(MAKE) --no-print-directory hostile HOSTILETIME=2m

check: ## everything that CI runs: all tests, and some minutes of each long one
check: format lint test test-invariants test-race oracle soak-short hostile-short fuzz-short

bench: ## beside Redis 8, Valkey 9 and Redis 7, at most 40 minutes; updates the pages
	$(GO) run ./bench -o bench/RESULTS.md -readme README.md
	@$(MAKE) --no-print-directory bench-streams

figures: ## the figures of README.md and docs, from the reports in bench
	$(GO) run ./bench -figures

bench-quick: ## the same in under two minutes, without writing
	$(GO) run ./bench -quick

bench-streams: ## streams beside the same, at most 10 minutes
	$(GO) run ./bench -only streammemory,streams,bigstream -o bench/STREAMS.md -readme README.md

bench-replication: ## full syncs, replicas and their lag beside Redis 8 and Valkey 9
	$(GO) run ./bench -only fullsync,onereplica,lag -against redis8,valkey9 \
		-o bench/REPLICATION.md -readme README.md

MB       ?= 2048

bench-cluster: ## MB MiB of slots moved from node to node beside Redis 8's reshard and Valkey 9
	$(GO) run ./integration/benchcluster -mb $(MB)

bench-persist: ## snapshots, files and the log beside the same, at most 10 minutes
	$(GO) run ./bench -only snapshot,files,appendfsync -o bench/PERSIST.md -readme README.md

pgo: ## renew the profile that the compiler optimises the server by
	$(GO) test ./cmd/server -run '^$$' -bench Load -benchtime 5000000x \
		-cpuprofile cmd/server/default.pgo -o /dev/null

fuzz: ## every fuzz target for FUZZTIME each
	@GO="$(GO)" scripts/fuzz.sh $(FUZZTIME)

fuzz-short: ## the same for three seconds each
	@$(MAKE) --no-print-directory fuzz FUZZTIME=3s

clean: ## remove bin
	rm -rf bin
