package memorysoak

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	pb "penstock.dev/penstock/proto/gen/penstock/v1"
)

// peerEnv carries a peer's order.
const peerEnv = "PENSTOCK_MEMORY_SOAK_PEER"

// reclaimLimit is when a round has failed.
const reclaimLimit = 20 * time.Second

// result is one killed client.
type result struct {
	point point
	// reclaim is from the kill until the session, its leases and its memory were gone; writer until its writers were, too.
	reclaim, writer time.Duration
	hadWriter       bool
}

// round starts a client, kills it at or soon after a random point and waits until all it had is given back.
func (b *bed) round(ctx context.Context, number int, seed uint64) (result, error) {
	random := rand.New(rand.NewPCG(seed, uint64(number)))
	r := result{point: point(random.IntN(int(points)))}
	o := order{SessionPath: b.sessionPath(), APIPath: b.apiPath(), Broker: b.broker.Addr(), Topic: topic,
		Process: fmt.Sprintf("victim-%d", number), Point: r.point.String(), Seed: random.Uint64()}
	cmd, session, err := startPeer(nil, o)
	if err != nil {
		return r, fmt.Errorf("point %v: %w", r.point, err)
	}
	if r.point == writing || r.point == leaseAsked {
		time.Sleep(time.Duration(random.IntN(20_000)) * time.Microsecond)
	}
	if err := cmd.Process.Kill(); err != nil {
		return r, err
	}
	killed := time.Now()
	err = b.await(ctx, killed, o.Process, session, &r)
	// Not before, so that the daemon meets a zombie.
	if _ = cmd.Wait(); cmd.ProcessState.ExitCode() >= 0 {
		return r, fmt.Errorf("point %v: the client ended by itself: %v", r.point, cmd.ProcessState)
	}
	if err != nil {
		return r, fmt.Errorf("point %v: %w", r.point, err)
	}
	return r, nil
}

// startPeer runs this binary as a client, in a memory group unless that is nil, and returns when it is at its point, with the number of its session.
func startPeer(in *group, o order) (*exec.Cmd, uint32, error) {
	text, err := json.Marshal(o)
	if err != nil {
		return nil, 0, err
	}
	cmd := in.command(os.Args[0])
	cmd.Env = append(os.Environ(), peerEnv+"="+string(text))
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, 0, err
	}
	if err := cmd.Start(); err != nil {
		return nil, 0, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err == nil {
		var session uint64
		if session, err = strconv.ParseUint(strings.TrimSpace(line), 10, 32); err == nil {
			return cmd, uint32(session), nil
		}
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	return nil, 0, fmt.Errorf("the client did not get to its point: %w", err)
}

// await polls without a pause: a millisecond counts.
func (b *bed) await(ctx context.Context, killed time.Time, process string, session uint32, r *result) error {
	for {
		status, err := b.ask(ctx)
		if err != nil {
			return err
		}
		now := time.Since(killed)
		time.Sleep(100 * time.Microsecond)
		left := leftOf(status, process, session)
		r.hadWriter = r.hadWriter || left.writers > 0
		if r.reclaim == 0 && left.session == 0 {
			r.reclaim = now
		}
		if left.session == 0 && left.writers == 0 {
			r.writer = now
			return nil
		}
		if now > reclaimLimit {
			return fmt.Errorf("%v after the kill session %d still has %+v", now, session, left)
		}
	}
}

// left is what the daemon still has of a client.
type left struct {
	session, writers int
}

func leftOf(s *pb.GetStatusResponse, process string, session uint32) (l left) {
	for _, x := range s.GetSessions() {
		if x.GetClientName() == "tm-"+process {
			l.session++
		}
	}
	for _, x := range s.GetLeases() {
		if session != 0 && x.GetSessionId() == session {
			l.session++
		}
	}
	for _, a := range s.GetAccounts() {
		for _, o := range a.GetOwners() {
			switch {
			case a.GetProcess() != "tm-"+process:
			case o.GetWriterId() == 0:
				l.session++
			default:
				l.writers++
			}
		}
	}
	return l
}
