package session

import (
	"context"

	"penstock.dev/penstock/memctl"
)

// Relieve implements memctl.Reliever: it asks the sessions of the process for the segments that they do not use. A session whose own
// lease waits is not asked: it has looked for room in its segments before, and can return nothing before it has its answer.
func (s *Server) Relieve(_ context.Context, a *memctl.Account, who memctl.Owner, _ uint64) {
	for _, x := range s.All() {
		if x.Account() == a && (who.Writer != 0 || who.Session != x.id) {
			x.table.Press()
			s.options.Counters.Pressed.Add(1)
		}
	}
}
