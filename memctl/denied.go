package memctl

import "fmt"

// BudgetSetting is the Flink option from which an account's budget comes.
const BudgetSetting = "taskmanager.memory.task.off-heap.size"

// DeniedError says that an account has no room. It maps to DENIED; nothing was changed, and the same request may succeed
// when another consumer of the process returns memory. Sizes are in bytes.
type DeniedError struct {
	// Process is the client's own name for itself, for logs.
	Process   string
	Session   uint32
	Consumer  string
	Requested uint64
	Reserved  uint64
	Capacity  uint64
	// Peak is the most that was ever reserved at one time.
	Peak uint64
}

// Error names the consumer, all numbers and the setting to raise.
func (e *DeniedError) Error() string {
	return fmt.Sprintf("memory denied: %q (session %d of %s) asked for %d bytes; %d of %d bytes are reserved, peak %d; raise %s "+
		"to at least %s, or run fewer sinks in this TaskManager",
		e.Consumer, e.Session, e.Process, e.Requested, e.Reserved, e.Capacity, e.Peak, BudgetSetting, needed(e.Reserved, e.Requested))
}

// needed is the budget that would have sufficed.
func needed(reserved, requested uint64) string {
	sum := reserved + requested
	if sum < reserved {
		return "more than any machine has"
	}
	return fmt.Sprintf("%d bytes", sum)
}
