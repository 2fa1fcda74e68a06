package rdkafka

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"penstock.dev/penstock/kafka/producer"
)

func valid() producer.Config {
	return producer.Config{
		BootstrapServers: []string{"a:1", "b:2"}, Acks: -1, Idempotence: true, DeliveryTimeout: 2 * time.Minute,
		RequestTimeout: 30 * time.Second, MaxBlock: time.Minute, TransactionTimeout: time.Hour,
		BufferBytes: 32 << 20, MaxRequestBytes: 1 << 20, Compression: "lz4", ReconnectBackoff: 50 * time.Millisecond,
		ReconnectBackoffMax: time.Second, ConnectionSetupTimeout: 10 * time.Second, ConnectionsMaxIdle: 9 * time.Minute,
		MetadataMaxAge: 2 * time.Hour, MaxInFlight: 5,
	}
}

func mapped(t *testing.T, cfg producer.Config, id string) map[string]string {
	t.Helper()
	list, err := settings(cfg, id)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, s := range list {
		if _, twice := out[s.name]; twice {
			t.Errorf("%s is set twice", s.name)
		}
		out[s.name] = s.value
	}
	return out
}

func TestSettings(t *testing.T) {
	got := mapped(t, valid(), "job-0-1")
	for name, want := range map[string]string{
		"bootstrap.servers":                  "a:1,b:2",
		"enable.idempotence":                 "true",
		"partitioner":                        "murmur2_random",
		"queue.buffering.max.messages":       "0",
		"queue.buffering.max.kbytes":         "32768",
		"message.timeout.ms":                 "120000",
		"socket.timeout.ms":                  "30000",
		"request.timeout.ms":                 "30000",
		"transactional.id":                   "job-0-1",
		"transaction.timeout.ms":             "3600000",
		"retry.backoff.ms":                   "1",
		"compression.codec":                  "lz4",
		"metadata.max.age.ms":                "7200000",
		"topic.metadata.refresh.interval.ms": "3600000",
	} {
		if got[name] != want {
			t.Errorf("%s = %q, want %q", name, got[name], want)
		}
	}
	for _, absent := range []string{"batch.size", "retries", "compression.level", "client.id"} {
		if v, ok := got[absent]; ok {
			t.Errorf("%s = %q although the user did not set it", absent, v)
		}
	}
	if _, ok := mapped(t, valid(), "")["transaction.timeout.ms"]; ok {
		t.Error("a plain producer got a transaction timeout")
	}
}

// TestConnectionSettings: these reach librdkafka when they are given, and leave it its own defaults when not.
func TestConnectionSettings(t *testing.T) {
	trigger := 7 * time.Second
	cfg := valid()
	cfg.SendBufferBytes, cfg.ReceiveBufferBytes, cfg.CanonicalBootstrap, cfg.NoMetricsPush = 1<<20, 1<<16, true, true
	cfg.MetadataRecovery, cfg.RebootstrapTrigger = "none", &trigger
	got, untouched := mapped(t, cfg, ""), mapped(t, valid(), "")
	for name, want := range map[string]string{
		"socket.send.buffer.bytes":                 "1048576",
		"socket.receive.buffer.bytes":              "65536",
		"client.dns.lookup":                        "resolve_canonical_bootstrap_servers_only",
		"enable.metrics.push":                      "false",
		"metadata.recovery.strategy":               "none",
		"metadata.recovery.rebootstrap.trigger.ms": "7000",
	} {
		if got[name] != want {
			t.Errorf("%s = %q, want %q", name, got[name], want)
		}
		if v := untouched[name]; v != "" && v != "0" {
			t.Errorf("%s = %q although nobody asked for it", name, v)
		}
	}
}

// TestTimeoutsAreLoweredOnlyInTransactions: librdkafka refuses a producer that waits for longer than its transactions last.
func TestTimeoutsAreLoweredOnlyInTransactions(t *testing.T) {
	cfg := valid()
	cfg.TransactionTimeout = 10 * time.Second
	for id, want := range map[string][2]string{"id": {"10000", "10000"}, "": {"120000", "30000"}} {
		got := mapped(t, cfg, id)
		if got["message.timeout.ms"] != want[0] || got["socket.timeout.ms"] != want[1] {
			t.Errorf("%q: %s and %s, want %v", id, got["message.timeout.ms"], got["socket.timeout.ms"], want)
		}
	}
	e, err := New(slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	c, err := e.newClient(cfg, "id")
	if err != nil {
		t.Fatal(err)
	}
	c.destroy()
}

func TestLinger(t *testing.T) {
	given := 7 * time.Millisecond
	for _, c := range []struct {
		linger *time.Duration
		id     string
		want   string
	}{{nil, "id", "10"}, {nil, "", "5"}, {&given, "id", "7"}, {&given, "", "7"}} {
		cfg := valid()
		cfg.Linger = c.linger
		if got := mapped(t, cfg, c.id)["linger.ms"]; got != c.want {
			t.Errorf("linger %v, transactional id %q: %s ms, want %s", c.linger, c.id, got, c.want)
		}
	}
}

func TestQueueLimit(t *testing.T) {
	for _, c := range []struct {
		buffer int64
		row    int
		want   string
	}{
		{32 << 20, 1 << 20, "32768"},
		{0, 1 << 20, "4096"},
		{0, 64 << 20, "131072"}, // the largest row must fit twice
	} {
		cfg := valid()
		cfg.BufferBytes, cfg.MaxRequestBytes = c.buffer, c.row
		if got := mapped(t, cfg, "id")["queue.buffering.max.kbytes"]; got != c.want {
			t.Errorf("buffer %d, row %d: %s KiB, want %s", c.buffer, c.row, got, c.want)
		}
	}
}

func TestEveryFaultIsReportedAtOnce(t *testing.T) {
	retries, level := 0, 22
	cfg := valid()
	cfg.BootstrapServers = []string{"a:1,b:2"}
	cfg.Acks = 1
	cfg.MaxInFlight = 6
	cfg.Retries = &retries
	cfg.DeliveryTimeout = 0
	cfg.RequestTimeout = 20 * time.Minute
	cfg.Compression = "brotli"
	cfg.CompressionLevel = &level
	cfg.BufferBytes = 10
	cfg.MaxRequestBytes = 10
	_, err := settings(cfg, "")
	if producer.KindOf(err) != producer.BadRequest {
		t.Fatalf("kind %v of %v", producer.KindOf(err), err)
	}
	for _, option := range []string{
		`bootstrap.servers holds "a:1,b:2"`, "properties.acks = 1", "max.in.flight.requests.per.connection = 6",
		"properties.retries = 0", "properties.delivery.timeout.ms = 0", "properties.request.timeout.ms = 1200000",
		`properties.compression.type = "brotli"`, "compression.brotli.level = 22", "properties.buffer.memory = 10",
		"properties.max.request.size = 10",
	} {
		if !strings.Contains(err.Error(), option) {
			t.Errorf("the text lacks %q", option)
		}
	}
}

func TestMoreFaults(t *testing.T) {
	for _, c := range []struct {
		change func(*producer.Config)
		id     string
		want   string
	}{
		{func(c *producer.Config) { c.Idempotence = false }, "id", "properties.enable.idempotence = false"},
		{func(c *producer.Config) { c.MetadataRecovery = "hope" }, "", `properties.metadata.recovery.strategy = "hope" is unknown`},
		{func(c *producer.Config) { c.Acks = 7 }, "", "properties.acks = 7 is unknown"},
		{func(c *producer.Config) { c.BootstrapServers = nil }, "", "properties.bootstrap.servers is empty"},
		{func(c *producer.Config) { c.TransactionTimeout = 0 }, "id", "properties.transaction.timeout.ms = 0"},
		{func(c *producer.Config) { l := 3 * time.Minute; c.Linger = &l }, "", "properties.linger.ms = 180000 is not below"},
	} {
		cfg := valid()
		c.change(&cfg)
		if _, err := settings(cfg, c.id); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("want %q, got %v", c.want, err)
		}
	}
}

// TestShapes: nothing that points outside of its slice reaches C.
func TestShapes(t *testing.T) {
	for name, r := range map[string]*producer.Records{
		"beyond the end":     {Values: make([]byte, 3), ValueOffsets: []uint32{0, 4}},
		"falling":            {Values: make([]byte, 9), ValueOffsets: []uint32{0, 8, 7}},
		"too few nulls":      {Values: make([]byte, 9), ValueOffsets: make([]uint32, 10), ValueNulls: make([]byte, 1)},
		"too few keys":       {Values: make([]byte, 2), ValueOffsets: []uint32{0, 1, 2}, KeyOffsets: []uint32{0, 0}},
		"key beyond the end": {Values: make([]byte, 1), ValueOffsets: []uint32{0, 1}, KeyOffsets: []uint32{0, 1}},
		"too few timestamps": {Values: make([]byte, 2), ValueOffsets: []uint32{0, 1, 2}, Timestamps: []int64{1}},
	} {
		if err := checkShape(r, r.Len()); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
