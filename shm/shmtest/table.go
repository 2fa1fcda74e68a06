package shmtest

import "encoding/binary"

// TableOf is the view of a table segment that was mapped from a descriptor, in the name of a session: what a client in another
// process has after its Welcome.
func TableOf(s *Segment, session uint32) *Table {
	le := binary.LittleEndian
	return &Table{s, session, le.Uint32(s.Mem[56:]), le.Uint32(s.Mem[60:])}
}
