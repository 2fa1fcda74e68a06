package doctor

import (
	"bufio"
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"penstock.dev/penstock/daemon/config"
)

// host is what is read of the machine; in tests a folder plays parts of it.
type host struct {
	files fs.FS
	limit func(resource int) (unix.Rlimit, error)
}

func machine() host {
	return host{os.DirFS("/"), func(resource int) (r unix.Rlimit, err error) {
		err = unix.Getrlimit(resource, &r)
		return r, err
	}}
}

// limits compares what the process may have with what the configuration can come to.
func (d *diagnosis) limits(h host) {
	d.descriptors(h)
	d.locked(h)
	d.memory(h)
	d.swap(h)
}

// descriptorsNeeded: three for each segment of a full arena (the memfd, and what travels to clients), two for each session, eleven for
// each writer's line and two producers, and the process's own.
func descriptorsNeeded(c *config.Config) uint64 {
	segments := int64(c.Arena.Capacity/c.Arena.Segment) + c.Session.MaxSessions
	return uint64(64 + 3*segments + 2*c.Session.MaxSessions + 11*c.Writer.MaxWriters)
}

func (d *diagnosis) descriptors(h host) {
	const check = "limits.nofile"
	r, err := h.limit(unix.RLIMIT_NOFILE)
	if err != nil {
		d.warn(check, "look at `ulimit -n` yourself", "%v", err)
		return
	}
	// The Go runtime raises the soft limit to the hard one.
	if need := descriptorsNeeded(d.Config); r.Max < need {
		d.warn(check, fmt.Sprintf("allow %d (LimitNOFILE= of the unit file, ulimit -Hn), or lower writer.max_writers", need),
			"%d descriptors are allowed, and writer.max_writers = %d can need %d", r.Max, d.Config.Writer.MaxWriters, need)
		return
	}
	d.ok(check, "%s descriptors", limitInWords(r.Max))
}

func (d *diagnosis) locked(h host) {
	r, err := h.limit(unix.RLIMIT_MEMLOCK)
	if err != nil {
		d.warn("limits.memlock", "look at `ulimit -l` yourself", "%v", err)
		return
	}
	d.ok("limits.memlock", "%s bytes; none are needed, pages are populated and not locked", limitInWords(r.Max))
}

func limitInWords(n uint64) string {
	if n == unix.RLIM_INFINITY {
		return "any number of"
	}
	return strconv.FormatUint(n, 10)
}

// memory finds the smallest limit above this process: of its control groups, or of the machine.
func (d *diagnosis) memory(h host) {
	const check = "limits.memory"
	limit, where, err := memoryLimit(h.files)
	if err != nil {
		d.warn(check, "compare the memory limit of the daemon with arena.capacity + process.go_memory_limit yourself", "%v", err)
		return
	}
	c := d.Config
	parts := fmt.Sprintf("arena.capacity = %v, process.go_memory_limit = %v", c.Arena.Capacity, c.Process.GoMemoryLimit)
	fix := fmt.Sprintf("raise the limit to %v (MemoryMax= of the unit file, resources.limits.memory of the container), or lower arena.capacity",
		c.MemoryNeed())
	switch {
	case limit < c.Arena.Capacity+c.Process.GoMemoryLimit:
		d.fail(check, fix, "%s allows %v, and %s are more: the kernel will kill the daemon", where, limit, parts)
	case limit < c.MemoryNeed():
		d.warn(check, fix, "%s allows %v; %s leave less than %v for librdkafka's queues and the program", where, limit, parts,
			c.MemoryNeed()-c.Arena.Capacity-c.Process.GoMemoryLimit)
	default:
		d.ok(check, "%s allows %v, the configuration needs %v", where, limit, c.MemoryNeed())
	}
}

// memoryLimit is the smallest limit and where it stands.
func memoryLimit(files fs.FS) (config.ByteSize, string, error) {
	limit, err := totalMemory(files)
	if err != nil {
		return 0, "", err
	}
	where := "the machine (MemTotal)"
	for _, file := range limitFiles(files) {
		text, err := fs.ReadFile(files, file)
		if err != nil {
			continue // no memory controller at this level
		}
		n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
		if err == nil && config.ByteSize(n) < limit { // "max" is no number
			limit, where = config.ByteSize(n), "/"+file
		}
	}
	return limit, where, nil
}

func totalMemory(files fs.FS) (config.ByteSize, error) {
	text, err := fs.ReadFile(files, "proc/meminfo")
	if err != nil {
		return 0, err
	}
	var kib int64
	if _, err := fmt.Sscanf(string(text), "MemTotal: %d kB", &kib); err != nil {
		return 0, fmt.Errorf("/proc/meminfo: %w", err)
	}
	return config.ByteSize(kib) * config.KiB, nil
}

// groups are this process's control group and all above it, the nearest first, of version 2 or of version 1's memory controller.
func groups(files fs.FS) (root string, list []string) {
	text, _ := fs.ReadFile(files, "proc/self/cgroup")
	for line := range strings.SplitSeq(string(text), "\n") {
		parts := strings.SplitN(line, ":", 3)
		if len(parts) != 3 || parts[1] != "" && parts[1] != "memory" {
			continue
		}
		root = "sys/fs/cgroup"
		if parts[1] == "memory" {
			root = "sys/fs/cgroup/memory"
		}
		list = nil
		for at := path.Clean("/" + parts[2]); ; at = path.Dir(at) {
			list = append(list, path.Join(root, at))
			if at == "/" {
				break
			}
		}
		if parts[1] == "memory" {
			break // version 1 holds the limits where both are there
		}
	}
	return root, list
}

func limitFiles(files fs.FS) []string {
	root, list := groups(files)
	name := "memory.max"
	if strings.HasSuffix(root, "/memory") {
		name = "memory.limit_in_bytes"
	}
	var all []string
	for _, group := range list {
		all = append(all, path.Join(group, name))
	}
	return all
}

// swap: shared memory that is swapped out is slower than the stock sink.
func (d *diagnosis) swap(h host) {
	const check = "limits.swap"
	text, err := fs.ReadFile(h.files, "proc/swaps")
	lines := 0
	for s := bufio.NewScanner(bytes.NewReader(text)); s.Scan(); {
		lines++
	}
	if err != nil || lines < 2 { // the first line is the heading
		d.ok(check, "this machine has no swap")
		return
	}
	_, list := groups(h.files)
	for _, group := range list {
		if limit, err := fs.ReadFile(h.files, path.Join(group, "memory.swap.max")); err == nil && strings.TrimSpace(string(limit)) == "0" {
			d.ok(check, "this process is kept out of swap (%s)", "/"+group)
			return
		}
	}
	d.warn(check, "keep the daemon out of swap (MemorySwapMax=0 of the unit file)", "this machine has swap, and shared memory may go there")
}
