package broker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// StartTimeout bounds formatting plus start; on a loaded machine 35 s were seen.
const StartTimeout = 120 * time.Second

// ClasspathEnv names a file that holds the broker's class path, in place of build/broker/classpath.txt.
const ClasspathEnv = "PENSTOCK_BROKER_CLASSPATH"

// Options choose how a broker runs. The zero value is a broker in a temporary folder.
type Options struct {
	// Dir holds configuration, data and logs; empty: a temporary folder, removed by Stop and Kill.
	Dir string
	// Port is where clients connect; 0 is a free one. With Dir it lets a broker come back after a Kill.
	Port int
	// Settings override or add server properties.
	Settings map[string]string
	// TransactionVersion is the feature level to format with (1 or 2); 0 is the broker's default.
	TransactionVersion int
	// Heap is the maximum heap, "512m" when empty.
	Heap string
	// Listeners are further ways in; the plaintext one of Addr is always there.
	Listeners []Listener
	// SystemProperties of the broker's JVM.
	SystemProperties map[string]string
}

// Broker is one running broker. Its methods are called by one goroutine at a time.
type Broker struct {
	addr    string
	addrs   map[string]string // of the further listeners
	dir     string
	ownsDir bool
	process *os.Process
	exited  chan struct{}
	exitErr error // valid after exited is closed
}

// Start formats the data folder, starts the broker and returns when it serves metadata and has a transaction coordinator,
// or with the end of its log when ctx or StartTimeout ends.
func Start(ctx context.Context, o Options) (*Broker, error) {
	ctx, cancel := context.WithTimeout(ctx, StartTimeout)
	defer cancel()
	classpath, err := classpath()
	if err != nil {
		return nil, err
	}
	b := &Broker{dir: o.Dir, exited: make(chan struct{})}
	if b.dir == "" {
		b.dir, err = os.MkdirTemp("", "penstock-broker-")
		b.ownsDir = true
	} else {
		err = os.MkdirAll(b.dir, 0o700)
	}
	if err != nil {
		return nil, err
	}
	if err := b.launch(ctx, o, classpath); err != nil {
		b.removeDir()
		return nil, err
	}
	if err := b.awaitReady(ctx); err != nil {
		err = fmt.Errorf("%w\n%s", err, b.LogTail(40))
		b.Kill()
		return nil, err
	}
	return b, nil
}

// Addr is the host:port for clients.
func (b *Broker) Addr() string { return b.addr }

// PID is the broker's process id.
func (b *Broker) PID() int { return b.process.Pid }

// Dir is the folder with configuration, data and logs.
func (b *Broker) Dir() string { return b.dir }

func (b *Broker) launch(ctx context.Context, o Options, classpath string) error {
	ports, err := freePorts(2 + len(o.Listeners))
	if err != nil {
		return err
	}
	if o.Port != 0 {
		ports[0] = o.Port
	}
	b.addr = fmt.Sprintf("127.0.0.1:%d", ports[0])
	b.addrs = addresses(o.Listeners, ports[2:])
	if err := b.writeConfig(o, ports[0], ports[1]); err != nil {
		return err
	}
	if err := b.format(ctx, o, classpath); err != nil {
		return err
	}
	heap := o.Heap
	if heap == "" {
		heap = "512m"
	}
	out, err := os.Create(filepath.Join(b.dir, "broker.out"))
	if err != nil {
		return err
	}
	defer out.Close()
	args := []string{"-Xmx" + heap}
	for name, value := range o.SystemProperties {
		args = append(args, "-D"+name+"="+value)
	}
	cmd := b.java(classpath, append(args, "kafka.Kafka", b.file("server.properties"))...)
	cmd.Stdout, cmd.Stderr = out, out
	return b.run(cmd)
}

func (b *Broker) file(name string) string { return filepath.Join(b.dir, name) }

// java makes a command; args are the flags, the main class and its arguments.
func (b *Broker) java(classpath string, args ...string) *exec.Cmd {
	all := []string{"-cp", classpath, "-Dlog4j2.configurationFile=" + b.file("log4j2.properties")}
	cmd := exec.Command(javaBinary(), append(all, args...)...)
	cmd.Dir = b.dir
	return cmd
}

func javaBinary() string {
	if home := os.Getenv("JAVA_HOME"); home != "" {
		return filepath.Join(home, "bin", "java")
	}
	return "java"
}

func (b *Broker) format(ctx context.Context, o Options, classpath string) error {
	args := []string{"kafka.tools.StorageTool", "format", "--ignore-formatted", "-t", "PenstockTestClusterIdA",
		"-c", b.file("server.properties")}
	if o.TransactionVersion != 0 {
		args = append(args, "--feature", fmt.Sprintf("transaction.version=%d", o.TransactionVersion))
	}
	made := b.java(classpath, args...)
	cmd := exec.CommandContext(ctx, made.Path, made.Args[1:]...)
	cmd.Dir = b.dir
	cmd.WaitDelay = 5 * time.Second
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("formatting the broker's data folder: %w\n%s", err, out)
	}
	return nil
}

// run starts cmd on a thread of its own that lives as long as the broker: the kernel's parent death signal is bound to the
// thread that forked, not to the process.
func (b *Broker) run(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if err := cmd.Start(); err != nil {
			started <- fmt.Errorf("starting the broker: %w", err)
			return
		}
		b.process = cmd.Process
		started <- nil
		b.exitErr = cmd.Wait()
		close(b.exited)
	}()
	return <-started
}

// Stop ends the broker by SIGTERM, by SIGKILL when it has not ended after 20 s, and removes a temporary folder.
func (b *Broker) Stop() error {
	b.Resume()
	if err := b.process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-b.exited:
		b.removeDir()
		return nil
	case <-time.After(20 * time.Second):
		b.Kill()
		return errors.New("the broker did not end within 20 s of SIGTERM and was killed")
	}
}

// Kill ends the broker by SIGKILL, waits for its end and removes a temporary folder.
func (b *Broker) Kill() {
	if b.process.Kill() == nil {
		<-b.exited
	}
	b.removeDir()
}

// Pause stops the broker's threads (SIGSTOP): connections stay open and nobody answers.
func (b *Broker) Pause() error { return b.process.Signal(syscall.SIGSTOP) }

// Resume ends a Pause.
func (b *Broker) Resume() error { return b.process.Signal(syscall.SIGCONT) }

func (b *Broker) removeDir() {
	if b.ownsDir {
		os.RemoveAll(b.dir)
	}
}

// LogTail is the end of the broker's log and of its output, for messages about failures.
func (b *Broker) LogTail(lines int) string {
	var all strings.Builder
	for _, name := range []string{"broker.log", "broker.out"} {
		data, err := os.ReadFile(b.file(name))
		if err != nil || len(data) == 0 {
			continue
		}
		text := strings.Split(strings.TrimRight(string(data), "\n"), "\n")
		if len(text) > lines {
			text = text[len(text)-lines:]
		}
		fmt.Fprintf(&all, "--- %s\n%s\n", name, strings.Join(text, "\n"))
	}
	return all.String()
}
