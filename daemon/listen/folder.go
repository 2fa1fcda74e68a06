package listen

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// PrepareFolder creates the folder of the sockets with exactly this mode (its parents with 0755), or checks that an
// existing one is a folder that not everybody can write into: whoever can replace a socket file can play the daemon.
func PrepareFolder(path string, mode os.FileMode) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return folderError(path, err)
		}
		if err := os.Mkdir(path, mode); err != nil {
			return folderError(path, err)
		}
		// Mkdir is subject to the umask.
		return os.Chmod(path, mode)
	}
	if err != nil {
		return folderError(path, err)
	}
	if !info.IsDir() {
		return fmt.Errorf("listen.directory = %q is not a folder; remove it or choose another path", path)
	}
	if info.Mode().Perm()&0o002 != 0 {
		return fmt.Errorf("listen.directory = %q can be written by everybody (mode %#o); choose a folder inside it, "+
			"which penstockd creates, or take that right away", path, info.Mode().Perm())
	}
	return nil
}

func folderError(path string, err error) error {
	return fmt.Errorf("listen.directory = %q: %w; create it for the daemon's user or choose another with --listen-dir", path, err)
}
