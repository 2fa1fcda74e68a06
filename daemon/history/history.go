package history

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"penstock.dev/penstock/daemon/daemontest"
)

// judgeLimit bounds the reader at the end of a history; it fails when a transaction was left open.
const judgeLimit = 60 * time.Second

// partitions of each topic.
const partitions = 3

// tally adds up histories.
type tally struct {
	rounds, rows, lost, duplicated, foreign int
	operations                              map[Kind]int
	// lineSeals counts the seals that were asked and answered on a line.
	lineSeals int64
	// refused counts the commits that the broker refused for good.
	refused int
	// failures are those of attempts that no operation excuses.
	failures []error
}

// fault is everything that is wrong with the result, nil when it is good. Nothing initialises an id between its seal and its commit, so that
// a refused commit is a fault even where no row is lost by it; so is a restart that nothing explains, for which a user pays.
func (t *tally) fault() error {
	var all []error
	if t.lost+t.duplicated+t.foreign > 0 {
		all = append(all, fmt.Errorf("%d lost, %d duplicated, %d that nobody wrote of %d rows", t.lost, t.duplicated, t.foreign, t.rows))
	}
	if t.lineSeals == 0 {
		all = append(all, errors.New("no seal took a line"))
	}
	if t.refused > 0 {
		all = append(all, fmt.Errorf("the broker refused %d commits", t.refused))
	}
	for _, failure := range t.failures {
		all = append(all, fmt.Errorf("an attempt failed without an excuse: %w", failure))
	}
	return errors.Join(all...)
}

// play runs one history of so many rounds. seed and number give everything random in it. An error means that the history could not be
// brought to its end or that its verdict is bad.
func play(t testing.TB, w *world, seed uint64, number, rounds int, into *tally) error {
	ctx, cancel := context.WithTimeout(context.Background(), judgeLimit)
	defer cancel()
	name := fmt.Sprintf("history-%d-%d", seed, number)
	if err := w.broker.CreateTopic(ctx, name, partitions, nil); err != nil {
		return err
	}
	transactions, err := newTransactions(w.broker.Addr())
	if err != nil {
		return err
	}
	defer transactions.close()
	j := &job{t: t, world: w, transactions: transactions, topic: name, prefix: name, rng: randomOf(seed, number, -1)}
	defer j.closeManagers()
	defer j.stop()
	if err := j.restore(1 + j.rng.IntN(maxParallelism)); err != nil {
		return err
	}
	for round := range rounds {
		rng := randomOf(seed, number, round)
		op := draw(rng)
		failures, err := j.round(op, rng)
		for _, failure := range failures {
			into.failures = append(into.failures, fmt.Errorf("history %d, round %d, %s: %w", number, round, op.kind, failure))
		}
		if err != nil {
			return fmt.Errorf("history %d, round %d: %w", number, round, err)
		}
		into.rounds++
		into.operations[op.kind]++
	}
	if err := j.last(); err != nil {
		return fmt.Errorf("history %d, final phase: %w", number, err)
	}
	return j.judge(into)
}

// randomOf gives every round a source of its own, so that what a failed attempt draws does not change the rounds behind it.
func randomOf(seed uint64, number, round int) *rand.Rand {
	return rand.New(rand.NewPCG(seed, uint64(number)<<32|uint64(round+1)))
}

// last is the final phase: whatever is left is read, sealed, committed and closed.
func (j *job) last() error {
	if err := j.produce(); err != nil {
		return err
	}
	if err := j.seal(); err != nil {
		return err
	}
	if err := j.commit(j.complete()); err != nil {
		return err
	}
	return j.finish()
}

func (j *job) judge(into *tally) error {
	ctx, cancel := context.WithTimeout(context.Background(), judgeLimit)
	defer cancel()
	rows := 0
	for _, n := range j.at {
		rows += n
	}
	records, err := j.world.broker.CommittedRecords(ctx, j.topic, rows)
	if err != nil {
		return fmt.Errorf("reading %s: %w", j.topic, err)
	}
	values := make([]string, len(records))
	for i, r := range records {
		values[i] = string(r.Value)
	}
	v := judge(values, j.at, daemontest.JSON)
	into.refused += j.transactions.refused
	into.lineSeals += j.lineSeals.Load()
	into.rows += v.rows
	into.lost += v.lost
	into.duplicated += v.duplicated
	into.foreign += v.foreign
	if len(v.examples) > 0 {
		return fmt.Errorf("%s: %d lost, %d duplicated, %d that nobody wrote of %d rows: %v", j.topic, v.lost, v.duplicated, v.foreign,
			v.rows, v.examples)
	}
	return nil
}
