package history

import (
	"math/rand/v2"
	"time"
)

// Kind is what happens in a round, beside its rows and its checkpoint.
type Kind string

// The kinds of operations.
const (
	// Plain is rows and a checkpoint.
	Plain Kind = "checkpoint"
	// Declined: a checkpoint that every writer sealed is not completed; its committables wait for the next one.
	Declined Kind = "declined_checkpoint"
	// Skipped: a checkpoint is given up before its barrier reaches a writer, which leaves a hole in the ids.
	Skipped Kind = "skipped_checkpoint"
	// LateCommit: the next epoch begins and produces before the checkpoint is committed.
	LateCommit Kind = "late_commit"
	// RepeatedCommit: the committer sends every commit twice.
	RepeatedCommit Kind = "repeated_commit"
	// HalfCommit: the job dies after some of a completed checkpoint's transactions were committed.
	HalfCommit Kind = "half_commit"
	// TaskFailure: one writer's stream breaks; its session lives on.
	TaskFailure Kind = "task_failure"
	// TaskManagerKill: the connections of one TaskManager end as by SIGKILL.
	TaskManagerKill Kind = "taskmanager_kill"
	// DaemonKill is SIGKILL.
	DaemonKill Kind = "daemon_kill"
	// DaemonStop is SIGSTOP and, after a while, SIGCONT.
	DaemonStop Kind = "daemon_stop"
	// DaemonStopAndTaskManagerKill: a TaskManager dies while the daemon sleeps.
	DaemonStopAndTaskManagerKill Kind = "daemon_stop_taskmanager_kill"
	// NodeFreeze: daemon and TaskManagers of a node stand still, the job goes on at another node, and the old daemon wakes up between the
	// seal and the commit of the next checkpoint.
	NodeFreeze Kind = "node_freeze"
	// BrokerStop is SIGSTOP and, after a while, SIGCONT.
	BrokerStop Kind = "broker_stop"
	// BrokerRestart is SIGKILL and a new process on the same data.
	BrokerRestart Kind = "broker_restart"
	// JobManagerFailover: another JobManager restores the job while the tasks of the old one are still being cancelled, and counts their
	// attempts from the first again.
	JobManagerFailover Kind = "jobmanager_failover"
	// CancelAndRestore: the job is cancelled and a new one starts from the retained checkpoint.
	CancelAndRestore Kind = "cancel_and_restore"
	// Savepoint: stop-with-savepoint and a new job from it, with new sessions.
	Savepoint Kind = "stop_with_savepoint"
	// Rescale: stop-with-savepoint and a new job with another number of writers.
	Rescale Kind = "rescale"
	// RescaleAfterFailure: a TaskManager dies, and the job comes back with another number of writers.
	RescaleAfterFailure Kind = "rescale_after_failure"
)

// weights say how often each kind is drawn. What takes seconds is rare.
var weights = []struct {
	kind   Kind
	weight int
}{
	{Plain, 120}, {Declined, 80}, {Skipped, 60}, {LateCommit, 60}, {RepeatedCommit, 40}, {HalfCommit, 60}, {TaskFailure, 80},
	{TaskManagerKill, 100}, {DaemonKill, 100}, {DaemonStop, 50}, {DaemonStopAndTaskManagerKill, 40}, {NodeFreeze, 12},
	{BrokerStop, 40}, {BrokerRestart, 4}, {CancelAndRestore, 50}, {Savepoint, 40}, {Rescale, 50}, {RescaleAfterFailure, 40},
	{JobManagerFailover, 40},
}

// stage is a moment of a round.
type stage int

// The moments at which a fault can strike.
const (
	beforeRows stage = iota
	afterRows
	afterSeal
	stages
)

// operation is one drawn operation.
type operation struct {
	kind  Kind
	stage stage
	// delay is the time from the stage to the fault, so that it strikes in the middle of something.
	delay time.Duration
	// length is how long a process sleeps.
	length time.Duration
	// victim chooses among what there is, modulo its number.
	victim int
	// parallelism of a rescaled job.
	parallelism int
	// skipped checkpoints.
	skipped int
}

func draw(rng *rand.Rand) operation {
	total := 0
	for _, w := range weights {
		total += w.weight
	}
	op := operation{
		stage:       stage(rng.IntN(int(stages))),
		delay:       time.Duration(rng.IntN(20_000)) * time.Microsecond,
		length:      time.Duration(20+rng.IntN(400)) * time.Millisecond,
		victim:      rng.IntN(1 << 20),
		parallelism: 1 + rng.IntN(maxParallelism),
		skipped:     1 + rng.IntN(3),
	}
	at := rng.IntN(total)
	for _, w := range weights {
		if at -= w.weight; at < 0 {
			op.kind = w.kind
			break
		}
	}
	return op
}
