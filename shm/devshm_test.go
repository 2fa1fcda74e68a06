package shm_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestDevShmDoesNotMatter: segments are memfds on no mount, so neither the size of /dev/shm (64 MB in a container) nor what lies
// there counts, and nothing is left there for the next start.
func TestDevShmDoesNotMatter(t *testing.T) {
	before := devShm(t)
	a := newArena(t, 4)
	for owner := uint32(1); owner <= 4; owner++ {
		err := lease(t, a, owner).WithFD(func(fd int) error {
			target, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
			if err == nil && !strings.HasPrefix(target, "/memfd:") {
				t.Errorf("a segment is %s, not a memfd", target)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if after := devShm(t); after != before {
		t.Errorf("/dev/shm changed from %q to %q", before, after)
	}
}

// devShm lists /dev/shm; a machine without it has nothing to change.
func devShm(t *testing.T) string {
	t.Helper()
	entries, err := os.ReadDir("/dev/shm")
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if strings.Contains(e.Name(), "penstock") {
			names = append(names, e.Name())
		}
	}
	return strings.Join(names, " ")
}
