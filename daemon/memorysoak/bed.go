package memorysoak

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"penstock.dev/penstock/integration/broker"
	pb "penstock.dev/penstock/proto/gen/penstock/v1"
)

const (
	startLimit = 30 * time.Second
	topic      = "soak"
)

// config has small segments, so that a round is short, and few of them warm, so that some leases are made anew.
const config = `version = 1
[listen]
directory = %q
[session]
max_sessions = 64
[arena]
capacity = "192MiB"
segment = "1MiB"
warm_segments = 2
slots_per_session = 64
[metrics]
listen = ""
[log]
level = "error"
`

// bed is the real processes of a soak.
type bed struct {
	binary, dir string
	broker      *broker.Broker
	daemon      *exec.Cmd
	// gone is closed when the daemon has ended.
	gone    chan struct{}
	conn    *grpc.ClientConn
	status  pb.DiagnosticsServiceClient
	crashes int
	// group limits the daemon; nil: nothing does.
	group *group
}

// newBed starts a broker and a daemon that keep everything below dir.
func newBed(ctx context.Context, binary, dir string) (*bed, error) {
	b := &bed{binary: binary, dir: dir}
	var err error
	if b.broker, err = broker.Start(ctx, broker.Options{Dir: filepath.Join(dir, "broker")}); err != nil {
		return nil, err
	}
	if err := b.broker.CreateTopic(ctx, topic, 1, map[string]string{"retention.bytes": "10000000"}); err != nil {
		b.broker.Kill()
		return nil, err
	}
	if err := b.startDaemon(); err != nil {
		b.broker.Kill()
		return nil, err
	}
	return b, nil
}

func (b *bed) sessionPath() string { return filepath.Join(b.dir, "run", "session.sock") }
func (b *bed) apiPath() string     { return filepath.Join(b.dir, "run", "api.sock") }
func (b *bed) logPath() string     { return filepath.Join(b.dir, "penstockd.log") }

func (b *bed) startDaemon() error {
	file := filepath.Join(b.dir, "penstockd.toml")
	if err := os.WriteFile(file, fmt.Appendf(nil, config, filepath.Join(b.dir, "run")), 0o600); err != nil {
		return err
	}
	log, err := os.OpenFile(b.logPath(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	b.daemon = b.group.command(b.binary, "run", "--config", file)
	b.daemon.Stdout, b.daemon.Stderr = log, log
	b.daemon.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := b.daemon.Start(); err != nil {
		return fmt.Errorf("starting %s (`make daemon` builds it): %w", b.binary, err)
	}
	gone := make(chan struct{})
	b.gone = gone
	go func(cmd *exec.Cmd) {
		_ = cmd.Wait() // how it ended stands in its log
		close(gone)
	}(b.daemon)
	return b.connect()
}

// connect waits until the daemon takes sessions.
func (b *bed) connect() error {
	end := time.Now().Add(startLimit)
	for {
		conn, err := net.Dial("unix", b.sessionPath())
		if err == nil {
			conn.Close()
			break
		}
		if b.dead() || time.Now().After(end) {
			return fmt.Errorf("penstockd does not take sessions: %w; its log is %s", err, b.logPath())
		}
		time.Sleep(5 * time.Millisecond)
	}
	var err error
	b.conn, err = grpc.NewClient("unix://"+b.apiPath(), grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithAuthority("localhost"))
	if err != nil {
		return err
	}
	b.status = pb.NewDiagnosticsServiceClient(b.conn)
	return nil
}

func (b *bed) dead() bool {
	select {
	case <-b.gone:
		return true
	default:
		return false
	}
}

// ask is one status of the daemon.
func (b *bed) ask(ctx context.Context) (*pb.GetStatusResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	status, err := b.status.GetStatus(ctx, &pb.GetStatusRequest{})
	if err != nil && b.dead() {
		return nil, errors.Join(errCrashed, err)
	}
	return status, err
}

var errCrashed = errors.New("penstockd has ended")

// descriptors is how many the daemon has open.
func (b *bed) descriptors() (int, error) {
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", b.daemon.Process.Pid))
	return len(entries), err
}

func (b *bed) close() {
	if b.conn != nil {
		b.conn.Close()
	}
	_ = b.daemon.Process.Kill() // fails only when it has ended
	<-b.gone
	if b.broker != nil {
		b.broker.Kill()
	}
}
