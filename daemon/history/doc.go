// Package history runs random histories against one model: a job of one to three sink writers, a real daemon and a real
// broker, and at the end a reader that sees only committed records and must find every row exactly once, byte for byte.
//
// A round is one random operation (see Kind) together with the rows and the one completed checkpoint around it. A round whose
// operation breaks the job ends with the restore of the last completed checkpoint, the replay of the rows after it, and a
// checkpoint of these. A history is Rounds rounds on a topic of its own and ends with a bounded final phase: rows, a checkpoint, its
// commit, and an orderly close. After that nothing may be missing, and nothing may be there twice.
//
// The job is played by the driver: it counts rows like a source that can be replayed, numbers checkpoints, keeps committables until a
// checkpoint is complete, commits them with raw EndTxn requests as Flink's committer does, and aborts lingering transactions
// by initialising their ids as Flink's writer does. What the job level of the soak (integration/flink, package soak) has from
// Flink itself is this driver's own here, so that a round takes a fraction of a second.
//
// Everything random comes from the seed: operations, moments, durations, numbers of rows. What the scheduler of the machine
// makes of a moment does not, so that a seed replays the history, but not its timing.
package history
