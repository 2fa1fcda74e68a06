package history

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// freeze is the least time that a node stands still: a job that finds its TaskManagers dead needs longer until its next checkpoint.
const freeze = 2500 * time.Millisecond

// restoreAttempts bounds how often a job is restored for one operation.
const restoreAttempts = 10

// breaks tells whether the operation ends the attempt.
func (op operation) breaks() bool {
	switch op.kind {
	case HalfCommit, TaskFailure, TaskManagerKill, DaemonKill, DaemonStopAndTaskManagerKill, RescaleAfterFailure,
		NodeFreeze, JobManagerFailover:
		return true
	}
	return false
}

// excuses tells whether an attempt may fail because of the operation.
func (op operation) excuses() bool { return op.breaks() || op.kind == BrokerRestart }

// round plays one operation and returns when a checkpoint after it is complete. failures are those of attempts that the operation
// does not excuse; an error is the end of the history.
func (j *job) round(op operation, rng *rand.Rand) (failures []error, err error) {
	j.rng = rng
	struck := j.strike(op)
	failure := j.play(op, struck)
	if err := struck.wait(); err != nil {
		return nil, fmt.Errorf("%s: %w", op.kind, err)
	}
	if failure == nil && !op.breaks() {
		return nil, nil
	}
	if failure != nil && !op.excuses() {
		failures = append(failures, failure)
	}
	return j.comeBack(op, failures)
}

// comeBack restores the job until a checkpoint is complete.
func (j *job) comeBack(op operation, failures []error) ([]error, error) {
	parallelism, next, f := j.parallelism, operation{kind: Plain}, (*fault)(nil)
	switch op.kind {
	case RescaleAfterFailure:
		parallelism = op.parallelism
	case JobManagerFailover:
		j.nextJobManager(op.length)
	case NodeFreeze:
		defer j.world.endFrozen()
		if err := j.world.leave(); err != nil {
			return failures, err
		}
		old, thaw := j.world.frozen, time.Now().Add(freeze)
		next.kind, next.stage, next.length = NodeFreeze, afterSeal, op.length
		f = newFault(func() error {
			time.Sleep(time.Until(thaw))
			return old.goOn()
		})
		defer func() { _ = f.wait() }() // a daemon that has ended meanwhile has nothing to go on with
	}
	var failure error
	for range restoreAttempts {
		failure = j.restore(parallelism)
		if failure == nil {
			failure = j.play(next, f)
		}
		if failure == nil {
			return failures, nil
		}
		failures = append(failures, fmt.Errorf("after %s: %w", op.kind, failure))
		time.Sleep(100 * time.Millisecond)
	}
	return failures, fmt.Errorf("the job does not come back after %s: %w", op.kind, failure)
}

// play is one round as long as nothing breaks. The fault, when there is one, is told how far the round is.
func (j *job) play(op operation, f *fault) error {
	reached := func(s stage) {
		if f != nil && s == op.stage {
			f.reached()
		}
	}
	reached(beforeRows)
	if err := j.produce(); err != nil {
		return err
	}
	if err := j.commit(j.uncommitted); err != nil {
		return err
	}
	j.uncommitted = nil
	reached(afterRows)
	switch op.kind {
	case Skipped:
		j.number += op.skipped
	case Declined:
		if err := j.declined(); err != nil {
			return err
		}
	case CancelAndRestore:
		return j.cancelAndRestore()
	}
	if err := j.seal(); err != nil {
		return err
	}
	reached(afterSeal)
	if op.kind == NodeFreeze && j.world.frozen != nil {
		if err := f.wait(); err != nil {
			return err
		}
		// What the old node had on its way shall arrive before the commit.
		time.Sleep(op.length)
		return j.afterCheckpoint(op)
	}
	if op.breaks() && op.stage == afterSeal && op.victim%2 == 0 {
		return errors.New("the job fails before the checkpoint is complete")
	}
	return j.afterCheckpoint(op)
}

// declined is a checkpoint that all writers sealed and that is not completed, and the rows after it.
func (j *job) declined() error {
	if err := j.seal(); err != nil {
		return err
	}
	if err := j.begin(j.number); err != nil {
		return err
	}
	return j.produce()
}

// afterCheckpoint completes the checkpoint, commits it and begins the next epochs.
func (j *job) afterCheckpoint(op operation) error {
	due := j.complete()
	switch op.kind {
	case LateCommit:
		j.uncommitted = due
		return j.begin(j.number)
	case HalfCommit:
		if err := j.commit(due[:len(due)/2]); err != nil {
			return err
		}
		return errors.New("the job fails between two commits")
	case RepeatedCommit:
		if err := j.commit(due); err != nil {
			return err
		}
	}
	if err := j.commit(due); err != nil {
		return err
	}
	if op.kind != Savepoint && op.kind != Rescale {
		return j.begin(j.number)
	}
	if err := j.finish(); err != nil {
		return err
	}
	j.closeManagers()
	parallelism := j.parallelism
	if op.kind == Rescale {
		parallelism = op.parallelism
	}
	j.nextJob()
	return j.restore(parallelism)
}

// cancelAndRestore starts a new job from the retained checkpoint, which leaves the rows after it to be read again.
func (j *job) cancelAndRestore() error {
	if err := j.finish(); err != nil {
		return err
	}
	j.closeManagers()
	j.nextJob()
	if err := j.restore(j.parallelism); err != nil {
		return err
	}
	return j.play(operation{kind: Plain}, nil)
}
