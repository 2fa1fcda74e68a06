package cli

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestPrepareFolder(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root may give a folder away")
	}
	folder := t.TempDir()
	if err := os.Chmod(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"belongs to 9999:9998 now", ""} {
		code, out, errOut := invoke("prepare-folder", folder, "--uid=9999", "--gid=9998")
		if code != exitOK || !strings.Contains(out, want) || want == "" && out != "" {
			t.Fatalf("%d, %q, %s; want %q", code, out, errOut, want)
		}
		info, err := os.Stat(folder)
		if err != nil {
			t.Fatal(err)
		}
		if s := info.Sys().(*syscall.Stat_t); s.Uid != 9999 || s.Gid != 9998 || info.Mode().Perm() != 0o750 {
			t.Fatalf("it belongs to %d:%d, mode %v", s.Uid, s.Gid, info.Mode())
		}
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(folder, link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{link, filepath.Join(folder, "absent")} {
		if code, _, errOut := invoke("prepare-folder", path, "--uid=1", "--gid=1"); code != exitFailed || !strings.Contains(errOut, "no link") {
			t.Errorf("%s: %d, %s", path, code, errOut)
		}
	}
	if code, _, errOut := invoke("prepare-folder", folder, "--uid=1", "--gid=1", "--mode=9"); code != exitFailed ||
		!strings.Contains(errOut, `--mode = "9"`) {
		t.Errorf("a bad mode: %d, %s", code, errOut)
	}
}
