package spill

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// ownFile matches the files of this package, and nothing else: penstock-<daemon>-<number>.arrows and penstock-<daemon>.lock.
var ownFile = regexp.MustCompile(`^penstock-([0-9a-f]{16})(?:-[0-9]+\.arrows|\.lock)$`)

// folder is the spill folder with this daemon's lock.
type folder struct {
	path   string
	daemon uint64
	lock   *os.File
}

// openFolder makes the folder when it is missing, locks this daemon's name in it and deletes what dead daemons have left.
func openFolder(path string, daemon uint64) (*folder, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, fmt.Errorf("spill.directory = %q: %w; make it, or choose another one", path, err)
	}
	f := &folder{path: path, daemon: daemon}
	var err error
	if f.lock, err = lockNew(f.lockPath()); err != nil {
		return nil, fmt.Errorf("spill.directory = %q: %w; the daemon needs a folder that it may write to", path, err)
	}
	if err := f.sweep(); err != nil {
		f.close()
		return nil, fmt.Errorf("spill.directory = %q: %w; delete the leftovers of other daemons, or choose another folder", path, err)
	}
	return f, nil
}

func (f *folder) lockPath() string {
	return filepath.Join(f.path, fmt.Sprintf("penstock-%016x.lock", f.daemon))
}

func (f *folder) filePath(number uint64) string {
	return filepath.Join(f.path, fmt.Sprintf("penstock-%016x-%d.arrows", f.daemon, number))
}

// lockNew creates and locks a file. Between both steps another daemon may lock it and sweep it away; then it is made once more.
func lockNew(path string) (*os.File, error) {
	for range 100 {
		file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
		if err != nil {
			return nil, err
		}
		err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil && same(file, path) {
			return file, nil
		}
		file.Close()
		if err != nil && !errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		time.Sleep(10 * time.Millisecond)
	}
	return nil, fmt.Errorf("lock %s: another daemon has it", path)
}

// same tells whether path still is the open file.
func same(file *os.File, path string) bool {
	open, err := file.Stat()
	if err != nil {
		return false
	}
	named, err := os.Lstat(path)
	return err == nil && os.SameFile(open, named)
}

// sweep deletes the files of daemons that do not hold their lock any more. Anything else in the folder is left alone.
func (f *folder) sweep() error {
	entries, err := os.ReadDir(f.path)
	if err != nil {
		return err
	}
	leftovers := map[string][]string{}
	for _, entry := range entries {
		if match := ownFile.FindStringSubmatch(entry.Name()); match != nil && entry.Type().IsRegular() {
			leftovers[match[1]] = append(leftovers[match[1]], filepath.Join(f.path, entry.Name()))
		}
	}
	delete(leftovers, fmt.Sprintf("%016x", f.daemon))
	for daemon, paths := range leftovers {
		if err := sweepOne(filepath.Join(f.path, "penstock-"+daemon+".lock"), paths); err != nil {
			return err
		}
	}
	return nil
}

// sweepOne deletes the files of one daemon, its lock last, unless it lives.
func sweepOne(lockPath string, paths []string) error {
	lock, err := os.OpenFile(lockPath, os.O_RDWR|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist): // it was deleted last
	case err != nil:
		return err
	default:
		defer lock.Close()
		if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); errors.Is(err, unix.EWOULDBLOCK) {
			return nil
		} else if err != nil {
			return fmt.Errorf("lock %s: %w", lockPath, err)
		}
	}
	paths = slices.DeleteFunc(paths, func(path string) bool { return path == lockPath })
	for _, path := range append(paths, lockPath) {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// close deletes the lock and then gives it up.
func (f *folder) close() error {
	return errors.Join(os.Remove(f.lockPath()), f.lock.Close())
}
