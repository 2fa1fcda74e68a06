package epoch

import (
	"slices"

	"penstock.dev/penstock/kafka/producer"
)

// State is where an epoch stands; doc.go has the picture.
type State int

// The states. The warm pool uses only Idle, Warming and Ready.
const (
	Idle State = iota
	Warming
	Ready
	Open
	Sealing
	Sealed
	Failed
	Released
)

var stateNames = [...]string{"idle", "warming", "ready", "open", "sealing", "sealed", "failed", "released"}

// String is the name for status output.
func (s State) String() string { return stateNames[s] }

// ActionKind is what the driver is to do.
type ActionKind int

// The actions. The driver answers each with the input in brackets; those without one need no answer.
const (
	// StartInit initialises ID on its own goroutine [InitDone, InitFailed].
	StartInit ActionKind = iota
	// FillGaps initialises IDs, and nothing else, on its own goroutine [InitDone, InitFailed, of ID, the first of them].
	FillGaps
	// OpenPlain opens the producer without transactions [Begun, Fail].
	OpenPlain
	// Begin opens the transaction of the initialised ID [Begun, Fail].
	Begin
	// Flush proves that everything produced so far is acknowledged [Flushed, Fail].
	Flush
	// Seal proves the epoch [SealDone, Fail].
	Seal
	// Abort ends the transaction ID, or closes the plain producer [none: an abort that fails is left to Flink].
	Abort
	// Discard destroys the producer of ID and leaves its transaction as it is.
	Discard
	// Release destroys the producer of the sealed ID.
	Release
	// Reply answers the request that is waiting: success.
	Reply
)

var actionNames = [...]string{"StartInit", "FillGaps", "OpenPlain", "Begin", "Flush", "Seal", "Abort", "Discard", "Release",
	"Reply"}

// String is the name as the scripts of the tests spell it.
func (k ActionKind) String() string { return actionNames[k] }

// Action is one step for the driver. Actions are carried out in order.
type Action struct {
	Kind ActionKind
	ID   string
	IDs  []string
}

// sealedKept is how many sealed ids are remembered. A committable waits for at most as many checkpoints as Flink runs at
// the same time; this is far more.
const sealedKept = 4096

// Machine is the state of one writer. The zero value is not usable; see NewMachine. It is not safe for concurrent use.
type Machine struct {
	transactional bool

	state State
	epoch uint64
	id    string
	rows  int64
	gaps  []string // still to be filled before id begins
	held  bool     // the driver has an open producer for this epoch
	cause error    // why the state is Failed

	warm   State
	warmID string
	want   string // the id to warm when the initialisation under way has ended

	busy         string // the id whose initialisation is under way, "" when none
	busyForBegin bool   // Begin started it, so that its failure is that of the epoch

	sealed     map[string]struct{}
	sealedRing []string
	sealedNext int
}

// NewMachine makes the machine of a writer with transactions, or of one without.
func NewMachine(transactional bool) *Machine {
	return &Machine{transactional: transactional, sealed: map[string]struct{}{}}
}

// illegal is the answer to an input that the state does not allow.
func (m *Machine) illegal(input string) error {
	if m.state == Failed {
		return m.cause
	}
	return producer.Errorf(producer.BadRequest, "%s is not allowed while the epoch is %v (epoch %d, transaction %q)",
		input, m.state, m.epoch, m.id)
}

// Warm asks for id to be initialised ahead. Asking for the id that is warm already changes nothing.
func (m *Machine) Warm(id string) ([]Action, error) {
	switch {
	case !m.transactional || m.state == Failed || m.state == Released:
		return nil, m.illegal("warm")
	case id == "":
		return nil, producer.Errorf(producer.BadRequest, "warm without a transactional id")
	case m.isSealed(id):
		return nil, sealedAgain(id)
	case m.live(id):
		return nil, producer.Errorf(producer.BadRequest, "transaction %q is the current one and cannot be warmed", id)
	}
	if m.want == "" && m.warm != Idle && m.warmID == id {
		return nil, nil
	}
	m.want = id
	return m.next(), nil
}

// Begin starts an epoch. gaps are initialised first, in order.
func (m *Machine) Begin(epoch uint64, id string, gaps []string) ([]Action, error) {
	if !m.transactional {
		return m.beginPlain(epoch)
	}
	if m.state != Idle && m.state != Sealed {
		return nil, m.illegal("begin")
	}
	if id == "" {
		return nil, producer.Errorf(producer.BadRequest, "begin of epoch %d without a transactional id", epoch)
	}
	for _, each := range append(slices.Clone(gaps), id) {
		if m.isSealed(each) {
			return nil, sealedAgain(each)
		}
	}
	if slices.Contains(gaps, id) {
		return nil, producer.Errorf(producer.BadRequest, "transaction %q is both the epoch's and a gap", id)
	}
	m.state, m.epoch, m.id, m.rows, m.gaps = Warming, epoch, id, 0, slices.Clone(gaps)
	m.want = ""
	return m.next(), nil
}

func (m *Machine) beginPlain(epoch uint64) ([]Action, error) {
	switch m.state {
	case Idle:
		m.state, m.epoch, m.rows = Ready, epoch, 0
		return []Action{{Kind: OpenPlain}}, nil
	case Open:
		m.epoch, m.rows = epoch, 0
		return []Action{{Kind: Reply}}, nil
	default:
		return nil, m.illegal("begin")
	}
}

// next decides what may be started now. It does nothing while an initialisation is under way.
func (m *Machine) next() []Action {
	if m.busy != "" {
		return nil
	}
	if m.state == Warming {
		return m.nextForBegin()
	}
	if m.want == "" {
		return nil
	}
	var actions []Action
	if m.warm == Ready && m.warmID != m.want {
		actions = append(actions, Action{Kind: Discard, ID: m.warmID})
		m.warm = Idle
	}
	if m.warm == Ready {
		m.want = ""
		return actions
	}
	m.warm, m.warmID, m.want = Warming, m.want, ""
	m.busyForBegin = false
	return append(actions, m.start(StartInit, m.warmID))
}

// nextForBegin takes one step from Warming towards Ready.
func (m *Machine) nextForBegin() []Action {
	m.busyForBegin = true
	var actions []Action
	if m.warm == Ready && m.warmID != m.id {
		actions = append(actions, Action{Kind: Discard, ID: m.warmID})
		m.warm = Idle
		m.gaps = slices.DeleteFunc(m.gaps, func(gap string) bool { return gap == m.warmID })
	}
	if len(m.gaps) > 0 {
		fill := m.start(FillGaps, m.gaps[0])
		fill.IDs, m.gaps = m.gaps, nil
		return append(actions, fill)
	}
	if m.warm != Ready {
		m.warm, m.warmID = Warming, m.id
		return append(actions, m.start(StartInit, m.id))
	}
	m.warm, m.state = Idle, Ready
	return append(actions, Action{Kind: Begin, ID: m.id})
}

func (m *Machine) start(kind ActionKind, id string) Action {
	m.busy = id
	return Action{Kind: kind, ID: id}
}

// InitDone tells that the initialisation under way has succeeded.
func (m *Machine) InitDone(id string) ([]Action, error) {
	if id != m.busy {
		return nil, producer.Errorf(producer.Internal, "initialisation of %q ended, %q was under way", id, m.busy)
	}
	m.busy = ""
	if m.warm == Warming && m.warmID == id {
		m.warm = Ready
		if m.state == Failed || m.state == Released {
			m.warm = Idle
			return []Action{{Kind: Discard, ID: id}}, nil
		}
	}
	return m.next(), nil
}

// InitFailed tells that the initialisation under way has failed. It fails the epoch only when that waits for it: a failed
// warm-up is tried again by Begin.
func (m *Machine) InitFailed(id string, err error) ([]Action, error) {
	if id != m.busy {
		return nil, producer.Errorf(producer.Internal, "initialisation of %q ended, %q was under way", id, m.busy)
	}
	m.busy = ""
	if m.warm == Warming && m.warmID == id {
		m.warm = Idle
	}
	if m.state == Warming && m.busyForBegin {
		return m.fail(err), nil
	}
	return m.next(), nil
}

// Begun tells that the producer is open.
func (m *Machine) Begun() ([]Action, error) {
	if m.state != Ready {
		return nil, m.illegal("begun")
	}
	m.state, m.held = Open, true
	// A warm-up that was asked for meanwhile can start now.
	return append([]Action{{Kind: Reply}}, m.next()...), nil
}

// Produced counts rows that the producer has accepted.
func (m *Machine) Produced(rows int64) error {
	if m.state != Open {
		return m.illegal("produce")
	}
	m.rows += rows
	return nil
}

// Fail makes err the answer to everything that follows. Only the first failure counts.
func (m *Machine) Fail(err error) []Action {
	if m.state == Failed || m.state == Released {
		return nil
	}
	return m.fail(err)
}

// fail drops the warm producer: nothing will begin any more. The open one is kept for Abort or End.
func (m *Machine) fail(err error) []Action {
	if m.state == Sealing {
		m.held = false // the engine has destroyed the producer
	}
	m.state, m.cause, m.gaps = Failed, err, nil
	return m.dropWarm()
}

func (m *Machine) dropWarm() []Action {
	m.want = ""
	if m.warm != Ready {
		return nil // one under way is discarded by InitDone
	}
	m.warm = Idle
	return []Action{{Kind: Discard, ID: m.warmID}}
}
