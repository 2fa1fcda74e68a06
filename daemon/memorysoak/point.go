package memorysoak

import "fmt"

// point is where a client dies.
type point int

const (
	// connected: before Hello.
	connected point = iota
	// halfHello: in the middle of the frame.
	halfHello
	// opened: a session and nothing else.
	opened
	// halfLease: in the middle of a lease frame.
	halfLease
	// leaseAsked: the lease may be granted at this moment, before or after the death.
	leaseAsked
	// leased: segments, no slot.
	leased
	// reserved: a slot is taken.
	reserved
	// described: some stores of the descriptor are made, others not.
	described
	// parked: batches wait to be taken.
	parked
	// scribbled: random words in every slot, and random bytes in the segments.
	scribbled
	// writing: a writer submits batches without a pause; each may be parked, claimed, read or settled.
	writing

	points
)

var pointNames = [points]string{"connected", "half_hello", "opened", "half_lease", "lease_asked", "leased", "reserved", "described",
	"parked", "scribbled", "writing"}

func (p point) String() string { return pointNames[p] }

func pointOf(name string) (point, error) {
	for p, n := range pointNames {
		if n == name {
			return point(p), nil
		}
	}
	return 0, fmt.Errorf("no point %q", name)
}
