package history

import (
	"context"
	"flag"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
)

// declinedFlag is how many checkpoints fail one after the other. Each leaves a sealed transaction, and every other one a hole in the
// ids, which the daemon has to fill.
var declinedFlag = flag.Int("declined", 16, "declined checkpoints in a row")

// TestProbingFindsWhatDeclinedCheckpointsLeave is E9 of kafka.md with a real daemon: the job dies after very many declined checkpoints,
// once before and once after the next one is complete. Then all that was sealed is aborted, or committed, and nothing stays open.
func TestProbingFindsWhatDeclinedCheckpointsLeave(t *testing.T) {
	binary, err := filepath.Abs("../../build/penstockd")
	if err != nil {
		t.Fatal(err)
	}
	w, err := newWorld(context.Background(), binary, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { w.close() }()
	for name, complete := range map[string]bool{"none completes": false, "the next one completes": true} {
		t.Run(name, func(t *testing.T) {
			j := newJob(t, w, strings.ReplaceAll(name, " ", "-"))
			must(t, j.restore(1))
			must(t, j.play(operation{kind: Plain}, nil))
			for n := range *declinedFlag {
				must(t, j.produceSomething())
				must(t, j.seal())
				if n%2 == 1 {
					j.number++ // skipped: its barrier reached nobody
				}
				must(t, j.begin(j.number))
			}
			if complete {
				must(t, j.produceSomething())
				must(t, j.seal())
				if due := j.complete(); len(due) != *declinedFlag+1 {
					t.Errorf("the checkpoint holds %d committables, want %d", len(due), *declinedFlag+1)
				}
				must(t, j.begin(j.number))
			}
			must(t, j.produceSomething())
			w.daemon.kill()
			if open := openTransactions(t, j); len(open) < *declinedFlag {
				t.Fatalf("%d transactions are open after the crash, at least %d were sealed", len(open), *declinedFlag)
			}
			must(t, j.restore(1))
			if open := openTransactions(t, j); len(open) > 0 {
				t.Errorf("after the restore these are still open: %v", open)
			}
			must(t, j.last())
			all := &tally{}
			must(t, j.judge(all))
			must(t, all.fault())
		})
	}
}

// newJob makes a job on a topic of its own; the test closes it.
func newJob(t *testing.T, w *world, name string) *job {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), judgeLimit)
	defer cancel()
	must(t, w.broker.CreateTopic(ctx, name, partitions, nil))
	transactions, err := newTransactions(w.broker.Addr())
	must(t, err)
	j := &job{t: t, world: w, transactions: transactions, topic: name, prefix: name, rng: randomOf(1, 0, 0)}
	t.Cleanup(func() {
		j.stop()
		j.closeManagers()
		transactions.close()
	})
	return j
}

// produceSomething is one row, so that the epoch has a transaction.
func (j *job) produceSomething() error {
	return try(func() {
		j.writers[0].submit(j.at[0], 1)
		j.at[0]++
	})
}

// openTransactions are the ids of the job whose transaction is open at the broker, once the markers of ended ones are written.
func openTransactions(t *testing.T, j *job) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	admin := kadm.NewClient(j.transactions.client)
	for {
		listed, err := admin.ListTransactions(ctx, nil, []string{"Ongoing", "PrepareCommit", "PrepareAbort"})
		must(t, err)
		var open []string
		ending := false
		for _, one := range listed.Sorted() {
			if strings.HasPrefix(one.TxnID, j.prefix+"-") {
				open = append(open, one.TxnID)
				ending = ending || one.State != "Ongoing"
			}
		}
		if !ending {
			return open
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
