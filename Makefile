# Everything is built and tested from here. `make` lists the targets.

BIN        := bin
GO         ?= go
MODULES    := . deploy/stores mcpservers/sql mcpservers/drive deploy/standalone deploy/conformance/ollama-client deploy/conformance/witness deploy/standalone/embedded/autoscaling
VERSION    := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
# SQLite in C, where cgo is on, needs the module fts5 for the lists of the embedded server.
TAGS       := sqlite_fts5
LDFLAGS    := -s -w -X main.version=$(VERSION)
ROOT_MAINS := ./gateway/cmd/web ./mcpservers/cmd/mcp-resources ./mcpservers/cmd/mcp-filesystem ./mcpservers/cmd/mcp-commands ./mcpservers/cmd/mcp-web ./mcpservers/cmd/mcp-openapi ./mcpservers/cmd/mcp-prompt
# What install puts where.
PREFIX     ?= /usr/local
SYSCONFDIR ?= /etc
UNITDIR    ?= /usr/lib/systemd/system
DESTDIR    ?=
BINARIES   := agent worker gateway web mcp-resources mcp-filesystem mcp-commands mcp-sql mcp-web mcp-openapi mcp-prompt mcp-drive

# Images, and the compose file of compose-up and compose-down.
DOCKER     ?= docker
REGISTRY   ?= agent-stop-and-go
IMAGES     := $(BINARIES)
COMPOSE    ?= deploy/compose.yaml

# Where build-all and release put theirs.
DIST       := dist
PLATFORMS  := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64
TESTFLAGS  ?=
# Gigabytes of messages: too slow with the race detector.
LONG       := TestOneTurnOf500Calls|TestAConversationOf1000Turns|TestATreeOf1000Nodes|TestALoopOf200|TestAFloodOfAccepted|TestNothingThatIsRefusedIsStored|TestSignalsThatDecideNothing|TestAnApprovalInANewRun|TestWebhooksThatChange

# What anybody may send to a conversation, in masses.
FLOODS     := TestNothingThat|TestAFloodOf|TestSignalsThatDecideNothing|TestWebhooksThatChange

.DEFAULT_GOAL := help
.PHONY: vectors linear ramp ship vuln release fmt vet lint install uninstall docker-build docker-push compose-up compose-down packaging help run test check conformance cluster cluster-chaos browser first-card screenshots build build-all bench chaos chaos-trees flood histories golden clean

help: ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: build ## build and start everything on this machine; needs no key and no set-up
	@$(BIN)/agent --config config/agent.yaml --demo-if-no-key

test: ## run every test, with the race detector; needs Go, a C compiler and curl
	@echo "The first run compiles a Temporal server, twice: with the race detector and without. Allow 25 minutes on two cores;"
	@echo "later runs take about 15. Each package prints a line when it is done."
	@echo "1/4 everything but the standalone agent, with the race detector"
	$(GO) test -race -timeout 30m $(TESTFLAGS) ./...
	cd deploy/stores && $(GO) test -race -timeout 30m $(TESTFLAGS) ./...
	cd mcpservers/sql && $(GO) test -race -timeout 30m $(TESTFLAGS) ./...
	cd mcpservers/drive && $(GO) test -race -timeout 30m $(TESTFLAGS) ./...
	@echo "2/4 the tool servers and the embedded server on the SQLite driver of binaries that are built without cgo"
	$(GO) test -timeout 30m -tags sqlite_pure ./mcpservers/resources/... ./mcpservers/hosting/...
	cd deploy/standalone && $(GO) test -timeout 30m ./embedded/...
	@echo "3/4 the standalone agent: real processes, crashes and restarts, with the race detector (minutes)"
	cd deploy/standalone && $(GO) test -race -tags $(TAGS) -timeout 30m -parallel 4 -skip '$(LONG)|TestChaosOfTrees' $(TESTFLAGS) ./...
	@echo "4/4 long conversations and large trees (minutes)"
	cd deploy/standalone && $(GO) test -tags $(TAGS) -timeout 30m -run '$(LONG)' $(TESTFLAGS) ./e2e
	@echo "every test passed"

# Where govulncheck looks, as its own variable says.
VULNDB ?= $(or $(GOVULNDB),https://vuln.go.dev)
check: ## format, vet, staticcheck, workflow determinism, tidy modules, and vuln if its database can be reached
	@files=$$(gofmt -l $$(git ls-files '*.go')); test -z "$$files" || { echo "gofmt would change: $$files"; exit 1; }
	@mkdir -p $(BIN)/tools && $(GO) build -o $(BIN)/tools/ tool
	@for m in $(MODULES); do echo "tidy, vet, staticcheck: $$m"; \
	  (cd $$m && $(GO) mod tidy -diff && $(GO) vet -tags foreign,cluster,$(TAGS) ./... && $(CURDIR)/$(BIN)/tools/staticcheck -tags foreign,cluster,$(TAGS) ./...) || exit 1; done
	$(BIN)/tools/workflowcheck -config workflows/.workflowcheck.yaml ./workflows/...
	@if curl -sf -m 20 -o /dev/null "$(VULNDB)/index/db.json"; then $(MAKE) vuln; else echo "known vulnerabilities: not looked for, because $(VULNDB) cannot be reached"; fi
	@echo "check passed"

fmt: ## format the code
	gofmt -w $$(git ls-files '*.go')

vet: ## go vet of every module
	@for m in $(MODULES); do (cd $$m && $(GO) vet -tags foreign,cluster,$(TAGS) ./...) || exit 1; done

lint: ## staticcheck of every module
	@mkdir -p $(BIN)/tools && $(GO) build -o $(BIN)/tools/ tool
	@for m in $(MODULES); do (cd $$m && $(CURDIR)/$(BIN)/tools/staticcheck -tags foreign,cluster,$(TAGS) ./...) || exit 1; done

vuln: ## look for known vulnerabilities in what the binaries use; needs VULNDB (vuln.go.dev)
	@mkdir -p $(BIN)/tools && cd deploy/packaging && $(GO) build -o $(CURDIR)/$(BIN)/tools/ golang.org/x/vuln/cmd/govulncheck
	@for m in $(MODULES); do (cd $$m && $(CURDIR)/$(BIN)/tools/govulncheck -db "$(VULNDB)" -tags $(TAGS) ./...) || exit 1; done

conformance: ## run suites, clients and servers that others wrote; needs npm and Chromium
	deploy/conformance/run.sh

CLUSTER ?=
cluster: ## run the agents as on several machines, on PostgreSQL and Redis, and measure them (minutes; CLUSTER: flags of go test)
	deploy/cluster/run.sh $(CLUSTER)

FAULT ?=
cluster-chaos: ## kill one process of each kind every ten seconds for CHAOS (2m) on PostgreSQL, and check that nothing is lost or doubled
	deploy/cluster/run.sh -run '^TestTheClusterSurvives$$' -args -chaos $(CHAOS) -seed $(SEED) -fault '$(FAULT)'

browser: ## use the page in Chromium: approvals, restarts, attacks, accessibility; needs npm and Chromium
	deploy/browser/run.sh

first-card: ## measure how soon the first of 1,000 approvals is on the screen of the page
	deploy/browser/run.sh --measure

SHOTS ?= $(BIN)/screenshots
screenshots: ## take pictures of every view of the page, into SHOTS (bin/screenshots)
	deploy/browser/run.sh $(SHOTS)

build: ## build every binary for this machine into bin/
	@mkdir -p $(BIN)
	$(GO) build -ldflags '$(LDFLAGS)' -o $(BIN)/ $(ROOT_MAINS)
	cd deploy/stores && $(GO) build -ldflags '$(LDFLAGS)' -o $(abspath $(BIN))/ ./cmd/...
	cd mcpservers/sql && $(GO) build -ldflags '$(LDFLAGS)' -o $(abspath $(BIN))/ ./cmd/...
	cd mcpservers/drive && $(GO) build -ldflags '$(LDFLAGS)' -o $(abspath $(BIN))/ ./cmd/...
	cd deploy/standalone && $(GO) build -tags $(TAGS) -ldflags '$(LDFLAGS)' -o $(abspath $(BIN))/agent .

install: build ## copy binaries, manual pages, an example of the file and systemd units below DESTDIR
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/man/man1 $(DESTDIR)$(SYSCONFDIR)/agent-stop-and-go $(DESTDIR)$(UNITDIR)
	for b in $(BINARIES); do install -m 0755 $(BIN)/$$b $(DESTDIR)$(PREFIX)/bin/$$b || exit 1; done
	$(BIN)/agent man $(DESTDIR)$(PREFIX)/share/man/man1
	for f in agent web; do install -m 0644 config/$$f.yaml $(DESTDIR)$(SYSCONFDIR)/agent-stop-and-go/$$f.yaml.example || exit 1; done
	for u in deploy/systemd/*.service; do sed 's|/usr/local/bin|$(PREFIX)/bin|; s|/etc/agent-stop-and-go|$(SYSCONFDIR)/agent-stop-and-go|' $$u >$(DESTDIR)$(UNITDIR)/$${u##*/} || exit 1; done

uninstall: ## remove what install copied; configuration and data stay
	for b in $(BINARIES); do rm -f $(DESTDIR)$(PREFIX)/bin/$$b; done
	rm -f $(DESTDIR)$(PREFIX)/share/man/man1/agent.1 $(DESTDIR)$(PREFIX)/share/man/man1/agent-*.1
	for f in agent web; do rm -f $(DESTDIR)$(SYSCONFDIR)/agent-stop-and-go/$$f.yaml.example; done
	for u in deploy/systemd/*.service; do rm -f $(DESTDIR)$(UNITDIR)/$${u##*/}; done

docker-build: ## build an image of every binary, REGISTRY/NAME:VERSION
	for i in $(IMAGES); do $(DOCKER) build -f deploy/Dockerfile --target $$i --build-arg VERSION=$(VERSION) -t $(REGISTRY)/$$i:$(VERSION) . || exit 1; done

docker-push: ## push the images to REGISTRY
	for i in $(IMAGES); do $(DOCKER) push $(REGISTRY)/$$i:$(VERSION) || exit 1; done

compose-up: ## start the containers of COMPOSE (deploy/compose.yaml) and wait until they are healthy
	deploy/compose/secrets.sh
	REGISTRY=$(REGISTRY) VERSION=$(VERSION) $(DOCKER) compose -f $(COMPOSE) up --build --detach --wait

compose-down: ## stop the containers of COMPOSE; the data stays
	REGISTRY=$(REGISTRY) VERSION=$(VERSION) $(DOCKER) compose -f $(COMPOSE) down

packaging: ## check Dockerfile, compose files and chart with the tools of those who read them
	cd deploy/packaging && $(GO) mod tidy -diff && $(GO) vet ./... && $(GO) test ./...

ship: ## build as Dockerfile, install and release do, without a container engine, and check what comes out (minutes)
	cd deploy/packaging && $(GO) test ./images -count=1 -timeout 1h -v -run '^TestTheBuildStages' -replay source,build,build-stores,build-sql,build-drive,build-agent
	cd deploy/packaging && $(GO) test ./release -count=1 -timeout 1h -v -build

build-all: ## cross-compile every binary into DIST (dist)/<os>-<arch>/
	@for p in $(PLATFORMS); do os=$${p%/*}; arch=$${p#*/}; out=$(abspath $(DIST))/$$os-$$arch; mkdir -p $$out; echo "$$os/$$arch"; \
	  export GOOS=$$os GOARCH=$$arch CGO_ENABLED=0; \
	  $(GO) build -ldflags '$(LDFLAGS)' -o $$out/ $(ROOT_MAINS) || exit 1; \
	  (cd deploy/stores && $(GO) build -ldflags '$(LDFLAGS)' -o $$out/ ./cmd/...) || exit 1; \
	  (cd mcpservers/sql && $(GO) build -ldflags '$(LDFLAGS)' -o $$out/ ./cmd/...) || exit 1; \
	  (cd mcpservers/drive && $(GO) build -ldflags '$(LDFLAGS)' -o $$out/ ./cmd/...) || exit 1; \
	  (cd deploy/standalone && $(GO) build -tags $(TAGS) -ldflags '$(LDFLAGS)' -o $$out/agent .) || exit 1; done

release: build-all ## archives of every platform with checksums and lists of parts (SBOM), in DIST (dist)/release/
	DIST='$(abspath $(DIST))' deploy/release.sh $(VERSION) $(PLATFORMS)

BENCH ?=
bench: ## measure turns, reads and memory on the embedded server; prints ratios and goals (BENCH: its flags)
	cd deploy/standalone && $(GO) run -tags $(TAGS) ./bench $(BENCH)

FLOOD ?= 100000
CHAOS ?= 2m
FAR   ?= true
SEED  ?= 0
MODE  ?=
chaos: ## kill, break, lie, flood, repeat and reset for CHAOS (2m), and check that nothing is lost, doubled or given away
	cd deploy/standalone && $(GO) test -tags $(TAGS) ./e2e -count=1 -timeout 0 -v -run '^TestChaos$$' -far=$(FAR) -chaos=$(CHAOS) -seed=$(SEED) -mode=$(MODE)

chaos-trees: ## the same with drawn trees of nodes, in one process and split, and with full disks
	cd deploy/standalone && $(GO) test -tags $(TAGS) ./e2e -count=1 -timeout 0 -v -run '^TestChaosOfTrees$$' -form=both -chaos=$(CHAOS) -seed=$(SEED) -mode=$(MODE)

VECTORS ?= 1000000
vectors: ## give mcp-commands VECTORS (1000000) random argument vectors, and check that each process gets its own and nothing else runs
	$(GO) test ./mcpservers/commands -count=1 -timeout 0 -v -run '^TestRandomVectors' -vectors=$(VECTORS) -seed=$(SEED)

LINEAR ?= 2m
linear: ## decide, expire, escalate and deputize at once for LINEAR (2m) with kills, and check that one order explains all answers
	cd deploy/standalone && $(GO) test -tags $(TAGS) ./e2e -count=1 -timeout 0 -v -run '^TestApprovalsAreLinearizable$$' -linear=$(LINEAR) -seed=$(SEED)

flood: ## send FLOOD requests of every sort to conversations that wait, run and are closed (hours)
	cd deploy/standalone && $(GO) test -tags $(TAGS) ./e2e -count=1 -timeout 0 -v -run '$(FLOODS)' -flood=$(FLOOD)

WAITING ?= 1000
ramp: ## give a new version of the workers 5 % of the work, then all, and take it back, while WAITING (1000) approvals wait (minutes)
	cd deploy/standalone && $(GO) test -tags $(TAGS) ./e2e -count=1 -timeout 1h -v -run '^TestApprovalsAreDecidedWhileVersionsChange$$' -waiting=$(WAITING)

histories: ## record the histories that every build replays and that are missing (-record=NAME, -record=all)
	cd deploy/standalone && $(GO) test -tags $(TAGS) ./e2e -run TestRecord -count=1 -record

golden: ## rewrite golden files and the JSON schema from the code
	$(GO) generate ./workflows/...
	$(GO) test ./config -update
	UPDATE_GOLDEN=1 $(GO) test ./activities/llm/...

clean: ## remove what was built
	rm -rf $(BIN) $(DIST)
