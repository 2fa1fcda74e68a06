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
// # Rules
//
//   - At most one initialisation is under way at any time. So no late InitProducerId of an id that was given up can meet a
//     later one of the same id (kafka.md A2).
//   - An id that was sealed here is never initialised again: that would abort the transaction that Flink is about to commit,
//     and the commit would be dropped in silence.
//   - Ids of skipped checkpoints are initialised and left empty, in order, so that the chain of ids has no hole for Flink's
//     probing clean-up (kafka.md A8). A warm id that was discarded is initialised and needs nothing more.
//   - A producer serves one epoch.
//
// AT_LEAST_ONCE and NONE use one plain producer for all epochs and go through Idle, Ready,
// Open, Failed and Released only.
package epoch
