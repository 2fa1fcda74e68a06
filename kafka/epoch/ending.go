package epoch

import "penstock.dev/penstock/kafka/producer"

// Flush asks for proof that the rows so far are acknowledged (AT_LEAST_ONCE, and NONE at the end of input). rows is what
// the client handed over since Begin.
func (m *Machine) Flush(rows int64) ([]Action, error) {
	if m.transactional || m.state != Open {
		return nil, m.illegal("flush")
	}
	if rows != m.rows {
		err := m.mismatch(rows)
		return m.fail(err), err
	}
	return []Action{{Kind: Flush}}, nil
}

// Flushed tells that the flush has proven what it should.
func (m *Machine) Flushed() ([]Action, error) {
	if m.transactional || m.state != Open {
		return nil, m.illegal("flushed")
	}
	return []Action{{Kind: Reply}}, nil
}

// Seal asks for proof of the whole epoch. rows is what the client handed over. An epoch without rows is sealed at once and
// has nothing to commit.
func (m *Machine) Seal(rows int64) ([]Action, error) {
	if !m.transactional || m.state != Open {
		return nil, m.illegal("seal")
	}
	if rows != m.rows {
		err := m.mismatch(rows)
		return m.fail(err), err
	}
	if rows == 0 {
		m.state, m.held = Sealed, false
		return []Action{{Kind: Discard, ID: m.id}, {Kind: Reply}}, nil
	}
	m.state = Sealing
	return []Action{{Kind: Seal, ID: m.id}}, nil
}

// SealDone tells that the epoch is proven. From here on nothing in Penstock may end or initialise its id.
func (m *Machine) SealDone() ([]Action, error) {
	if m.state != Sealing {
		return nil, m.illegal("seal-done")
	}
	m.state, m.held = Sealed, false
	m.remember(m.id)
	return []Action{{Kind: Release, ID: m.id}, {Kind: Reply}}, nil
}

func (m *Machine) mismatch(rows int64) error {
	return producer.Errorf(producer.FailEpoch, "epoch %d, transaction %q: Flink handed over %d rows, the producer accepted %d",
		m.epoch, m.id, rows, m.rows)
}

// Abort gives the open epoch up. It is also the end of a failed epoch that still holds a producer.
func (m *Machine) Abort() ([]Action, error) {
	if !m.held || m.state != Open && m.state != Failed {
		return nil, m.illegal("abort")
	}
	actions := []Action{m.giveUp(), {Kind: Reply}}
	if m.state == Open {
		m.state = Idle
	}
	return actions, nil
}

// End is the end of the writer's stream. Only Released follows.
func (m *Machine) End() []Action {
	if m.state == Released {
		return nil
	}
	var actions []Action
	if m.held {
		actions = append(actions, m.giveUp())
	}
	m.state = Released
	return append(actions, m.dropWarm()...)
}

// giveUp ends an open transaction when it may hold rows; an empty one does not exist at the coordinator yet. A failed
// epoch may have rows that were accepted by the call that failed.
func (m *Machine) giveUp() Action {
	m.held = false
	if m.transactional && m.rows == 0 && m.state != Failed {
		return Action{Kind: Discard, ID: m.id}
	}
	return Action{Kind: Abort, ID: m.id}
}

// live reports whether id is that of an epoch that has a producer or waits for one.
func (m *Machine) live(id string) bool {
	return id == m.id && (m.held || m.state == Warming || m.state == Ready)
}

func (m *Machine) isSealed(id string) bool {
	_, ok := m.sealed[id]
	return ok
}

func (m *Machine) remember(id string) {
	m.sealed[id] = struct{}{}
	if len(m.sealedRing) < sealedKept {
		m.sealedRing = append(m.sealedRing, id)
		return
	}
	delete(m.sealed, m.sealedRing[m.sealedNext])
	m.sealedRing[m.sealedNext] = id
	m.sealedNext = (m.sealedNext + 1) % sealedKept
}

func sealedAgain(id string) error {
	return producer.Errorf(producer.BadRequest, "transaction %q was sealed and may be waiting for its commit: initialising it "+
		"again would abort it", id)
}
