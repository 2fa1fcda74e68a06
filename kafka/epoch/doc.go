// Package epoch drives the producers of one sink writer from epoch to epoch. One epoch is what a writer produces between
// two checkpoints; with exactly-once it is one transaction of one producer that is used once.
//
// Machine decides and does nothing else: no I/O, no clock, no goroutine. Writer runs it against a producer.Engine.
//
// # The current epoch
//
//	         begin                  init ok, gaps filled           begun
//	 Idle ----------> Warming ---------------------> Ready ------------> Open
//	  ^                  | init failed                  | refused          | produced, flushed: stays Open
//	  |                  v                              v                  |
//	  |               Failed <------------------------------- failure ----+
//	  |                                                                    | seal, rows > 0
//	  | begin (from Sealed as from Idle)                                   v
//	Sealed <------------------------ proven ----------------------- Sealing --- refused ---> Failed
//
//	seal with rows = 0: Open -> Sealed at once, the producer is discarded, there is nothing to commit
//	abort:              Open -> Idle
//	end:                any  -> Released; unsealed with rows: aborted; unsealed without: discarded; sealed: left alone
//
// Failed is final: every later request is answered with the first failure.
//
// # The next epoch
//
// Beside it there is a warm pool of depth one. Initialising an id takes up to half a second and must not sit on the path of
// a checkpoint barrier:
//
//	Idle -- warm(id) --> Warming -- init ok --> Ready -- begin(id) --> becomes the current epoch
//	                        | init failed: Idle, begin tries again
//	                        | another id asked for: discarded, when its initialisation has ended
//
// It begins a moment after it is asked for, or when begin waits for it: see awaitCalm.
//
// # Rules
//
//   - One initialisation of a writer is under way at any time, and each needs the writer's lease: once it was given up, or the
//     process stood still for long, nothing of it is sent any more (kafka.md A2; package lease).
//   - An id has one owner in this process: see Owners.
//   - A transaction that is almost as old as its timeout fails, before the broker aborts it (A10).
//   - An id that was sealed here is never initialised again: that would abort the transaction that Flink is about to commit,
//     and the commit would be dropped in silence.
//   - Ids of skipped checkpoints are initialised and left empty, all of them before the epoch's own id is used, so that the chain of
//     ids has no hole for Flink's probing clean-up (kafka.md A8). Their order does not matter: nothing lingers behind them yet. A warm
//     id that was discarded is initialised and needs nothing more.
//   - A producer serves one epoch.
//
// AT_LEAST_ONCE and NONE use one plain producer for all epochs and go through Idle, Ready,
// Open, Failed and Released only.
package epoch
