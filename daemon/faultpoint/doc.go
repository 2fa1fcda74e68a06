// Package faultpoint names the places at which a test makes the daemon die, hang, wait or fail. Without the build tag faultpoints,
// as in every release, each place is an empty function that the compiler leaves out; with it (`make daemon-faults`) a file says what
// happens where:
//
//	PENSTOCK_FAULTPOINTS=/path/to/rules penstockd-faults run ...
//
//	# one rule a line: place, action, and what else there is to say
//	after-flush kill after=2         # pass twice, then SIGKILL
//	in-claim delay for=50ms times=10 chance=0.1
//
// The actions are kill and stop (SIGKILL and SIGSTOP to itself), delay (for=, 1 s by default), error, and leak: a thread, a descriptor
// and 1 MiB that nobody gives back. A rule acts once unless times=
// says how often. The file is read at each place, so that a test can change it; what a rule has done is forgotten when it changes.
package faultpoint
