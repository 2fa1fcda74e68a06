package history

import (
	"fmt"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc"

	"penstock.dev/penstock/daemon/daemontest"
	pb "penstock.dev/penstock/proto/gen/penstock/v1"
	"penstock.dev/penstock/shm"
	"penstock.dev/penstock/shm/shmtest"
)

// extentBytes keeps batches apart; the largest one has batchRows rows.
const (
	extentBytes = 64 << 10
	batchRows   = 400
)

// taskManager is one session with one writer at a time.
type taskManager struct {
	trial  *trial
	client *daemontest.Client
	api    *grpc.ClientConn
	data   *shmtest.Segment
	// session is the path of the daemon's session socket.
	session string
	// next is the offset of the next batch.
	next uint64
	dead atomic.Bool
	// stream is that of the writer of the current attempt.
	stream *daemontest.Writer
}

func openTaskManager(t testing.TB, d *daemon, process string) (_ *taskManager, err error) {
	tm := &taskManager{trial: newTrial(t), session: d.session}
	err = try(func() {
		tm.client = daemontest.Open(tm.trial, d.session, process)
		tm.api = daemontest.API(tm.trial, d.api)
		tm.data = tm.client.MustLease()
	})
	if err != nil {
		tm.trial.close()
		return nil, err
	}
	tm.rewind()
	return tm, nil
}

// rewind starts at the first extent again; every batch must have been settled.
func (tm *taskManager) rewind() { tm.next = shm.SegmentHeaderBytes }

// park publishes rows of one split.
func (tm *taskManager) park(sequence uint64, first, count int) *pb.SubmitBatch {
	batch := tm.client.Park(tm.data, tm.next, daemontest.Rows(sequence, first, count))
	tm.next += extentBytes
	return batch
}

// kill ends the connections and nothing else, as the kernel does for a process that was killed. Memory stays mapped until close:
// the driver may be writing into it.
func (tm *taskManager) kill() {
	tm.dead.Store(true)
	tm.client.HangUp()
	tm.api.Close()
}

// breakStream ends the writer and leaves the session alone, as the failure of a task does.
func (tm *taskManager) breakStream() { tm.stream.Cancel() }

func (tm *taskManager) close() { tm.trial.close() }

// writer is one subtask of an attempt. Its transaction has number base+1.
type writer struct {
	tm             *taskManager
	stream         *daemontest.Writer
	subtask, base  int
	epoch          uint64
	sequence, rows uint64
	lineSeals      *atomic.Int64
}

// openRequest is that of a job whose Kafka properties are Java's defaults.
func (j *job) openRequest(tm *taskManager, subtask int) *pb.OpenWriter {
	request := daemontest.OpenRequest(tm.client, pb.DeliveryGuarantee_EXACTLY_ONCE)
	request.Topic = j.topic
	request.Owner.JobId = fmt.Sprintf("%s-job-%d", j.prefix, j.jobs)
	request.Owner.Attempt, request.Owner.Subtask = j.attempts, uint32(subtask)
	request.Owner.TaskName = fmt.Sprintf("Sink: history (%d)", subtask)
	k := request.Kafka
	k.BootstrapServers = []string{j.world.broker.Addr()}
	k.RetryBackoffMs, k.RetryBackoffMaxMs, k.ReconnectBackoffMs, k.ReconnectBackoffMaxMs = 100, 1000, 50, 1000
	k.ConnectionSetupTimeoutMs, k.ConnectionsMaxIdleMs, k.MetadataMaxAgeMs = 10_000, 540_000, 300_000
	return request
}

// newStream opens a writer on its own stream; every other one has a line for its seals.
func newStream(t *trial, tm *taskManager, open *pb.OpenWriter) *daemontest.Writer {
	w := daemontest.NewWriter(t, tm.api, open)
	opened := w.Opened()
	if (open.GetOwner().GetAttempt()+open.GetOwner().GetSubtask())%2 == 0 {
		w.Attach(tm.session, tm.client, opened.GetWriterId())
	}
	tm.stream = w
	return w
}

// begin opens the epoch after checkpoint number. The ids between the last one and the new one become gaps.
func (w *writer) begin(prefix string, number int, warm bool) {
	var gaps []string
	if w.epoch > 0 {
		for n := w.base + 2; n <= number; n++ {
			gaps = append(gaps, transactionalID(prefix, w.subtask, n))
		}
	}
	w.base, w.rows = number, 0
	w.epoch++
	w.stream.Begin(w.epoch, transactionalID(prefix, w.subtask, number+1), gaps...)
	if warm {
		w.stream.Send(&pb.WriteRequest{Request: &pb.WriteRequest_Warm{Warm: &pb.WarmEpoch{
			TransactionalId: transactionalID(prefix, w.subtask, number+2)}}})
	}
}

func (w *writer) submit(first, count int) {
	w.sequence++
	w.stream.Submit(w.epoch, w.tm.park(w.sequence, first, count))
	w.rows += uint64(count)
}

// seal returns the committable, or none for an epoch without rows.
func (w *writer) seal() []committable {
	sealed := w.stream.Seal(w.epoch, w.rows)
	if w.stream.HasLine() {
		w.lineSeals.Add(1)
	}
	w.tm.rewind()
	if sealed.GetRows() != w.rows {
		panic(fmt.Sprintf("the seal has %d rows, the writer handed over %d", sealed.GetRows(), w.rows))
	}
	if w.rows == 0 {
		return nil
	}
	return []committable{committableOf(sealed)}
}
