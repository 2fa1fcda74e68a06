package listen

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// asStranger makes the test binary accept one connection on descriptor 3 and print who connected.
const asStranger = "PENSTOCK_TEST_PRINT_PEER"

func TestMain(m *testing.M) {
	if os.Getenv(asStranger) != "" {
		os.Exit(printPeer())
	}
	os.Exit(m.Run())
}

func printPeer() int {
	listener, err := net.FileListener(os.NewFile(firstInherited, "socket"))
	if err != nil {
		fmt.Println(err)
		return 1
	}
	conn, err := listener.Accept()
	if err != nil {
		fmt.Println(err)
		return 1
	}
	peer, err := PeerOf(conn.(*net.UnixConn))
	fmt.Print(peer.UID, err)
	return 0
}

// TestUserNamespaceHidesThePeer is why penstockd.service has PrivateUsers=no and the chart leaves hostUsers alone: a daemon in a user
// namespace that has no name for its peer's user sees 65534, so that allow_uids cannot tell users apart.
func TestUserNamespaceHidesThePeer(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root may map another user than itself")
	}
	path := filepath.Join(t.TempDir(), "s.sock")
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	file, err := listener.File()
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for host, want := range map[int]string{0: "1000", 1234: "65534"} {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		cmd := exec.CommandContext(ctx, self)
		cmd.Env = append(os.Environ(), asStranger+"=1")
		cmd.ExtraFiles = []*os.File{file}
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 1000, HostID: host, Size: 1}},
		}
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Run(); err != nil {
			t.Skipf("no user namespace here: %v %s", err, out.String())
		}
		if got := out.String(); got != want+" <nil>" {
			t.Errorf("with only user %d mapped, the peer is %s, want %s", host, got, want)
		}
		again, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		defer again.Close()
	}
}
