package cgroup

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Margin is what Headroom leaves to everything else in the process, in bytes: its heap and librdkafka's grow without asking.
const Margin = 16 << 20

// Memory is the memory controller's groups that this process is in, the innermost first. A limit of any of them counts.
type Memory struct {
	folders []string
	files   files
}

// files are the names of one version.
type files struct {
	limit, usage string
	// cache are the lines of memory.stat that can be given up for new pages.
	cache []string
}

var (
	version1 = files{"memory.limit_in_bytes", "memory.usage_in_bytes", []string{"total_inactive_file", "total_active_file"}}
	version2 = files{"memory.max", "memory.current", []string{"inactive_file", "active_file"}}
)

// Own finds the groups of this process. An error says why there are none.
func Own() (*Memory, error) { return find("/proc/self/cgroup", "/proc/self/mountinfo") }

func find(groups, mounts string) (*Memory, error) {
	text, err := os.ReadFile(groups)
	if err != nil {
		return nil, err
	}
	for _, line := range strings.Split(string(text), "\n") {
		parts := strings.SplitN(line, ":", 3)
		if len(parts) != 3 {
			continue
		}
		switch {
		case strings.Contains(","+parts[1]+",", ",memory,"):
			return below(mounts, "cgroup", "memory", parts[2], version1)
		case parts[0] == "0" && parts[1] == "":
			if m, err := below(mounts, "cgroup2", "", parts[2], version2); err == nil {
				return m, nil
			}
		}
	}
	return nil, fmt.Errorf("%s names no group with a memory controller", groups)
}

// below lists the folders from the group up to the mount of its hierarchy.
func below(mounts, kind, option, group string, f files) (*Memory, error) {
	root, point, err := mount(mounts, kind, option)
	if err != nil {
		return nil, err
	}
	// In a container the mount shows a part of the hierarchy; what is above it cannot be seen.
	group, err = filepath.Rel(root, group)
	if err != nil || strings.HasPrefix(group, "..") {
		group = "."
	}
	m := &Memory{files: f}
	for folder := filepath.Join(point, group); ; folder = filepath.Dir(folder) {
		if _, err := os.Stat(filepath.Join(folder, f.limit)); err == nil {
			m.folders = append(m.folders, folder)
		}
		if folder == point || len(folder) <= len(point) {
			break
		}
	}
	if m.folders == nil {
		return nil, fmt.Errorf("no %s at or above %s", f.limit, filepath.Join(point, group))
	}
	return m, nil
}

// mount finds where a hierarchy is mounted, and which part of it (proc_pid_mountinfo(5)).
func mount(mounts, kind, option string) (root, point string, err error) {
	file, err := os.Open(mounts)
	if err != nil {
		return "", "", err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		first, second, _ := strings.Cut(lines.Text(), " - ")
		left, right := strings.Fields(first), strings.Fields(second)
		if len(left) < 5 || len(right) < 3 || right[0] != kind {
			continue
		}
		if option == "" || strings.Contains(","+right[2]+",", ","+option+",") {
			return left[3], left[4], nil
		}
	}
	return "", "", fmt.Errorf("no mount of type %s (%s) in %s", kind, option, mounts)
}

// Headroom is how many bytes more this process may take, the margin excluded, and the folder of the group that says so. known is false
// where no group has a limit.
func (m *Memory) Headroom() (bytes int64, group string, known bool) {
	bytes = math.MaxInt64
	for _, folder := range m.folders {
		room, ok := m.room(folder)
		if ok && room < bytes {
			bytes, group, known = room, folder, true
		}
	}
	if !known {
		return 0, "", false
	}
	return max(0, bytes-Margin), group, true
}

func (m *Memory) room(folder string) (int64, bool) {
	limit, err := number(filepath.Join(folder, m.files.limit))
	if err != nil || limit > math.MaxInt64/2 { // "max", or version 1's largest number
		return 0, false
	}
	usage, err := number(filepath.Join(folder, m.files.usage))
	if err != nil {
		return 0, false
	}
	return limit - usage + m.cache(folder), true
}

// cache is what the kernel gives up before it kills.
func (m *Memory) cache(folder string) (sum int64) {
	text, err := os.ReadFile(filepath.Join(folder, "memory.stat"))
	if err != nil {
		return 0
	}
	for _, line := range strings.Split(string(text), "\n") {
		name, value, _ := strings.Cut(line, " ")
		for _, cached := range m.files.cache {
			if n, err := strconv.ParseInt(value, 10, 64); err == nil && name == cached {
				sum += n
			}
		}
	}
	return sum
}

func number(file string) (int64, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
}
