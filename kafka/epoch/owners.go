package epoch

import (
	"context"
	"fmt"
	"sync"
	"time"

	"penstock.dev/penstock/kafka/producer"
)

// Owner is who initialises transactional ids: one attempt of one task, and its writer.
type Owner struct {
	Job, Vertex, Task string
	Subtask, Attempt  uint32
	Writer            uint64
}

// String names the owner in a text for a person.
func (o Owner) String() string {
	return fmt.Sprintf("writer %d (job %s, task %q, subtask %d, attempt %d)", o.Writer, o.Job, o.Task, o.Subtask, o.Attempt)
}

// succeeds reports whether o is a later attempt of the task of other.
func (o Owner) succeeds(other Owner) bool {
	return o.Job == other.Job && o.Vertex == other.Vertex && o.Subtask == other.Subtask && o.Attempt > other.Attempt
}

// patience is how long a writer waits for an owner that it may not evict, because that one may be ending just now: a new JobManager
// counts attempts from 0 again and starts its tasks while those of the old one are still being cancelled, and the daemon ends the
// writers of a TaskManager that was killed when their open transactions are aborted.
const patience = 5 * time.Second

// Owners says which writer of this process owns which transactional id. An id belongs to the first that claims it, until that one is
// closed; a later attempt of the same task takes it over, after the earlier one has no initialisation under way any more. Anybody else
// waits for a while and is refused then. The zero value is ready for use. It is safe for concurrent use.
type Owners struct {
	// Patience is how long anybody else waits; 0 means 5 s. It is set before the first writer, by tests alone.
	Patience time.Duration

	mu  sync.Mutex
	ids map[string]*claims
}

func (o *Owners) patience() time.Duration {
	if o.Patience > 0 {
		return o.Patience
	}
	return patience
}

// claims are the ids of one writer. A nil *claims claims nothing, and refuses nothing.
type claims struct {
	owners *Owners
	owner  Owner
	// evict is called at most once, when a later attempt wants an id, on a goroutine of its own; it ends with leave.
	evict func(cause error)
	gone  chan struct{} // closed when nothing is owned any more

	// The following are guarded by owners.mu.
	ids     []string // in the order of claiming
	evicted error    // why nothing more may be claimed
}

func (o *Owners) join(owner Owner, evict func(cause error)) *claims {
	if o == nil {
		return nil
	}
	return &claims{owners: o, owner: owner, evict: evict, gone: make(chan struct{})}
}

// claim returns when id is owned, or with an error of kind Fenced that names both owners. It waits, within ctx, for an earlier attempt
// to end its initialisations, and for anybody else to end at all.
func (c *claims) claim(ctx context.Context, id string) error {
	if c == nil {
		return nil
	}
	refuse := time.NewTimer(c.owners.patience())
	defer refuse.Stop()
	for {
		holder, later, err := c.try(id)
		if holder == nil {
			return err
		}
		var refused <-chan time.Time
		if !later {
			refused = refuse.C
		}
		select {
		case <-holder.gone:
		case <-refused:
			return producer.Errorf(producer.Fenced, "transactional id %q is owned by %v, which has not ended within %v; %v may not use it: "+
				"give each sink of each job a 'sink.transactional-id-prefix' of its own", id, holder.owner, c.owners.patience(), c.owner)
		case <-ctx.Done():
			return producer.Errorf(producer.Fenced, "transactional id %q is still owned by %v; %v must wait until the initialisations "+
				"of that have ended: %w", id, holder.owner, c.owner, ctx.Err())
		}
	}
}

// try claims id, or names who is to be waited for; later tells that c is a later attempt of that task, which is being evicted.
func (c *claims) try(id string) (holder *claims, later bool, err error) {
	o := c.owners
	o.mu.Lock()
	defer o.mu.Unlock()
	if c.evicted != nil {
		return nil, false, c.evicted
	}
	holder = o.ids[id]
	switch {
	case holder == c:
		return nil, false, nil
	case holder == nil:
		if o.ids == nil {
			o.ids = map[string]*claims{}
		}
		o.ids[id] = c
		c.ids = append(c.ids, id)
		c.forgetOldest()
		return nil, false, nil
	case !c.owner.succeeds(holder.owner):
		return holder, false, nil
	}
	if holder.evicted == nil {
		holder.evicted = producer.Errorf(producer.Fenced, "transactional id %q of %v was taken over by %v", id, holder.owner, c.owner)
		go holder.evict(holder.evicted)
	}
	return holder, true, nil
}

// forgetOldest bounds the memory for a long life; sealedKept is far more than what may still be pending. owners.mu is held.
func (c *claims) forgetOldest() {
	if len(c.ids) <= sealedKept {
		return
	}
	delete(c.owners.ids, c.ids[0])
	c.ids = c.ids[1:]
}

// leave gives every id up. It may be called again.
func (c *claims) leave() {
	if c == nil {
		return
	}
	c.owners.mu.Lock()
	defer c.owners.mu.Unlock()
	for _, id := range c.ids {
		delete(c.owners.ids, id)
	}
	c.ids = nil
	select {
	case <-c.gone:
	default:
		close(c.gone)
	}
}
