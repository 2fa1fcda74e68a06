// Package memctl decides who may hold how much shared memory. A Ledger has one Account for each TaskManager process; the
// sessions of one process share it. Bytes are reserved before the memory exists and returned in the name of the session
// that reserved them, after it is gone.
//
// The package keeps books and nothing else: it allocates nothing, waits for nothing and calls nobody. A denial is an answer
// that the caller passes on. The ledger's one mutex is a leaf: nothing else is locked under it.
package memctl
