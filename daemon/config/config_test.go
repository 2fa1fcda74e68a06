package config

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
)

func TestSampleEqualsDefaults(t *testing.T) {
	c, err := Parse([]byte(Sample))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(c, Default()) {
		t.Errorf("the sample gives\n%+v\nthe defaults are\n%+v", c, Default())
	}
	if err := c.Check(); err != nil {
		t.Errorf("the sample has faults: %v", err)
	}
}

func TestSampleNamesEveryKey(t *testing.T) {
	raw := map[string]any{}
	if err := toml.Unmarshal([]byte(Sample), &raw); err != nil {
		t.Fatal(err)
	}
	requireKeys(t, reflect.TypeFor[Config](), raw, "")
}

func requireKeys(t *testing.T, typ reflect.Type, raw map[string]any, path string) {
	for i := range typ.NumField() {
		field := typ.Field(i)
		name := field.Tag.Get("toml")
		value, ok := raw[name]
		if !ok {
			t.Errorf("penstockd.toml does not name %s%s (field %s)", path, name, field.Name)
			continue
		}
		if field.Type.Kind() == reflect.Struct {
			requireKeys(t, field.Type, value.(map[string]any), path+name+".")
		}
	}
}

func TestAllFaultsOfAFileAtOnce(t *testing.T) {
	_, err := Parse([]byte(`
version = "one"
colour = "blue"
[arena]
capacity = "12 parsecs"
segmnt = "32MiB"
[listen]
allow_uids = [-1]
socket_mode = 660
[writer]
seal_timeout = 5
`))
	var faults Faults
	if !errors.As(err, &faults) {
		t.Fatalf("got %v, want Faults", err)
	}
	for _, want := range []string{
		`version = "one": must be a whole number`,
		`colour: unknown key; remove it or correct its name (known here: arena, listen`,
		`arena.capacity = "12 parsecs": not a size; write a whole number with B, KiB, MiB or GiB`,
		`arena.segmnt: unknown key`,
		`listen.allow_uids = [-1]: must be a list of numeric ids`,
		`listen.socket_mode = 660: not a file mode; write octal permission bits as a string`,
		`writer.seal_timeout = 5: not a time`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("missing %q in\n%s", want, err)
		}
	}
	if len(faults) != 7 {
		t.Errorf("%d faults, want 7:\n%s", len(faults), err)
	}
}

func TestCheckReportsEveryBadValue(t *testing.T) {
	c := Default()
	c.Version = 2
	c.Listen.Directory = "run"
	c.Listen.SessionSocket = "/" + strings.Repeat("x", 120)
	c.Listen.SocketMode = 0o777
	c.Listen.DirectoryMode = 0o777
	c.Session.MaxSessions = 0
	c.Arena.Segment = 3 * GiB
	c.Writer.Credit = 1
	c.Writer.ProgressInterval = 0
	c.Spill = Spill{Mode: "perhaps", Directory: "spill", Quota: MiB, HighWater: 4 * MiB}
	c.Process.GoMemoryLimit = 1
	c.Process.StopTimeout = c.Writer.AbortTimeout
	c.Metrics.Listen = "localhost"
	c.Log.Level, c.Log.Format = "loud", "xml"
	err := c.Check()
	var faults Faults
	if !errors.As(err, &faults) {
		t.Fatalf("got %v, want Faults", err)
	}
	keys := []string{"version", "listen.directory", "listen.session_socket", "listen.socket_mode", "listen.directory_mode",
		"session.max_sessions", "arena.segment", "writer.credit", "writer.progress_interval",
		"spill.mode", "spill.directory", "spill.quota", "spill.high_water", "spill.patience", "process.go_memory_limit",
		"process.stop_timeout", "metrics.listen", "log.level", "log.format"}
	var got []string
	for _, f := range faults {
		got = append(got, f.Key)
		if f.Value == "" || f.Problem == "" {
			t.Errorf("%+v names no value or no remedy", f)
		}
	}
	if !reflect.DeepEqual(got, keys) {
		t.Errorf("faults for %v, want %v", got, keys)
	}
	if want := "121 bytes and the kernel takes at most 107"; !strings.Contains(err.Error(), want) {
		t.Errorf("missing %q in\n%s", want, err)
	}
}

func TestArenaMustHoldWhatItPromises(t *testing.T) {
	for _, test := range []struct {
		capacity ByteSize
		warm     int64
		want     string
	}{
		{32 * MiB, 0, "arena.capacity"},
		{128 * MiB, 5, "arena.warm_segments"},
		{128 * MiB, 3, ""},
	} {
		c := Default()
		c.Arena.Capacity, c.Arena.WarmSegments = test.capacity, test.warm
		err := c.Check()
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("capacity %v, warm %d: got %v, want a fault of %q", test.capacity, test.warm, err, test.want)
		}
	}
}

func TestByteSize(t *testing.T) {
	for text, want := range map[string]ByteSize{"0": 0, "17": 17, "17B": 17, "4KiB": 4 * KiB, "512 MiB": 512 * MiB, "1GiB": GiB} {
		if got, err := ParseByteSize(text); err != nil || got != want {
			t.Errorf("%q is %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "MiB", "-1", "1.5GiB", "1MB", "9999999999GiB"} {
		if got, err := ParseByteSize(text); err == nil {
			t.Errorf("%q is accepted as %d", text, got)
		}
	}
	for want, size := range map[string]ByteSize{"0B": 0, "17B": 17, "32MiB": 32 * MiB, "1025B": 1025} {
		if got := size.String(); got != want {
			t.Errorf("%d is %q, want %q", size, got, want)
		}
	}
}

func TestLoadNamesTheFile(t *testing.T) {
	if _, err := Load(filepath.Join(t.TempDir(), "absent.toml")); err == nil || !strings.Contains(err.Error(), "--config") {
		t.Errorf("got %v, want an error that names --config", err)
	}
	path := filepath.Join(t.TempDir(), "broken.toml")
	if err := os.WriteFile(path, []byte("version = 1\n[arena\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); err == nil || !strings.Contains(err.Error(), "broken.toml: line 2") {
		t.Errorf("got %v, want the file and the line", err)
	}
	if c, err := Load(""); err != nil || !reflect.DeepEqual(c, Default()) {
		t.Errorf("no file gives %+v, %v; want the defaults", c, err)
	}
}

func TestPeersDefaultToOwnIDs(t *testing.T) {
	uids, gids := Default().Listen.Peers()
	if len(uids) != 1 || uids[0] != uint32(os.Geteuid()) || len(gids) != 1 || gids[0] != uint32(os.Getegid()) {
		t.Errorf("got %v and %v", uids, gids)
	}
	l := Listen{AllowUIDs: []uint32{7}}
	if uids, gids := l.Peers(); len(gids) != 0 || len(uids) != 1 || uids[0] != 7 {
		t.Errorf("got %v and %v, want only uid 7", uids, gids)
	}
}
