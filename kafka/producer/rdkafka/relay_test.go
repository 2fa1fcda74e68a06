package rdkafka

import (
	"io"
	"net"
	"net/netip"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"penstock.dev/penstock/kafka/producer"
	"penstock.dev/penstock/kafka/producer/lease"
)

// TestNothingPassesARelayThatIsOver: what librdkafka writes then, on a thread that nobody can hold, does not reach the coordinator.
func TestNothingPassesARelayThatIsOver(t *testing.T) {
	for name, end := range map[string]func(*relay, *lease.Lease){
		"given up":          func(r *relay, _ *lease.Lease) { r.cut() },
		"the lease is over": func(_ *relay, l *lease.Lease) { l.End() },
	} {
		t.Run(name, func(t *testing.T) {
			coordinator, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer coordinator.Close()
			target := netip.MustParseAddrPort(coordinator.Addr().String())
			l := lease.New(lease.Length)
			defer l.End()
			r := newRelay(producer.Config{ConnectionSetupTimeout: 10 * time.Second, Lease: l})
			defer r.close()
			fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer unix.Close(fd) // before the relay waits for its end
			if err := r.connect(fd, target); err != nil {
				t.Fatal(err)
			}
			far, err := coordinator.Accept()
			if err == nil {
				defer far.Close()
				err = far.SetDeadline(time.Now().Add(5 * time.Second))
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, err := unix.Write(fd, []byte("before")); err != nil {
				t.Fatal(err)
			}
			got := make([]byte, len("before"))
			if _, err := io.ReadFull(far, got); err != nil || string(got) != "before" || r.pass.Carried() != 1 {
				t.Fatalf("the coordinator got %q on %d connections, %v", got, r.pass.Carried(), err)
			}
			end(r, l)
			if _, err := unix.SendmsgN(fd, []byte("after"), nil, nil, unix.MSG_NOSIGNAL); err != nil && err != unix.EPIPE {
				t.Fatal(err)
			}
			if late, err := io.ReadAll(far); len(late) > 0 {
				t.Errorf("then the coordinator got %q, %v", late, err)
			}
			if err := r.connect(fd, target); err == nil {
				t.Error("a new connection then")
			}
		})
	}
}
