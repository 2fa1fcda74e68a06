package rdkafka_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"penstock.dev/penstock/kafka/epoch"
	"penstock.dev/penstock/kafka/producer/lease"
)

// oldAttemptEnv makes this test binary the daemon of an old attempt: it holds the bootstrap server and the prefix of the ids.
const oldAttemptEnv = "PENSTOCK_TEST_OLD_ATTEMPT"

// TestOldAttempt is that process. It begins the epoch of checkpoint 1, warms the id of checkpoint 2, goes on with
// checkpoint 3, and tells what came of it.
func TestOldAttempt(t *testing.T) {
	server, prefix, ok := strings.Cut(os.Getenv(oldAttemptEnv), " ")
	if !ok {
		return // an ordinary run of the tests
	}
	warmed := make(chan error, 2)
	w := epoch.NewWriter(epoch.Options{Engine: newEngine(t), Config: config(server), Transactional: true, WarmPool: true,
		Warmed: func(_ string, _ time.Duration, err error) { warmed <- err }})
	if _, err := w.Begin(testContext(t, time.Minute), 1, prefix+"-1", nil); err != nil {
		t.Fatal(err)
	}
	fmt.Println("warming")
	if err := w.Warm(prefix + "-2"); err != nil {
		t.Fatal(err)
	}
	fmt.Printf("warmed %v\n", <-warmed)
	// A client that is alive goes on: what it asks for after an answer is no request of before the stop.
	_, err := w.Seal(testContext(t, time.Minute), 0)
	if err == nil {
		_, err = w.Begin(testContext(t, time.Minute), 3, prefix+"-3", nil)
	}
	fmt.Printf("begun %v\n", err)
	time.Sleep(30 * time.Second) // the parent ends this process before
}

// oldAttempt starts the process and returns it, stopped, so long after it has begun to warm up.
func oldAttempt(t *testing.T, prefix string, after time.Duration) (process *os.Process, lines *bufio.Scanner) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run", "^TestOldAttempt$")
	cmd.Env = append(os.Environ(), oldAttemptEnv+"="+realBroker(t).Addr()+" "+prefix)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	lines = bufio.NewScanner(out)
	awaitLine(t, lines, "warming")
	time.Sleep(after)
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	return cmd.Process, lines
}

// awaitLine returns the rest of the first line that begins with word.
func awaitLine(t *testing.T, lines *bufio.Scanner, word string) string {
	t.Helper()
	for lines.Scan() {
		if rest, ok := strings.CutPrefix(lines.Text(), word); ok {
			return rest
		}
	}
	t.Fatalf("the old attempt has ended before %q", word)
	return ""
}

// TestResumedAttemptSendsNothing is A2 and E6 of kafka.md: the daemon of an old attempt is stopped while it warms up the id of the next
// checkpoint, a new attempt seals that id, and the old daemon goes on before the commit.
func TestResumedAttemptSendsNothing(t *testing.T) {
	b := realBroker(t)
	createTopic(t, b, "resumed", 1, nil)
	const perEpoch = 20
	cut := 0
	// The later ones are stopped further on their way to InitProducerId, or after it.
	waits := []time.Duration{0, 2 * time.Millisecond, 8 * time.Millisecond, 30 * time.Millisecond, 300 * time.Millisecond}
	for i, after := range waits {
		id := fmt.Sprintf("resumed%d-0-2", i)
		old, lines := oldAttempt(t, fmt.Sprintf("resumed%d-0", i), after)
		young := mustOpen(t, newEngine(t), config(b.Addr()), id)
		mustProduce(t, young, rows("resumed", id, perEpoch))
		sealed, err := young.Seal(testContext(t, 30*time.Second), perEpoch)
		if err != nil {
			t.Fatal(err)
		}
		who := sealed.Identity()
		sealed.Release()
		time.Sleep(lease.Length + 200*time.Millisecond)
		if err := old.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		said := awaitLine(t, lines, "warmed")
		t.Logf("stopped %v after the warm-up began: %s", after, said)
		wasCut := strings.Contains(said, "stood still")
		if wasCut {
			cut++
		}
		time.Sleep(300 * time.Millisecond) // what was let through would have arrived
		if err := b.EndTransaction(testContext(t, 30*time.Second), id, who.ProducerID, who.ProducerEpoch, true); err != nil {
			t.Errorf("stopped %v after the warm-up began: commit: %v", after, err)
		}
		// Else it was stopped further on, perhaps in the initialisation of that one.
		if begun := awaitLine(t, lines, "begun"); wasCut && begun != " <nil>" {
			t.Errorf("stopped %v after the warm-up began: the next epoch: %s", after, begun)
		}
		_ = old.Kill()
		awaitCommitted(t, "resumed", (i+1)*perEpoch)
	}
	if cut == 0 {
		t.Error("no initialisation was cut off: the test proves nothing")
	}
}

// TestCutOffInitialisationSendsNothing: when Init has returned with the end of its context, the id is never touched any more.
func TestCutOffInitialisationSendsNothing(t *testing.T) {
	b, e := realBroker(t), newEngine(t)
	cfg := config(b.Addr())
	mustOpen(t, e, cfg, "cut-warm").Discard() // the coordinator is up
	type cutOff struct{ id, before string }
	var cut []cutOff
	touched := 0
	for i := range 20 {
		id := fmt.Sprintf("cut-0-%d", i)
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(2*i)*time.Millisecond)
		ready, err := e.Init(ctx, cfg, id)
		cancel()
		if err == nil {
			ready.Discard()
			continue
		}
		// The broker may still be busy with a request that had left.
		time.Sleep(200 * time.Millisecond)
		cut = append(cut, cutOff{id, described(t, b.Addr(), id)})
	}
	time.Sleep(time.Second)
	for _, c := range cut {
		if after := described(t, b.Addr(), c.id); after != c.before {
			t.Errorf("%s: %q when Init had returned, %q later", c.id, c.before, after)
		}
		if c.before != "" {
			touched++
		}
	}
	t.Logf("%d initialisations cut off, %d of them after the request had left", len(cut), touched)
	if len(cut) == 0 {
		t.Error("no initialisation was cut off")
	}
}

// described is state and identity at the coordinator, "" when it does not know the id.
func described(t *testing.T, server, id string) string {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(server))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	all, err := kadm.NewClient(cl).DescribeTransactions(testContext(t, 20*time.Second), id)
	if err != nil {
		t.Fatal(err)
	}
	if txn := all[id]; txn.Err == nil {
		return fmt.Sprintf("%s %d/%d", txn.State, txn.ProducerID, txn.ProducerEpoch)
	}
	return ""
}
