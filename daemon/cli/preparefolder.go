package cli

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"penstock.dev/penstock/daemon/config"
)

type prepareFolderCommand struct {
	Folder string `arg:"" help:"An existing folder, no link." type:"path"`
	UID    int    `name:"uid" required:"" help:"The daemon's user."`
	GID    int    `name:"gid" required:"" help:"The daemon's group."`
	Mode   string `default:"0750" help:"Permissions, octal."`
}

// Run gives a folder of a node, which the kubelet makes for root, to the daemon's user. It needs CAP_CHOWN and no other right: the
// mode is changed while root owns the folder. A folder that is as it shall be is left alone, since a daemon may serve in it.
func (c *prepareFolderCommand) Run(o output) error {
	mode, err := config.ParseFileMode(c.Mode)
	if err != nil {
		return fmt.Errorf("--mode = %q: %w", c.Mode, err)
	}
	fd, err := unix.Open(c.Folder, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("folder %q: %w; name an existing folder that is no link", c.Folder, err)
	}
	defer unix.Close(fd)
	var is unix.Stat_t
	if err := unix.Fstat(fd, &is); err != nil {
		return fmt.Errorf("folder %q: %w", c.Folder, err)
	}
	if int(is.Uid) == c.UID && int(is.Gid) == c.GID && is.Mode&0o7777 == uint32(mode) {
		return nil
	}
	if err := unix.Fchown(fd, os.Geteuid(), os.Getegid()); err != nil {
		return fmt.Errorf("folder %q: %w; run this as root with CAP_CHOWN", c.Folder, err)
	}
	if err := unix.Fchmod(fd, uint32(mode)); err != nil {
		return fmt.Errorf("folder %q: mode %v: %w", c.Folder, mode, err)
	}
	if err := unix.Fchown(fd, c.UID, c.GID); err != nil {
		return fmt.Errorf("folder %q: owner %d:%d: %w; run this as root with CAP_CHOWN", c.Folder, c.UID, c.GID, err)
	}
	fmt.Fprintf(o.out, "%s belongs to %d:%d now, mode %v\n", c.Folder, c.UID, c.GID, mode)
	return nil
}
