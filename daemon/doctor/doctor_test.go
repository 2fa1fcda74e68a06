package doctor

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"golang.org/x/sys/unix"

	"penstock.dev/penstock/daemon/config"
	"penstock.dev/penstock/daemon/listen"
)

// patient waits as long as no test needs.
const patient = 5 * time.Second

// want is a finding that must be there: its state, and words of what was found and of the remedy.
type want struct {
	check string
	state State
	words []string
}

func (d *diagnosis) require(t *testing.T, wants ...want) {
	t.Helper()
	for _, w := range wants {
		found := false
		for _, f := range d.findings {
			text := f.Found + " | " + f.Fix
			all := f.Check == w.check && f.State == w.state
			for _, word := range w.words {
				all = all && strings.Contains(text, word)
			}
			found = found || all
		}
		if !found {
			t.Errorf("no finding %v among\n%+v", w, d.findings)
		}
	}
	for _, f := range d.findings {
		if (f.Fix == "") != (f.State == OK) || f.Found == "" {
			t.Errorf("%+v: a remedy belongs to what is not well, and to that alone", f)
		}
	}
}

func examined(c *config.Config) *diagnosis {
	return &diagnosis{Examination: Examination{Config: c, Timeout: patient}}
}

func TestThisKernelHasWhatTheDaemonNeeds(t *testing.T) {
	d := examined(nil)
	d.kernel()
	d.require(t, want{"kernel.memfd", OK, nil}, want{"kernel.populate", OK, nil}, want{"kernel.pidfd", OK, nil})
}

func TestOlderKernelsAndSandboxes(t *testing.T) {
	d := examined(nil)
	d.memfd(func(name string, flags int) (int, error) {
		if flags&unix.MFD_NOEXEC_SEAL != 0 {
			return -1, unix.EINVAL
		}
		return unix.MemfdCreate(name, flags)
	})
	d.populate(func([]byte, int) error { return unix.EINVAL })
	d.pidfd(func(int, int) (int, error) { return -1, unix.ENOSYS })
	d.require(t, want{"kernel.memfd", OK, nil}, want{"kernel.noexec", Warn, []string{"6.3"}},
		want{"kernel.populate", Warn, []string{"5.14"}}, want{"kernel.pidfd", Warn, []string{"5.3"}})

	d = examined(nil)
	d.memfd(func(string, int) (int, error) { return -1, unix.EPERM })
	d.require(t, want{"kernel.memfd", Fail, []string{"seccomp"}})

	d = examined(nil)
	// Without MFD_ALLOW_SEALING the kernel refuses seals.
	d.memfd(func(name string, flags int) (int, error) {
		return unix.MemfdCreate(name, flags&^(unix.MFD_ALLOW_SEALING|unix.MFD_NOEXEC_SEAL))
	})
	d.require(t, want{"kernel.memfd", Fail, []string{"sealing"}})
}

func TestFaultsOfTheConfigurationAreFindings(t *testing.T) {
	_, err := config.Parse([]byte("version = 1\n[arena]\nsegment = \"3 apples\"\n[log]\nlevel = 7\n"))
	d := &diagnosis{Examination: Examination{ConfigError: err}}
	d.configuration()
	d.require(t, want{"config", Fail, []string{"arena.segment", "3 apples", "32MiB"}}, want{"config", Fail, []string{"log.level", "in quotes"}})
	d = &diagnosis{Examination: Examination{ConfigError: errors.New("--config: open x: no such file")}}
	d.configuration()
	d.require(t, want{"config", Fail, []string{"no such file"}})
}

// folderOf is a configuration whose sockets are in a folder of the test.
func folderOf(t *testing.T) *config.Config {
	c := config.Default()
	c.Listen.Directory = t.TempDir()
	return c
}

func TestSockets(t *testing.T) {
	c := folderOf(t)
	session, err := listen.Bind(c.Listen.SessionPath(), 0o660)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: c.Listen.APIPath(), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	dead.SetUnlinkOnClose(false)
	dead.Close()
	d := examined(c)
	d.sockets()
	d.require(t, want{"sockets.folder", OK, nil}, want{"sockets.session", OK, []string{"somebody listens"}},
		want{"sockets.api", Warn, []string{"left-over"}}, want{"sockets.peers", OK, nil})

	os.Remove(c.Listen.APIPath())
	c.Listen.AllowUIDs = []uint32{uint32(os.Geteuid()) + 1}
	d = examined(c)
	d.sockets()
	d.require(t, want{"sockets.api", Warn, []string{"nobody listens", "start penstockd"}}, want{"sockets.peers", Fail, []string{"allow_uids"}})
}

func TestFolder(t *testing.T) {
	c := folderOf(t)
	if err := os.Chmod(c.Listen.Directory, 0o777); err != nil {
		t.Fatal(err)
	}
	d := examined(c)
	d.sockets()
	d.require(t, want{"sockets.folder", Fail, []string{"0777", "chmod o-w"}})

	c.Listen.Directory = filepath.Join(t.TempDir(), "a", "b")
	d = examined(c)
	d.sockets()
	d.require(t, want{"sockets.folder", Warn, []string{"does not exist"}})

	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c.Listen.Directory = file
	d = examined(c)
	d.sockets()
	d.require(t, want{"sockets.folder", Fail, []string{"not a folder"}})
}

// hostOf is a machine whose files are a map.
func hostOf(descriptors uint64, files map[string]string) host {
	m := fstest.MapFS{}
	for name, text := range files {
		m[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return host{m, func(int) (unix.Rlimit, error) { return unix.Rlimit{Cur: descriptors, Max: descriptors}, nil }}
}

// The control groups of a machine under version 2, and of one under version 1; the test of the command makes a real group.
func TestMemoryLimitOfTheControlGroups(t *testing.T) {
	const total, noSwap = "MemTotal:       65536000 kB\nMemFree: 1 kB\n", "Filename Type Size Used Priority\n"
	for name, test := range map[string]struct {
		files map[string]string
		state State
		words []string
	}{
		"none":          {map[string]string{}, OK, []string{"MemTotal", "1280MiB"}},
		"small machine": {map[string]string{"proc/meminfo": "MemTotal: 524288 kB\n"}, Fail, []string{"MemTotal", "512MiB"}},
		"own group": {map[string]string{"proc/self/cgroup": "0::/system.slice/penstockd.service\n",
			"sys/fs/cgroup/system.slice/penstockd.service/memory.max": "1073741824\n", "sys/fs/cgroup/system.slice/memory.max": "max\n"},
			Warn, []string{"/sys/fs/cgroup/system.slice/penstockd.service/memory.max", "1GiB", "MemoryMax="}},
		"group above": {map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "max\n",
			"sys/fs/cgroup/a/memory.max": "536870912\n"}, Fail, []string{"/sys/fs/cgroup/a/memory.max", "kill", "1280MiB"}},
		"own root": {map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "2147483648\n"}, OK, []string{"2GiB"}},
		"version 1": {map[string]string{"proc/self/cgroup": "5:devices:/x\n4:memory:/pod\n0::/\n",
			"sys/fs/cgroup/memory/pod/memory.limit_in_bytes": "805306368\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"},
			Warn, []string{"/sys/fs/cgroup/memory/pod/memory.limit_in_bytes", "768MiB"}},
		"no proc": {map[string]string{"proc/meminfo": ""}, Warn, []string{"yourself"}},
	} {
		files := map[string]string{"proc/meminfo": total, "proc/swaps": noSwap}
		for file, text := range test.files {
			files[file] = text
		}
		d := examined(config.Default())
		d.limits(hostOf(65536, files))
		t.Log(name)
		d.require(t, want{"limits.memory", test.state, test.words}, want{"limits.swap", OK, nil}, want{"limits.memlock", OK, nil})
	}
}

func TestSwap(t *testing.T) {
	files := map[string]string{"proc/meminfo": "MemTotal: 65536000 kB\n", "proc/swaps": "Filename\n/swapfile file 1 0 -2\n",
		"proc/self/cgroup": "0::/penstockd.service\n"}
	d := examined(config.Default())
	d.limits(hostOf(65536, files))
	d.require(t, want{"limits.swap", Warn, []string{"MemorySwapMax=0"}})
	files["sys/fs/cgroup/penstockd.service/memory.swap.max"] = "0\n"
	d = examined(config.Default())
	d.limits(hostOf(65536, files))
	d.require(t, want{"limits.swap", OK, []string{"kept out"}})
}

func TestDescriptors(t *testing.T) {
	d := examined(config.Default())
	d.limits(hostOf(1024, map[string]string{}))
	d.require(t, want{"limits.nofile", Warn, []string{"1024", "writer.max_writers = 256", "LimitNOFILE="}})
}

func TestExamineGoesOnWithoutAConfiguration(t *testing.T) {
	findings := Examine(context.Background(), Examination{ConfigError: errors.New("broken"), Properties: filepath.Join(t.TempDir(), "absent"),
		Timeout: patient})
	d := &diagnosis{findings: findings}
	d.require(t, want{"config", Fail, []string{"broken"}}, want{"kernel.memfd", OK, nil}, want{"brokers.properties", Fail, []string{"--properties"}})
}
