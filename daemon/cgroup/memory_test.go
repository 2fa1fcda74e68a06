package cgroup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// Both versions, on the host and in a container whose mount shows a part of the hierarchy; the tightest group counts.
func TestHeadroom(t *testing.T) {
	const mib = 1 << 20
	for name, c := range map[string]struct {
		groups, mount string
		files         map[string]string
		want          int64
		group         string
	}{
		"version 2, the parent is tighter": {"0::/pod/daemon\n", "35 30 0:30 / DIR rw - cgroup2 cgroup2 rw\n", map[string]string{
			"pod/daemon/memory.max": "max\n", "pod/daemon/memory.current": "1\n",
			"pod/memory.max": "104857600\n", "pod/memory.current": "41943040\n",
			"pod/memory.stat": "anon 20971520\nfile 20971520\ninactive_file 5242880\nactive_file 5242880\nshmem 10485760\n",
		}, 70*mib - Margin, "pod"},
		"version 1 in a container": {"4:memory:/docker/abc\n3:cpu:/docker/abc\n0::/\n",
			"36 30 0:31 /docker/abc DIR ro - cgroup cgroup rw,memory\n", map[string]string{
				"memory.limit_in_bytes": "104857600\n", "memory.usage_in_bytes": "104857600\n",
				"memory.stat": "cache 1\ntotal_inactive_file 31457280\ntotal_active_file 0\n",
			}, 30*mib - Margin, "."},
		"used up": {"0::/\n", "35 30 0:30 / DIR rw - cgroup2 cgroup2 rw\n", map[string]string{
			"memory.max": "104857600\n", "memory.current": "104857000\n", "memory.stat": "anon 1\n"}, 0, "."},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			point := filepath.Join(dir, "fs")
			for file, text := range c.files {
				write(t, filepath.Join(point, file), text)
			}
			mounts := write(t, filepath.Join(dir, "mountinfo"), strings.Replace(c.mount, "DIR", point, 1))
			m, err := find(write(t, filepath.Join(dir, "cgroup"), c.groups), mounts)
			if err != nil {
				t.Fatal(err)
			}
			got, group, known := m.Headroom()
			if got != c.want || !known || group != filepath.Join(point, c.group) {
				t.Errorf("%d in %s, known %v; want %d in %s", got, group, known, c.want, c.group)
			}
		})
	}
}

func TestNoLimitIsNotKnown(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "fs", "memory.max"), "max\n")
	mounts := write(t, filepath.Join(dir, "mountinfo"), "35 30 0:30 / "+filepath.Join(dir, "fs")+" rw - cgroup2 cgroup2 rw\n")
	m, err := find(write(t, filepath.Join(dir, "cgroup"), "0::/\n"), mounts)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, known := m.Headroom(); known {
		t.Error("a limit out of nothing")
	}
	if _, err := find(write(t, filepath.Join(dir, "none"), "3:cpu:/\n"), mounts); err == nil {
		t.Error("a group out of nothing")
	}
}
