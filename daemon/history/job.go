package history

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

// job is a job with its source, its coordinator and its committer.
type job struct {
	t             testing.TB
	world         *world
	transactions  *transactions
	topic, prefix string
	rng           *rand.Rand
	// managers by subtask; nil or dead ones are replaced by the next attempt.
	managers [maxParallelism]*taskManager
	// managersOpened numbers them.
	managersOpened int

	// jobs counts the jobs that ran one after the other; attempts those of the one that runs, as its JobManager counts them.
	jobs     int
	attempts uint32
	// attempt holds what ends with a failure of the job; writers are its subtasks.
	attempt     *trial
	writers     []*writer
	parallelism int
	at          offsets
	// lineSeals counts the seals that took a line.
	lineSeals atomic.Int64
	// number is that of the last checkpoint that was triggered.
	number int
	// pending are committables that no completed checkpoint holds yet.
	pending []committable
	// uncommitted are those of a completed checkpoint whose commit is late.
	uncommitted []committable
	// done is the last completed checkpoint.
	done checkpoint
}

// restore starts an attempt from the last completed checkpoint, as Flink does: committer, aborter, writers.
func (j *job) restore(parallelism int) error {
	j.stop()
	if !j.world.daemon.alive() {
		j.closeManagers()
		if err := j.world.startDaemon(); err != nil {
			return err
		}
	}
	j.at, j.pending, j.uncommitted = j.done.offsets, nil, nil
	for _, c := range j.done.pending {
		if err := j.transactions.commit(c); err != nil {
			return err
		}
	}
	if err := j.abortLingering(); err != nil {
		return err
	}
	j.attempt, j.parallelism = newTrial(j.t), parallelism
	j.attempts++
	for subtask := range parallelism {
		if err := j.openWriter(subtask); err != nil {
			return err
		}
	}
	return j.begin(j.done.number)
}

// abortLingering walks the ids of every subtask that may have been, up to the first one that was never used.
func (j *job) abortLingering() error {
	for subtask := range maxParallelism {
		for n := j.done.number + 1; ; n++ {
			used, err := j.transactions.abort(transactionalID(j.prefix, subtask, n))
			if err != nil {
				return err
			}
			if !used {
				break
			}
		}
	}
	return nil
}

func (j *job) openWriter(subtask int) error {
	tm := j.managers[subtask]
	if tm == nil || tm.dead.Load() {
		if tm != nil {
			tm.close()
			j.managers[subtask] = nil
		}
		j.managersOpened++
		var err error
		tm, err = openTaskManager(j.t, j.world.daemon, fmt.Sprintf("%s-%d", j.prefix, j.managersOpened))
		if err != nil {
			return err
		}
		j.managers[subtask] = tm
	}
	tm.rewind()
	return try(func() {
		w := &writer{tm: tm, subtask: subtask, lineSeals: &j.lineSeals}
		w.stream = newStream(j.attempt, tm, j.openRequest(tm, subtask))
		j.writers = append(j.writers, w)
	})
}

// nextJob makes the next attempt that of another job.
func (j *job) nextJob() { j.jobs, j.attempts = j.jobs+1, 0 }

// nextJobManager forgets how many attempts there were. The tasks of this one run on until they are cancelled after the time, beside those
// that the next JobManager starts.
func (j *job) nextJobManager(cancelled time.Duration) {
	time.AfterFunc(cancelled, j.attempt.close)
	j.attempt, j.writers, j.attempts = nil, nil, 0
}

// stop ends the attempt as a failure or a cancellation does: its streams end, sessions live on.
func (j *job) stop() {
	if j.attempt != nil {
		j.attempt.close()
	}
	j.attempt, j.writers = nil, nil
}

func (j *job) closeManagers() {
	for i, tm := range j.managers {
		if tm != nil {
			tm.close()
			j.managers[i] = nil
		}
	}
}

// begin opens the epochs after a checkpoint.
func (j *job) begin(number int) error {
	j.number = max(j.number, number)
	warm := j.rng.IntN(4) > 0
	return together(len(j.writers), func(i int) { j.writers[i].begin(j.prefix, number, warm) })
}

// produce reads some rows of every split. Some subtasks get none, so that there are empty epochs.
func (j *job) produce() error {
	return try(func() {
		for _, w := range j.writers {
			if j.rng.IntN(8) == 0 {
				continue
			}
			for split := w.subtask; split < splits; split += j.parallelism {
				for range j.rng.IntN(4) {
					count := 1 + j.rng.IntN(batchRows)
					w.submit(split*splitRows+j.at[split], count)
					j.at[split] += count
				}
			}
		}
	})
}

// seal is the barrier of the next checkpoint at every writer.
func (j *job) seal() error {
	j.number++
	sealed := make([][]committable, len(j.writers))
	err := together(len(j.writers), func(i int) { sealed[i] = j.writers[i].seal() })
	if err == nil {
		j.pending = append(j.pending, slices.Concat(sealed...)...)
	}
	return err
}

// complete makes the last sealed checkpoint the one to restore from. It returns what is to be committed now.
func (j *job) complete() []committable {
	j.pending = append(j.uncommitted, j.pending...)
	j.done = checkpoint{j.number, j.parallelism, j.at, j.pending}
	due := j.pending
	j.pending, j.uncommitted = nil, nil
	return due
}

func (j *job) commit(due []committable) error {
	for _, c := range due {
		if err := j.transactions.commit(c); err != nil {
			return err
		}
	}
	return nil
}

// finish closes every stream in order and waits for the daemon to end it.
func (j *job) finish() error {
	err := try(func() {
		for _, w := range j.writers {
			if err := w.stream.Close(); err.Error() != "EOF" {
				panic(broken{fmt.Sprintf("the stream of subtask %d ends with %v", w.subtask, err)})
			}
		}
	})
	j.stop()
	return err
}
