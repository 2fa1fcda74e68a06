// Package memctl decides who may hold how much memory. A Ledger has one Account for each TaskManager process; all sessions, jobs
// and writers of the process share it, and its capacity is the one setting BudgetSetting. Every reservation has an Owner and a
// Purpose; it is granted before the memory exists and returned after the memory is gone, at the latest with its owner.
//
// Fairness: each owner has a minimum that nobody else can take, the rest of the capacity floats. An owner whose minimum does not fit
// is not let in, so that an owner that is in always gets its minimum.
//
// Three layers, one file each: books (pure arithmetic, one step for each operation, no lock and no clock), Ledger, Account and Share
// (the same steps under one mutex, which is a leaf: nothing else is locked and nobody is called under it), and waiting (what a
// reservation that does not fit does before it is denied: it asks the relievers, then waits for returns until its context ends).
//
// The package keeps books and nothing else: it allocates no memory of the kind that it counts. With the build tag invariants the
// steps prove the books; tests run with it.
package memctl
