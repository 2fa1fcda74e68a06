package history

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"penstock.dev/penstock/integration/broker"
)

// startLimit bounds the start of a daemon, on a machine that is busy.
const startLimit = 30 * time.Second

// world is the real processes of a history. Its methods are called by one goroutine at a time, those of a fault by the fault's.
type world struct {
	binary, dir string
	broker      *broker.Broker
	daemon      *daemon
	// frozen is the daemon that the job has left, nil when there is none.
	frozen *daemon
	// daemons numbers their folders, since two may live at one time.
	daemons int
}

// newWorld starts a broker and a daemon that keep everything below dir. binary is penstockd.
func newWorld(ctx context.Context, binary, dir string) (*world, error) {
	w := &world{binary: binary, dir: dir}
	var err error
	w.broker, err = broker.Start(ctx, broker.Options{Dir: w.brokerDir()})
	if err != nil {
		return nil, err
	}
	if err := w.startDaemon(); err != nil {
		w.broker.Kill()
		return nil, err
	}
	return w, nil
}

func (w *world) close() {
	w.endFrozen()
	w.daemon.kill()
	w.broker.Kill()
}

func (w *world) brokerDir() string { return filepath.Join(w.dir, "broker") }

// restartBroker kills the broker and starts it again on its data and port.
func (w *world) restartBroker() error {
	_, port, err := net.SplitHostPort(w.broker.Addr())
	if err != nil {
		return err
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		return err
	}
	w.broker.Kill()
	w.broker, err = broker.Start(context.Background(), broker.Options{Dir: w.brokerDir(), Port: number})
	return err
}

// config keeps a life of the daemon small: its start is a part of many rounds.
const config = `version = 1
[listen]
directory = %q
[arena]
capacity = "96MiB"
segment = "4MiB"
warm_segments = 1
[process]
go_memory_limit = "128MiB"
[metrics]
listen = ""
`

// leave makes a new daemon the job's and keeps the old one.
func (w *world) leave() error {
	w.endFrozen()
	w.frozen = w.daemon
	return w.startDaemon()
}

func (w *world) endFrozen() {
	if w.frozen != nil {
		w.frozen.kill()
		w.frozen = nil
	}
}

// startDaemon starts a daemon and returns when it takes sessions.
func (w *world) startDaemon() error {
	w.daemons++
	sockets := filepath.Join(w.dir, fmt.Sprintf("run-%d", w.daemons))
	file := filepath.Join(w.dir, fmt.Sprintf("penstockd-%d.toml", w.daemons))
	if err := os.WriteFile(file, fmt.Appendf(nil, config, sockets), 0o600); err != nil {
		return err
	}
	log, err := os.OpenFile(filepath.Join(w.dir, "penstockd.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(w.binary, "run", "--config", file)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting %s (`make daemon` builds it): %w", w.binary, err)
	}
	d := &daemon{cmd: cmd, session: filepath.Join(sockets, "session.sock"), api: filepath.Join(sockets, "api.sock"), ended: make(chan struct{})}
	go func() {
		_ = cmd.Wait() // every end is as good as another: the history goes on with a new daemon
		close(d.ended)
	}()
	w.daemon = d
	if err := d.awaitServing(); err != nil {
		d.kill()
		return fmt.Errorf("%w; its log is %s", err, log.Name())
	}
	return nil
}

// daemon is one life of penstockd.
type daemon struct {
	cmd          *exec.Cmd
	session, api string
	ended        chan struct{}
	killed       sync.Once
}

func (d *daemon) awaitServing() error {
	for end := time.Now().Add(startLimit); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if conn, err := net.Dial("unix", d.session); err == nil {
			return conn.Close()
		}
		if !d.alive() {
			return fmt.Errorf("penstockd has ended: %v", d.cmd.ProcessState)
		}
	}
	return fmt.Errorf("penstockd does not listen on %s after %v", d.session, startLimit)
}

func (d *daemon) alive() bool {
	select {
	case <-d.ended:
		return false
	default:
		return true
	}
}

// kill is SIGKILL; it returns when the process is gone.
func (d *daemon) kill() {
	d.killed.Do(func() { _ = d.cmd.Process.Kill() }) // it fails only for a process that has ended
	<-d.ended
}

func (d *daemon) stop() error { return d.cmd.Process.Signal(syscall.SIGSTOP) }

func (d *daemon) goOn() error { return d.cmd.Process.Signal(syscall.SIGCONT) }

// sleep stops the process with SIGSTOP, does what is to happen meanwhile, and lets it go on after the time.
func (d *daemon) sleep(length time.Duration, meanwhile func()) error {
	if err := d.stop(); err != nil {
		return err
	}
	meanwhile()
	time.Sleep(length)
	return d.goOn()
}
