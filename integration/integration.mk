# Tests, demo and benchmarks on real parts. Included by the root Makefile, which sets ROOT, BUILD, OUT and MVN and whose
# target build makes the daemon, the jars, the parity encoder and the broker's class path.

INTEGRATION := $(ROOT)/integration/flink
# A line of Flink beside the one that Penstock is built against: a profile of client-java/pom.xml.
FLINK_LINES := 2.3 2.1 2.0
FLINK ?=
override FLINK := $(filter-out 2.2,$(FLINK))
$(if $(filter-out $(FLINK_LINES),$(FLINK)),$(error FLINK = $(FLINK) has no Maven profile: use 2.2 $(FLINK_LINES)))
INTEGRATION_TARGET := $(INTEGRATION)/target$(if $(FLINK),/flink-$(FLINK))
INTEGRATION_CLASSPATH := $(INTEGRATION_TARGET)/classpath.txt
# The opens that Flink wants in the JVM that plans a job.
JDK ?=
INTEGRATION_JAVA = $(if $(JDK),$(JDK)/bin/)java -Dpenstock.root=$(ROOT) -Dlog4j2.configurationFile=$(INTEGRATION)/log4j2-quiet.properties \
	$(foreach p,util lang time,--add-opens=java.base/java.$(p)=ALL-UNNAMED) \
	-cp $(INTEGRATION_TARGET)/classes:$$(cat $(INTEGRATION_CLASSPATH))

DATA ?= $(ROOT)/integration/data/flights.jsonl
CELLS ?=
PAIRS ?= 3
FORMAT ?= json
PARALLELISM ?=

# The jars of the other modules are taken from the local repository, where target jars installs them: also in another line of Flink
# they are those that are released.
.PHONY: integration-classpath
integration-classpath: build classpath-with

# The class path alone, with what is built already.
.PHONY: classpath-with
classpath-with:
	mvn -B -q -f $(INTEGRATION)/pom.xml $(if $(FLINK),-Pflink-$(FLINK) test-compile) dependency:build-classpath -Dmdep.includeScope=runtime \
		-Dmdep.outputFile=$(INTEGRATION_CLASSPATH)

.PHONY: test-integration
test-integration: build ## Java and end-to-end tests alone: MiniCluster, real broker, real daemon
	cd $(ROOT) && go run ./integration/testrun -only java -out $(OUT)/test-integration.json

.PHONY: demo
demo: integration-classpath ## Stock and Penstock on real flights, one TaskManager killed (ROWS=n DATA=file.jsonl)
	$(INTEGRATION_JAVA) -Ddemo.rows=$(ROWS) -Ddemo.data=$(abspath $(DATA)) dev.penstock.integration.demo.Demo

.PHONY: bench-sink
bench-sink: integration-classpath ## Exactly-once JSON sink against stock, alternating (ROWS=n PAIRS=n PARALLELISM=1,2)
	$(INTEGRATION_JAVA) $(if $(ROWS),-Dbench.rows=$(ROWS)) -Dbench.pairs=$(PAIRS) -Dbench.parallelism=$(PARALLELISM) \
		dev.penstock.integration.bench.SinkBench

BENCH := $(ROOT)/client-java/bench

.PHONY: bench-classpath
bench-classpath: build
	mvn -B -q -f $(BENCH)/pom.xml dependency:build-classpath -Dmdep.includeScope=runtime \
		-Dmdep.outputFile=$(BENCH)/target/classpath.txt

.PHONY: bench-columns
bench-columns: bench-classpath ## JMH: column writer against Flink's JSON serializer, ns and garbage for each row
	java -cp $(BENCH)/target/classes:$$(cat $(BENCH)/target/classpath.txt) \
		dev.penstock.bench.ColumnWriterBench $(OUT)/bench-columns.json

# The Java half of bench-memory.
.PHONY: bench-memory-java
bench-memory-java: bench-classpath integration-classpath ## Park, claim and settle of a slot, and a warm lease, from Java
	java -cp $(BENCH)/target/classes:$$(cat $(BENCH)/target/classpath.txt) dev.penstock.bench.SlotTurnBench $(OUT)/bench-slot-turn.json
	$(INTEGRATION_JAVA) dev.penstock.integration.bench.WarmLeaseBench

.PHONY: bench-encode
bench-encode: bench-classpath ## Encoders against Flink's serializers and arrow-go's writers, ns for each row (ROUNDS=n)
	cd $(ROOT) && go run ./integration/benchencode $(if $(ROUNDS),-rounds $(ROUNDS)) -out $(OUT)/bench-encode.json \
		-classpath $(BENCH)/target/classes:$$(cat $(BENCH)/target/classpath.txt)

.PHONY: parity
parity: integration-classpath parity-with ## Bytes of the daemon's encoder against Flink's own (FORMAT=json|csv|raw|avro|protobuf|debezium-json|...|records|upsert ROWS=n SEED=s FLINK=2.0)

# The comparison alone, with what is built already; JDK=home runs it in another JVM.
.PHONY: parity-with
parity-with:
	$(INTEGRATION_JAVA) dev.penstock.integration.parity.ParityMain --format $(FORMAT) $(if $(CELLS),--cells $(CELLS)) \
		$(if $(ROWS),--rows $(ROWS)) $(if $(SEED),--seed $(SEED)) \
		--out $(OUT)/parity$(if $(JDK)$(FLINK),-$(FORMAT))$(if $(FLINK),-flink-$(FLINK))$(if $(JDK),-$(notdir $(JDK))).json

.PHONY: brokers
brokers: build $(BUILD)/broker-3.9/classpath.txt ## Exactly-once scenarios on Kafka 4.2 with both transaction protocols and on 3.9 (BROKERS="KAFKA_3_9 ..." FLINK=2.0)
	cd $(ROOT) && PENSTOCK_BROKERS="$(BROKERS)" PENSTOCK_FLINK="$(FLINK)" \
		go run ./integration/testrun -only brokers -out $(OUT)/brokers$(if $(FLINK),-flink-$(FLINK)).json

$(BUILD)/broker-3.9/classpath.txt: integration/broker/pom.xml
	@mkdir -p $(dir $@)
	mvn -B -q -f $(ROOT)/integration/broker/pom.xml -Pkafka-3.9 dependency:build-classpath -Dmdep.outputFile=$@

.PHONY: test-flink-lines
test-flink-lines: build ## The other lines of Flink: the client compiled and tested, parity of every format, end to end (FLINK=2.0)
	cd $(ROOT) && PENSTOCK_FLINK="$(FLINK)" \
		go run ./integration/testrun -only flink-lines -out $(OUT)/test-flink$(or $(addprefix -,$(FLINK)),-lines).json

ROUNDS ?=
SEED ?=
HISTORY ?=
MINUTES ?=

.PHONY: soak
soak: daemon broker-classpath ## Random histories of a daemon and a broker against a model (ROUNDS=n SEED=s HISTORY=i)
	@mkdir -p $(OUT)
	cd $(ROOT) && go test -count=1 -timeout 12h ./daemon/history -run 'TestRandomHistories|TestProbing' -v -args -out $(OUT)/soak.json -declined 100 \
		-rounds $(or $(ROUNDS),1000) -seed $(or $(SEED),$(shell date +%s)) $(if $(HISTORY),-history $(HISTORY))

.PHONY: bench-memory
bench-memory: ## Shared memory and its ledger against the bars of the design: hand-over, leases, write rate, revoke
	cd $(ROOT) && go build -o $(BUILD)/benchmemory ./integration/benchmemory && $(BUILD)/benchmemory -out $(OUT)/bench-memory.json

.PHONY: memory-soak
memory-soak: daemon broker-classpath ## Client processes killed at random points; every byte must come back (ROUNDS=n SEED=s)
	@mkdir -p $(OUT)
	cd $(ROOT) && go test -count=1 -timeout 12h ./daemon/memorysoak -v -args -out $(OUT)/memory-soak.json \
		-rounds $(or $(ROUNDS),10000) -seed $(or $(SEED),$(shell date +%s))

.PHONY: stalled-broker
stalled-broker: daemon broker-classpath ## A broker that stands still while a sink pushes on: memory, heap, disk and rows (SECONDS=n)
	cd $(ROOT) && go test -count=1 -timeout 1h ./daemon/stall -run TestBrokerStandsStill -v -args -seconds $(or $(SECONDS),60)

.PHONY: bench-spill
bench-spill: ## Spill disk: writing and reading back against the disk's own rate with fdatasync (DIR=folder on the disk)
	cd $(ROOT) && PENSTOCK_SPILL_DIR=$(DIR) go test -run NONE -bench . -benchtime 500x -count 3 ./shm/spill

.PHONY: soak-job
soak-job: integration-classpath ## Random history of a real job: TaskManagers, daemon and broker killed and stopped, rescaled, swapped (ROUNDS=n MINUTES=n SEED=s)
	$(INTEGRATION_JAVA) $(if $(ROUNDS),-Dsoak.rounds=$(ROUNDS)) $(if $(MINUTES),-Dsoak.minutes=$(MINUTES)) -Dsoak.seed=$(or $(SEED),$(shell date +%s)) dev.penstock.integration.soak.JobSoak

CHECKPOINTS ?=

.PHONY: leak-check
leak-check: integration-classpath ## Threads, descriptors and memory of daemon and TaskManager over very many checkpoints (CHECKPOINTS=n)
	$(INTEGRATION_JAVA) $(if $(CHECKPOINTS),-Dleak.checkpoints=$(CHECKPOINTS)) dev.penstock.integration.soak.LeakCheck

DISTRIBUTION := $(BUILD)/distribution
DISTRIBUTION_WHEEL := apache-flink-libraries==2.2.1
# Its scripts and their configuration, which are the same for every platform that this one names.
DISTRIBUTION_SCRIPTS := --python-version 3.11 --platform manylinux2014_x86_64 apache-flink==2.2.1
LAYOUT ?=

.PHONY: distribution
distribution: $(DISTRIBUTION)/pyflink/bin/flink

# 312 MB: Flink's whole distribution, in the form in which a package registry has it.
$(DISTRIBUTION)/unpacked: integration/distribution/pom.xml
	@rm -rf $(DISTRIBUTION) && mkdir -p $(DISTRIBUTION)
	pip download -q --no-deps -d $(DISTRIBUTION)/wheel $(DISTRIBUTION_WHEEL)
	python3 -m zipfile -e $(DISTRIBUTION)/wheel/*.whl $(DISTRIBUTION)
	@rm -rf $(DISTRIBUTION)/wheel
	mvn -B -q -f $(ROOT)/integration/distribution/pom.xml dependency:copy -Ddistribution.out=$(DISTRIBUTION)/jars
	@touch $@

$(DISTRIBUTION)/pyflink/bin/flink: $(DISTRIBUTION)/unpacked
	@rm -rf $(DISTRIBUTION)/scripts
	pip download -q --no-deps --only-binary=:all: -d $(DISTRIBUTION)/scripts $(DISTRIBUTION_SCRIPTS)
	unzip -q -o -d $(DISTRIBUTION) $(DISTRIBUTION)/scripts/*.whl 'pyflink/bin/*' 'pyflink/conf/*'
	@rm -rf $(DISTRIBUTION)/scripts
	@touch $@

.PHONY: bundle-check
bundle-check: integration-classpath distribution ## The one jar in Flink's own distribution, in lib/ and by ADD JAR, beside both Kafka connectors, TLS and protobuf too (LAYOUT=words)
	@mkdir -p $(DISTRIBUTION)/messages && cd $(INTEGRATION_TARGET)/classes && \
	  $(if $(JDK),$(JDK)/bin/)jar --create --file $(DISTRIBUTION)/messages/messages.jar dev/penstock/integration/nexmark/messages
	$(INTEGRATION_JAVA) -Dbundle.layout="$(LAYOUT)" dev.penstock.integration.distribution.BundleCheck

# The browser of web-ui-check.
CHROMIUM = $(firstword $(foreach name,chromium chromium-browser google-chrome,$(shell command -v $(name))))
WEBUI := $(ROOT)/integration/webui

.PHONY: chromium
chromium:
	@test -x "$(CHROMIUM)" || { echo "web-ui-check needs Chromium, found '$(CHROMIUM)' (Debian, Ubuntu: package chromium); CHROMIUM=path names another one" >&2; exit 1; }

.PHONY: web-ui-check
web-ui-check: chromium integration-classpath distribution ## A native job in Flink's own web UI, seen by a headless browser: name, metrics, out/web-ui.png (CHROMIUM=path)
	@mkdir -p $(BUILD)/tools
	cd $(WEBUI) && go vet ./... && go test ./... && go build -o $(BUILD)/tools/webui .
	$(INTEGRATION_JAVA) -Dwebui.chromium=$(CHROMIUM) dev.penstock.integration.distribution.WebUiCheck

.PHONY: newcomer-check
newcomer-check: ## A fresh clone in an empty home with what README.md names: make demo, make test (PARTS="demo test" MAVEN_SETTINGS=file KEEP=1)
	PARTS="$(PARTS)" MAVEN_SETTINGS="$(MAVEN_SETTINGS)" KEEP="$(KEEP)" $(ROOT)/integration/newcomer/check.sh

RESTARTS ?=
SUBMITS ?=

.PHONY: daemon-restarts
daemon-restarts: integration-classpath ## The daemon killed again and again under one TaskManager: exact, and nothing of it left (RESTARTS=n)
	$(INTEGRATION_JAVA) $(if $(RESTARTS),-Drestarts.count=$(RESTARTS)) dev.penstock.integration.soak.DaemonRestarts

.PHONY: job-churn
job-churn: integration-classpath ## Short jobs one after the other on one cluster: nothing left in daemon and TaskManager (SUBMITS=n)
	$(INTEGRATION_JAVA) $(if $(SUBMITS),-Dchurn.submits=$(SUBMITS)) dev.penstock.integration.soak.JobChurn

RATE ?=
SECONDS ?=
SPILL ?=
TIMEOUT ?=

.PHONY: stalled-broker-job
stalled-broker-job: integration-classpath ## A job under full load while its broker is stopped: memory and disk inside of their bounds, no restart, exact (SECONDS=n SPILL=off|bounded TIMEOUT=seconds)
	$(INTEGRATION_JAVA) $(if $(SECONDS),-Dstall.seconds=$(SECONDS)) $(if $(SPILL),-Dstall.spill=$(SPILL)) $(if $(TIMEOUT),-Dstall.timeout=$(TIMEOUT)) \
		dev.penstock.integration.soak.StalledBroker

.PHONY: bench-checkpoint
bench-checkpoint: integration-classpath ## Time of checkpoints under the same load, stock and Penstock alternating, parallelism 1 to 8 (RATE=rows/s|stock SECONDS=n PAIRS=n PARALLELISM=1,2)
	$(INTEGRATION_JAVA) $(if $(RATE),-Dbench.rate=$(RATE)) $(if $(SECONDS),-Dbench.seconds=$(SECONDS)) -Dbench.pairs=$(PAIRS) \
		-Dbench.parallelism=$(PARALLELISM) dev.penstock.integration.bench.CheckpointBench

FULL ?=

.PHONY: probe
probe: integration-classpath ## Producers alone: the engine against kafka-clients over sizes, compressions, partitions (ROUNDS=n FULL=1)
	cd $(ROOT) && go run ./integration/probe $(if $(ROUNDS),-rounds $(ROUNDS)) $(if $(FULL),-full) -out $(OUT)/probe.json \
		-classpath $(INTEGRATION_TARGET)/classes:$$(cat $(INTEGRATION_CLASSPATH))
