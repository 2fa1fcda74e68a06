package memctl

import (
	"fmt"
	"strings"
	"time"
)

// BudgetSetting is the Flink option from which an account's capacity comes.
const BudgetSetting = "taskmanager.memory.task.off-heap.size"

// DeniedError says that an account has no room. It maps to DENIED; nothing was changed, and the same request may succeed
// when another consumer of the process returns memory. Sizes are in bytes.
type DeniedError struct {
	// Process is the client's own name for itself, for logs.
	Process string
	// Consumer is who asked, and Purpose what for.
	Consumer  Owner
	Purpose   Purpose
	Requested uint64
	// Reserved is what all owners of the account hold, and By the same by purpose.
	Reserved uint64
	By       Amounts
	// Promised is what other owners may still take of their minimum.
	Promised uint64
	Capacity uint64
	// Peak is the most that was ever reserved at one time.
	Peak uint64
	// Setting is the option to raise: BudgetSetting.
	Setting string
	// Waited is for how long the request waited for memory to come back.
	Waited time.Duration
}

// Error names the consumer, all numbers and the setting to raise.
func (e *DeniedError) Error() string {
	return fmt.Sprintf("memory denied: %s of %s asked for %d bytes (%v)%s; %d of %d bytes are reserved (%s)%s, peak %d; raise %s to at "+
		"least %s, or run fewer sinks in this TaskManager",
		e.Consumer, e.Process, e.Requested, e.Purpose, e.waitedInWords(), e.Reserved, e.Capacity, e.byInWords(), e.promisedInWords(),
		e.Peak, e.Setting, needed(e.Reserved, e.Promised, e.Requested))
}

func (e *DeniedError) waitedInWords() string {
	if e.Waited == 0 {
		return ""
	}
	return fmt.Sprintf(" and waited %v", e.Waited.Round(time.Millisecond))
}

func (e *DeniedError) promisedInWords() string {
	if e.Promised == 0 {
		return ""
	}
	return fmt.Sprintf(" and %d are kept for other consumers", e.Promised)
}

func (e *DeniedError) byInWords() string {
	var parts []string
	for _, p := range Purposes() {
		if e.By[p] != 0 {
			parts = append(parts, fmt.Sprintf("%v %d", p, e.By[p]))
		}
	}
	if parts == nil {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}

// needed is the capacity that would have sufficed.
func needed(parts ...uint64) string {
	var sum uint64
	for _, part := range parts {
		if sum += part; sum < part {
			return "more than any machine has"
		}
	}
	return fmt.Sprintf("%d bytes", sum)
}
