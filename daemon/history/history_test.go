package history

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

var (
	roundsFlag = flag.Int("rounds", 20, "rounds to play")
	// The first rounds of this seed freeze a node, which is how rows were once lost, and lose a JobManager.
	seedFlag    = flag.Uint64("seed", 11, "where everything random comes from")
	historyFlag = flag.Int("history", -1, "play this history of the seed alone")
	outFlag     = flag.String("out", "", "file for the result")
)

// historyRounds is the length of a history.
const historyRounds = 50

func TestRandomHistories(t *testing.T) {
	binary, err := filepath.Abs("../../build/penstockd")
	if err != nil {
		t.Fatal(err)
	}
	w, err := newWorld(context.Background(), binary, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { w.close() }()
	start := time.Now()
	all := &tally{operations: map[Kind]int{}}
	for number, left := 0, *roundsFlag; left > 0; number, left = number+1, left-historyRounds {
		if *historyFlag >= 0 && number != *historyFlag {
			continue
		}
		if err := play(t, w, *seedFlag, number, min(left, historyRounds), all); err != nil {
			t.Errorf("%v\nreplay: make soak ROUNDS=%d SEED=%d HISTORY=%d", err, *roundsFlag, *seedFlag, number)
			break
		}
		t.Logf("history %d: %d rounds, %d rows, %v", number, all.rounds, all.rows, time.Since(start).Round(time.Second))
	}
	if err := all.fault(); err != nil {
		t.Errorf("seed %d: %v", *seedFlag, err)
	}
	finish(t, all, time.Since(start))
}

// finish writes the result and ends with its one line.
func finish(t *testing.T, all *tally, took time.Duration) {
	result := map[string]any{
		"seed": *seedFlag, "rounds": all.rounds, "rows": all.rows, "lost": all.lost, "duplicated": all.duplicated,
		"foreign": all.foreign, "refused_commits": all.refused, "line_seals": all.lineSeals, "failed_without_excuse": len(all.failures), "seconds": int(took.Seconds()), "operations": all.operations,
	}
	if *outFlag != "" {
		text, err := json.MarshalIndent(result, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(*outFlag, append(text, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	fmt.Printf("soak: %d rounds, %d rows, %d lost, %d duplicated, %d foreign; %d commits refused, %d attempts failed without an excuse; seed %d\n",
		all.rounds, all.rows, all.lost, all.duplicated, all.foreign, all.refused, len(all.failures), *seedFlag)
}
