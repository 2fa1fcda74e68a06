package memorysoak

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"penstock.dev/penstock/daemon/daemontest"
	pb "penstock.dev/penstock/proto/gen/penstock/v1"
)

const mib = 1 << 20

// startLimited starts a daemon without a broker, in a group unless that is nil.
func startLimited(t *testing.T, in *group) *bed {
	t.Helper()
	binary, err := filepath.Abs("../../build/penstockd")
	if err != nil {
		t.Fatal(err)
	}
	b := &bed{binary: binary, dir: t.TempDir(), group: in}
	err = b.startDaemon()
	if b.daemon.Process != nil {
		t.Cleanup(b.close)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestAClientNeverPaysForTheArena: a client whose memory is limited writes twice its limit into segments, dies, and one after it in the same
// group does it again. The pages are the daemon's before, during and after.
func TestAClientNeverPaysForTheArena(t *testing.T) {
	const limit = 80 * mib
	clients := newGroup(t, "client", limit)
	daemons := newGroup(t, "daemon", 1<<30)
	b := startLimited(t, daemons)
	before := daemons.used(t)
	for _, process := range []string{"first", "second"} {
		cmd, session, err := startPeer(clients, order{SessionPath: b.sessionPath(), Process: process, Point: opened.String(), Fill: 160})
		if err != nil {
			t.Fatal(err)
		}
		if client, daemon := clients.used(t), daemons.used(t)-before; client > limit*9/10 || daemon < 150*mib {
			t.Errorf("the %s client's group pays %d bytes and the daemon's %d for 160 MiB of segments", process, client, daemon)
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		daemontest.Eventually(t, "the memory is given back", func() bool {
			status, err := b.ask(context.Background())
			return err == nil && leftOf(status, process, session).session == 0 && status.GetMemory().GetOrphanSegments() == 0 &&
				daemons.used(t) < before+20*mib
		})
	}
	if n := clients.killed(t) + daemons.killed(t); n != 0 {
		t.Errorf("the kernel killed %d processes", n)
	}
}

// TestADaemonAtItsLimitAnswers: the memory controller allows less than the arena's capacity. Leases beyond it are denied, by the limit's
// name, and the daemon lives and goes on.
func TestADaemonAtItsLimitAnswers(t *testing.T) {
	daemons := newGroup(t, "small", 96*mib)
	b := startLimited(t, daemons)
	c := daemontest.Open(t, b.sessionPath(), "p")
	var refused *pb.Error
	var leases []uint32
	for refused == nil {
		segment, denied := c.Lease()
		if refused = denied; refused == nil {
			fill(segment.Mem[4096:])
			leases = append(leases, segment.ID())
			c.Unmap(segment)
		}
		if len(leases) > 120 {
			t.Fatalf("%d leases of 1 MiB below a limit of 96 MiB", len(leases))
		}
	}
	for _, part := range []string{"memory limit of " + daemons.folder, "lower the arena's capacity"} {
		if refused.GetKind() != pb.ErrorKind_DENIED || !strings.Contains(refused.GetMessage(), part) {
			t.Errorf("%q is not in %v", part, refused)
		}
	}
	if len(leases) < 20 {
		t.Errorf("only %d leases", len(leases))
	}
	for _, id := range leases[:10] {
		if refused := c.Return(id); refused != nil {
			t.Fatal(refused)
		}
	}
	for range 5 {
		c.MustLease()
	}
	if n := daemons.killed(t); n != 0 || b.dead() {
		t.Errorf("the kernel killed %d processes; the daemon is dead: %v", n, b.dead())
	}
	t.Logf("%d leases were granted, then %s", len(leases), refused.GetMessage())
}
