# Penstock. `make` prints what there is; `make demo` and `make test` are the two commands of the README.

ROOT      := $(abspath $(dir $(lastword $(MAKEFILE_LIST))))
BUILD     := $(ROOT)/build
OUT       := $(ROOT)/out
VERSION   := $(shell sed -n 's/^\#\# \[\([^]]*\)\].*/\1/p' $(ROOT)/CHANGELOG.md | head -n 1)
MVN       := mvn -B -q -f $(ROOT)/client-java/pom.xml
PROTOC_VERSION := 4.36.2
GO_LDFLAGS := -X penstock.dev/penstock/daemon/app.release=$(VERSION)
# Packages without cgo; the race detector runs on these.
GO_PURE   := ./shm/... ./columnar/... ./memctl/... ./kafka/encode/... ./kafka/epoch/... ./daemon/...

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

.PHONY: help
help: ## Print this help
	@echo "Penstock: exactly-once Kafka output for Flink SQL, out of the JVM"
	@echo
	@awk -F':.*## ' '/^[a-zA-Z_-]+:.*## /{printf "  make %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# ---------------------------------------------------------------- build

.PHONY: build
build: daemon daemon-faults parity-encoder jars broker-classpath schema-registry ## Build the daemon, the jars and the test tools

.PHONY: daemon
daemon:
	@mkdir -p $(BUILD)
	cd $(ROOT) && go build -ldflags '$(GO_LDFLAGS)' -o $(BUILD)/penstockd ./daemon

# For tests alone: dies, hangs or fails where a rule says, see daemon/faultpoint.
.PHONY: daemon-faults
daemon-faults:
	@mkdir -p $(BUILD)
	cd $(ROOT) && go build -tags faultpoints -ldflags '$(GO_LDFLAGS)' -o $(BUILD)/penstockd-faults ./daemon

.PHONY: parity-encoder
parity-encoder:
	@mkdir -p $(BUILD)
	cd $(ROOT) && go build -o $(BUILD)/parity-encoder ./integration/parity/encoder

.PHONY: jars
jars:
	$(MVN) -DskipTests install
	@rm -rf $(BUILD)/flink-lib
	mvn -B -q -f $(ROOT)/client-java/flink-table/pom.xml dependency:copy-dependencies -DincludeScope=runtime \
	  -DoutputDirectory=$(BUILD)/flink-lib
	@cp $(ROOT)/client-java/flink-table/target/penstock-flink-table-*.jar $(BUILD)/flink-lib/

.PHONY: broker-classpath
broker-classpath: $(BUILD)/broker/classpath.txt

$(BUILD)/broker/classpath.txt: integration/broker/pom.xml
	@mkdir -p $(dir $@)
	mvn -B -q -f $(ROOT)/integration/broker/pom.xml dependency:build-classpath -Dmdep.outputFile=$@

.PHONY: schema-registry
schema-registry: $(BUILD)/registry/unpacked

$(BUILD)/registry/unpacked: integration/registry/pom.xml
	@rm -rf $(dir $@) && mkdir -p $(dir $@)
	mvn -B -q -f $(ROOT)/integration/registry/pom.xml dependency:unpack -Dregistry.out=$(dir $@)
	@touch $@

$(BUILD)/tools/grpcurl:
	@mkdir -p $(dir $@)
	GOBIN=$(dir $@) go install github.com/fullstorydev/grpcurl/cmd/grpcurl@v1.9.4

# ---------------------------------------------------------------- generated code

$(BUILD)/protoc-$(PROTOC_VERSION):
	@mkdir -p $(BUILD)
	mvn -B -q -f $(ROOT)/proto/pom.xml dependency:copy -Dprotoc.version=$(PROTOC_VERSION) -Dprotoc.out=$(BUILD)
	chmod +x $@

# $(1) is the folder that receives the generated Go.
define generate_go
	@mkdir -p $(1) $(BUILD)/tools
	cd $(ROOT) && go build -o $(BUILD)/tools/ google.golang.org/protobuf/cmd/protoc-gen-go google.golang.org/grpc/cmd/protoc-gen-go-grpc
	cd $(ROOT) && PATH=$(BUILD)/tools:$$PATH $(BUILD)/protoc-$(PROTOC_VERSION) -I proto \
	  --go_out=$(1) --go_opt=module=penstock.dev/penstock/proto/gen \
	  --go-grpc_out=$(1) --go-grpc_opt=module=penstock.dev/penstock/proto/gen proto/penstock/v1/*.proto
endef

.PHONY: proto
proto: $(BUILD)/protoc-$(PROTOC_VERSION) ## Regenerate proto/gen from proto/penstock
	$(call generate_go,$(ROOT)/proto/gen)

.PHONY: proto-check
proto-check: $(BUILD)/protoc-$(PROTOC_VERSION) ## Fail when proto/gen is not what proto/penstock generates
	@rm -rf $(BUILD)/proto-check
	$(call generate_go,$(BUILD)/proto-check)
	@diff -r $(BUILD)/proto-check $(ROOT)/proto/gen || { echo "proto/gen is stale: run 'make proto' and commit the result" >&2; exit 1; }

# ---------------------------------------------------------------- tests

.PHONY: fmt-check
fmt-check:
	@bad=$$(cd $(ROOT) && git ls-files '*.go' | xargs gofmt -l); [ -z "$$bad" ] || { echo "gofmt: $$bad" >&2; exit 1; }
	cd $(ROOT) && go vet ./...

.PHONY: test
test: integration-classpath $(BUILD)/tools/grpcurl fmt-check proto-check ## Run every test: Go, Java, parity, end to end on a real broker and Flink
	cd $(ROOT) && go run ./integration/testrun -out $(OUT)/test.json

include integration/integration.mk
include deploy.mk

.PHONY: clean
clean: ## Remove what was built
	rm -rf $(BUILD) $(OUT)
	$(MVN) clean
