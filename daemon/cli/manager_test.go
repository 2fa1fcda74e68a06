package cli

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"penstock.dev/penstock/daemon/daemontest"
)

// manager is a service manager: it listens for the daemon, starts it, hears what it tells (sd_notify(3)), keeps the descriptors that
// the daemon wants kept, and hands sockets and descriptors to the next one. systemd does the same.
type manager struct {
	t       *testing.T
	folder  string
	config  string
	sockets []*os.File
	notify  *net.UnixConn
	// room is FileDescriptorStoreMax=.
	room int

	mu   sync.Mutex
	kept []keptDescriptor
	told []string

	log   *log
	cmd   *exec.Cmd
	ended chan error
}

type keptDescriptor struct {
	name string
	file *os.File
}

// manage makes a manager that keeps at most room descriptors, for a daemon with this [arena].
func manage(t *testing.T, room int, arena string) *manager {
	t.Helper()
	m := &manager{t: t, folder: t.TempDir(), room: room}
	m.config = writeConfig(t, daemonConfig(m.folder, arena))
	m.sockets = []*os.File{managerSocket(t, m.session()), managerSocket(t, filepath.Join(m.folder, "api.sock"))}
	var err error
	if m.notify, err = net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(m.folder, "notify"), Net: "unixgram"}); err != nil {
		t.Fatal(err)
	}
	go m.listen()
	t.Cleanup(func() { m.notify.Close(); m.drop() })
	return m
}

// daemonConfig has the sockets in folder.
func daemonConfig(folder, arena string) string {
	return fmt.Sprintf("version = 1\n[listen]\ndirectory = %q\n[arena]\n%s\n[metrics]\nlisten = \"\"\n[process]\nshutdown_grace = \"50ms\"\n",
		folder, arena)
}

func (m *manager) session() string { return filepath.Join(m.folder, "session.sock") }

// listen hears what the daemon tells until the socket closes.
func (m *manager) listen() {
	text, control := make([]byte, 4096), make([]byte, unix.CmsgSpace(16*4))
	for {
		n, controls, _, _, err := m.notify.ReadMsgUnix(text, control)
		if err != nil {
			return
		}
		m.hear(strings.Split(string(text[:n]), "\n"), received(control[:controls]))
	}
}

// received are the descriptors of one message.
func received(control []byte) (files []*os.File) {
	messages, _ := unix.ParseSocketControlMessage(control)
	for i := range messages {
		fds, _ := unix.ParseUnixRights(&messages[i])
		for _, fd := range fds {
			unix.CloseOnExec(fd)
			files = append(files, os.NewFile(uintptr(fd), "received"))
		}
	}
	return files
}

// hear closes every descriptor that is not to be kept, those of BARRIER=1 too.
func (m *manager) hear(lines []string, files []*os.File) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.told = append(m.told, lines...)
	name := "stored"
	for _, line := range lines {
		if text, found := strings.CutPrefix(line, "FDNAME="); found {
			name = text
		}
	}
	if slices.Contains(lines, "FDSTOREREMOVE=1") {
		m.kept = slices.DeleteFunc(m.kept, func(k keptDescriptor) bool {
			if k.name == name {
				k.file.Close()
			}
			return k.name == name
		})
	}
	for _, file := range files {
		if slices.Contains(lines, "FDSTORE=1") && len(m.kept) < m.room {
			m.kept = append(m.kept, keptDescriptor{name, file})
		} else {
			file.Close()
		}
	}
}

// put lays a descriptor into the store behind the daemon's back; it is the manager's from now on.
func (m *manager) put(name string, fd int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kept = append(m.kept, keptDescriptor{name, os.NewFile(uintptr(fd), name)})
}

// names are those of what is kept.
func (m *manager) names() (names []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, k := range m.kept {
		names = append(names, k.name)
	}
	return names
}

// inodes are those of what is kept.
func (m *manager) inodes() (list []uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, k := range m.kept {
		var st unix.Stat_t
		if err := unix.Fstat(int(k.file.Fd()), &st); err != nil {
			m.t.Fatal(err)
		}
		list = append(list, st.Ino)
	}
	return list
}

// drop empties the store, as systemd does when a service is stopped for good.
func (m *manager) drop() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, k := range m.kept {
		k.file.Close()
	}
	m.kept = nil
}

// start starts the daemon with the sockets and the store, and waits until it is ready.
func (m *manager) start() {
	m.t.Helper()
	files, names := slices.Clone(m.sockets), []string{"penstockd.socket", "penstockd.socket"}
	m.mu.Lock()
	for _, k := range m.kept {
		files, names = append(files, k.file), append(names, k.name)
	}
	m.told = nil
	m.mu.Unlock()
	m.log = &log{}
	m.cmd, m.ended = startNamed(m.t, m.log, files, names, []string{"NOTIFY_SOCKET=" + filepath.Join(m.folder, "notify"),
		fmt.Sprintf("FDSTORE=%d", m.room)}, "run", "--config", m.config)
	for end := time.Now().Add(daemontest.Deadline); !m.ready(); time.Sleep(2 * time.Millisecond) {
		select {
		case err := <-m.ended:
			m.t.Fatalf("the daemon ended with %v\n%s", err, m.log)
		default:
		}
		if time.Now().After(end) {
			m.t.Fatalf("the daemon does not get ready\n%s", m.log)
		}
	}
}

func (m *manager) ready() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Contains(m.told, "READY=1")
}

// end ends the daemon by a signal and waits for it.
func (m *manager) end(signal syscall.Signal) {
	m.t.Helper()
	if err := m.cmd.Process.Signal(signal); err != nil {
		m.t.Fatal(err)
	}
	select {
	case <-m.ended:
	case <-time.After(daemontest.Deadline):
		m.t.Fatalf("it does not end\n%s", m.log)
	}
	if signal == syscall.SIGTERM && m.cmd.ProcessState.ExitCode() != 0 {
		m.t.Fatalf("it ended with %v\n%s", m.cmd.ProcessState, m.log)
	}
}
