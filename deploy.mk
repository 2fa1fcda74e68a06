# Checks of what a site deploys: unit files, chart, image, alerts. Included by the root Makefile; none of them is a part of `make test`.

# Tenths of systemd's exposure level, 0 (safe) to 100.
UNIT_EXPOSURE := 20
UNITS := $(ROOT)/daemon/systemd

.PHONY: unit-check
unit-check: daemon ## systemd's own opinion of the unit files: verify, and an exposure below 2.0
	@command -v systemd-analyze > /dev/null || { \
	  echo "unit-check needs systemd-analyze (Debian, Ubuntu: package systemd); systemd need not run" >&2; exit 1; }
	@rm -rf $(BUILD)/units && mkdir -p $(BUILD)/units
	@sed 's|^ExecStart=/usr/bin/penstockd |ExecStart=$(BUILD)/penstockd |' $(UNITS)/penstockd.service > $(BUILD)/units/penstockd.service
	@cp $(UNITS)/penstockd.socket $(BUILD)/units/
	cd $(BUILD)/units && systemd-analyze verify --man=no ./penstockd.service ./penstockd.socket 2> verify.txt; \
	  code=$$?; cat verify.txt >&2; [ $$code = 0 ] && [ ! -s verify.txt ]
	cd $(BUILD)/units && systemd-analyze security --no-pager --offline=true --threshold=$(UNIT_EXPOSURE) ./penstockd.service > security.txt; \
	  code=$$?; grep -E '^(✗|→)' security.txt; exit $$code
