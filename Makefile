# Godwit: make run | test | check | bench | fuzz | build

GO      ?= go
FUZZTIME ?= 10s
SEED     ?= 7
REPEAT   ?= 5
SOAKTIME ?= 10m
HOSTILETIME ?= 5m

# What passed passes again: the random tests take SEED here. make test-repeat, make
# soak and go test by itself take another one each time.
export GODWIT_SEED ?= $(SEED)

.PHONY: all build peers hostile run test test-race test-repeat soak soak-short lint format check crash bench bench-quick bench-persist pgo fuzz fuzz-short oracle clean

all: build

build: ## static binary bin/godwit-server; the toolchain notes the commit in it
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w' -o bin/godwit-server ./cmd/server

peers: ## the newest packaged Redis and Valkey, for the tests that compare with them
	scripts/peers.sh

run: build ## a server on 127.0.0.1:6379 with sensible defaults
	./bin/godwit-server conf/godwit.conf

test: ## all tests, then the structures once more with the invariants tag
	$(GO) test ./...
	$(GO) test -tags invariants ./internal/...

test-race: ## all tests under the race detector
	$(GO) test -race ./internal/... ./integration/...

test-repeat: ## all tests REPEAT times over, the random ones with new seeds
	GODWIT_SEED= $(GO) test -count=$(REPEAT) -timeout 2h ./internal/... ./integration/...

soak: ## the server at its memory limit beside Redis 8 for SOAKTIME, with a new seed
	GODWIT_SEED= $(GO) test ./integration/soak -count=1 -v -timeout 0 -duration $(SOAKTIME)

soak-short: ## the same for a minute, with SEED
	$(GO) test ./integration/soak -count=1 -v -timeout 0 -duration 1m

lint: ## vet and staticcheck, on Linux and as another system sees the tree
	$(GO) vet ./...
	$(GO) vet -tags invariants ./...
	GOOS=darwin $(GO) vet ./internal/... ./cmd/...
	$(GO) tool staticcheck ./...

format: ## fails when a file is not gofmt-clean
	@files=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$files" ]; then echo "not gofmt-clean:"; echo "$$files"; exit 1; fi

oracle: build ## differential test against redis-server: one million commands (SEED=n for others)
	$(GO) run ./integration/oracle -n 1000000 -seed $(SEED) -godwit bin/godwit-server

crash: ## kill -9 and orderly ends under load, 200 of each: nothing that was promised is lost (make test does 20 and 12)
	$(GO) test ./integration/crash -count=1 -v -timeout 60m -rounds 200 -endings 200

hostile: ## every command with hostile arguments from many connections, for HOSTILETIME
	HOSTILETIME=$(HOSTILETIME) $(GO) test ./integration/hostile -count=1 -v -timeout 3h

check: format lint test test-race oracle soak-short hostile fuzz-short

bench: ## side by side with redis-server, about 15 minutes; updates README
	$(GO) run ./bench -o bench/RESULTS.md -readme README.md

bench-quick: ## the same in under a minute, without writing
	$(GO) run ./bench -quick

bench-persist: ## snapshots, files and the log, side by side with redis-server: about 15 minutes
	$(GO) run ./bench -only snapshot,files,appendfsync -o bench/PERSIST.md

pgo: ## the profile that the compiler optimises the server by
	$(GO) test ./cmd/server -run '^$$' -bench Load -benchtime 5000000x -cpuprofile cmd/server/default.pgo -o /dev/null

fuzz: ## every fuzz target for FUZZTIME each
	@GO="$(GO)" scripts/fuzz.sh $(FUZZTIME)

fuzz-short:
	@$(MAKE) --no-print-directory fuzz FUZZTIME=3s

clean:
	rm -rf bin
