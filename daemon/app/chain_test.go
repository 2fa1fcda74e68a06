package app

import (
	"fmt"
	"strings"
	"testing"

	"penstock.dev/penstock/columnar"
	"penstock.dev/penstock/daemon/config"
	"penstock.dev/penstock/daemon/daemontest"
	"penstock.dev/penstock/kafka/kafkatest"
	"penstock.dev/penstock/kafka/producer"
	pb "penstock.dev/penstock/proto/gen/penstock/v1"
	"penstock.dev/penstock/shm"
)

// dataStart is the offset of the first extent of a data segment.
const dataStart = shm.SegmentHeaderBytes

// extentBytes keeps the batches of a test apart.
const extentBytes = 64 << 10

func requireValues(t *testing.T, got *kafkatest.Transaction, first, count int) {
	t.Helper()
	if got == nil || len(got.Records) != count {
		t.Fatalf("got %+v, want %d records", got, count)
	}
	for i, r := range got.Records {
		if want := daemontest.JSON(first + i); string(r.Value) != want || r.Topic != "topic" || r.Key != nil || r.Timestamp != producer.NoTimestamp {
			t.Fatalf("record %d is %+v, want value %s on the topic without key and timestamp", i, r, want)
		}
	}
}

func TestExactlyOnceChain(t *testing.T) {
	r := start(t, kafkatest.Faults{}, nil)
	c := r.client("p1")
	data := c.MustLease()
	w := r.writer(c, pb.DeliveryGuarantee_EXACTLY_ONCE)

	w.Send(&pb.WriteRequest{Request: &pb.WriteRequest_Warm{Warm: &pb.WarmEpoch{TransactionalId: "tx-1"}}})
	event := w.NextAny()
	for event.GetProgress() != nil {
		event = w.NextAny()
	}
	if event.GetWarmed().GetTransactionalId() != "tx-1" {
		t.Fatalf("%v instead of EpochWarmed for tx-1", event)
	}
	if begun := w.Begin(1, "tx-1"); !begun.GetWarm() || begun.GetTransactionalId() != "tx-1" {
		t.Errorf("begun %v, want a warm tx-1", begun)
	}
	var batches []*pb.SubmitBatch
	for i := range 3 {
		batch := c.Park(data, dataStart+uint64(i)*extentBytes, daemontest.Rows(uint64(i+1), 1000*i, 1000))
		w.Submit(1, batch)
		batches = append(batches, batch)
	}
	sealed := w.Seal(1, 3000)
	stats := sealed.GetStats()
	if sealed.GetTransactionalId() != "tx-1" || sealed.GetRows() != 3000 || sealed.GetProducerId() == 0 || stats.GetBatches() != 3 ||
		stats.GetEncodedBytes() == 0 || stats.GetEncodeNanos() == 0 || stats.GetProduceNanos() == 0 {
		t.Errorf("sealed %v", sealed)
	}
	requireValues(t, r.engine.Sealed("tx-1"), 0, 3000)
	for _, b := range batches {
		if word := c.Table.Word(b.GetSlot()); word.State() != shm.Free || word.Generation() != b.GetGeneration()+1 {
			t.Errorf("slot %d is %v, want FREE of generation %d", b.GetSlot(), word, b.GetGeneration()+1)
		}
	}

	// The empty epoch that follows gives nothing to commit; its gap id is initialised all the same.
	w.Begin(2, "tx-3", "tx-2")
	if sealed := w.Seal(2, 0); sealed.GetRows() != 0 {
		t.Errorf("the empty epoch has %d rows", sealed.GetRows())
	}
	if log := strings.Join(r.engine.Log(), ", "); !strings.Contains(log, "init tx-2, discard tx-2, init tx-3, begin tx-3, discard tx-3") {
		t.Errorf("the engine did %s", log)
	}
	if refused := c.Return(data.ID()); refused != nil {
		t.Errorf("the segment is not taken back: %v", refused)
	}
	if err := w.Close(); err.Error() != "EOF" {
		t.Errorf("the stream ends with %v", err)
	}
	counters := r.app.Status().GetCounters()
	if counters.GetRows() != 3000 || counters.GetBatches() != 3 || counters.GetEpochsSealed() != 1 || counters.GetEpochsEmpty() != 1 ||
		counters.GetEpochsFailed() != 0 || counters.GetEpochsAborted() != 0 {
		t.Errorf("counters %v", counters)
	}
	c.Kill()
	r.requireNothingHeld()
}

// A NULL of the raw format reaches the producer as a null value, an empty string as an empty one.
func TestTombstonesOfRaw(t *testing.T) {
	r := start(t, kafkatest.Faults{}, nil)
	c := r.client("p1")
	data := c.MustLease()
	typ := &columnar.Type{Kind: columnar.Row, FieldNames: []string{"s"}, Children: []*columnar.Type{{Kind: columnar.VarChar, Nullable: true}}}
	b := columnar.NewBuilder(typ)
	for _, value := range []any{"a", nil, ""} {
		b.Append(0, value)
	}
	request := daemontest.OpenRequest(c, pb.DeliveryGuarantee_EXACTLY_ONCE)
	request.Schema = &pb.Schema{Row: &pb.LogicalType{Root: pb.TypeRoot_ROW, FieldNames: []string{"s"}, Children: []*pb.LogicalType{
		{Root: pb.TypeRoot_VARCHAR, Nullable: true},
	}}}
	request.ValueFormat = &pb.Format{Format: &pb.Format_Raw{Raw: &pb.RawFormat{}}}
	w := daemontest.NewWriter(t, r.api(), request)
	if opened := w.Opened(); opened.GetEncoder() != "raw" {
		t.Errorf("the encoder is %q, want raw", opened.GetEncoder())
	}
	w.Begin(1, "tx-1")
	w.Submit(1, c.Park(data, dataStart, daemontest.Batch{Body: b.Finish(daemontest.SchemaTag), Rows: 3, Sequence: 1}))
	w.Seal(1, 3)
	var got []string
	for _, record := range r.engine.Sealed("tx-1").Records {
		got = append(got, fmt.Sprintf("%q/%v", record.Value, record.Value == nil))
	}
	if all := strings.Join(got, " "); all != `"a"/false ""/true ""/false` {
		t.Errorf("records %s", all)
	}
}

func TestAtLeastOnceChain(t *testing.T) {
	r := start(t, kafkatest.Faults{}, nil)
	c := r.client("p1")
	data := c.MustLease()
	w := r.writer(c, pb.DeliveryGuarantee_AT_LEAST_ONCE)
	w.Begin(1, "")
	w.Submit(1, c.Park(data, dataStart, daemontest.Rows(1, 0, 10)))
	if flushed := w.Flush(1, 10); flushed.GetRows() != 10 {
		t.Errorf("flushed %v", flushed)
	}
	var progress *pb.WriterProgress
	daemontest.Eventually(t, "progress with 10 acknowledged rows", func() bool {
		progress = w.Progress()
		return progress.GetRowsAcknowledged() == 10
	})
	if progress.GetRowsEncoded() != 10 || progress.GetBytesEncoded() == 0 {
		t.Errorf("progress %v", progress)
	}
	w.Begin(2, "")
	w.Submit(2, c.Park(data, dataStart+extentBytes, daemontest.Rows(2, 10, 5)))
	if flushed := w.Flush(2, 5); flushed.GetEpochId() != 2 || flushed.GetRows() != 5 {
		t.Errorf("flushed %v", flushed)
	}
	if log := strings.Join(r.engine.Log(), ", "); log != "open plain, produce  10, flush 10, produce  5, flush 15" {
		t.Errorf("the engine did %s", log)
	}
}

func TestDeathOfTheClientLeavesNothing(t *testing.T) {
	r := start(t, kafkatest.Faults{}, nil)
	c := r.client("p1")
	first, second := c.MustLease(), c.MustLease()
	w := r.writer(c, pb.DeliveryGuarantee_EXACTLY_ONCE)
	w.Begin(1, "tx-1")
	w.Submit(1, c.Park(first, dataStart, daemontest.Rows(1, 0, 10)))
	c.Park(second, dataStart, daemontest.Rows(2, 10, 10))
	daemontest.Eventually(t, "the batch is produced", func() bool { return r.app.counters.Rows.Load() == 10 })

	c.HangUp()
	daemontest.Eventually(t, "session and writer end", func() bool {
		s := r.app.Status()
		return len(s.GetSessions()) == 0 && len(s.GetWriters()) == 0
	})
	if log := r.engine.Log(); log[len(log)-1] != "abort tx-1" {
		t.Errorf("the engine did %v, want an abort at last", log)
	}
	if got := r.app.counters.EpochsAborted.Load(); got != 1 {
		t.Errorf("%d epochs aborted, want 1", got)
	}
	for slot := c.Welcome.GetFirstSlot(); slot < c.Welcome.GetFirstSlot()+2; slot++ {
		if word := c.Table.Word(slot); word.State() != shm.Free {
			t.Errorf("slot %d is %v after the end of its session", slot, word)
		}
	}
	daemontest.Eventually(t, "the stream of the dead session ends", func() bool { return len(w.Ended) == 1 })
	c.Kill()
	r.requireNothingHeld()
}

func TestBrokenStreamAbortsItsEpochOnly(t *testing.T) {
	r := start(t, kafkatest.Faults{}, nil)
	c := r.client("p1")
	data := c.MustLease()
	broken, healthy := r.writer(c, pb.DeliveryGuarantee_EXACTLY_ONCE), r.writer(c, pb.DeliveryGuarantee_EXACTLY_ONCE)
	broken.Begin(1, "a-1")
	healthy.Begin(1, "b-1")
	broken.Submit(1, c.Park(data, dataStart, daemontest.Rows(1, 0, 5)))
	healthy.Submit(1, c.Park(data, dataStart+extentBytes, daemontest.Rows(1, 5, 5)))
	daemontest.Eventually(t, "both are produced", func() bool { return r.app.counters.Rows.Load() == 10 })
	broken.Cancel()
	daemontest.Eventually(t, "the broken writer is gone", func() bool { return len(r.app.Status().GetWriters()) == 1 })
	healthy.Seal(1, 5)
	requireValues(t, r.engine.Sealed("b-1"), 5, 5)
	if r.engine.Sealed("a-1") != nil {
		t.Error("the broken stream's epoch is sealed")
	}
}

// TestSubmitFaults walks what a client can get wrong about a batch: kind, message, and that nothing is produced.
func TestSubmitFaults(t *testing.T) {
	rows := func() daemontest.Batch { return daemontest.Rows(1, 0, 3) }
	for name, test := range map[string]struct {
		submit func(c *daemontest.Client) *pb.SubmitBatch
		kind   pb.ErrorKind
		want   string
		// counted is the counter that must be 1 afterwards.
		counted func(*pb.CounterStatus) uint64
		// freed: the daemon had claimed the slot and must have settled it.
		freed bool
	}{
		"slot of another session": {
			func(c *daemontest.Client) *pb.SubmitBatch {
				return &pb.SubmitBatch{Slot: c.Welcome.GetFirstSlot() + c.Welcome.GetSlotCount(), Sequence: 1}
			},
			pb.ErrorKind_FOREIGN_HANDLE, "outside this session's range", (*pb.CounterStatus).GetForeignHandles, false,
		},
		"stale generation": {
			func(c *daemontest.Client) *pb.SubmitBatch {
				b := c.Park(c.MustLease(), dataStart, rows())
				b.Generation--
				return b
			},
			pb.ErrorKind_STALE_HANDLE, "the generation has passed", (*pb.CounterStatus).GetStaleHandles, false,
		},
		"slot without a batch": {
			func(c *daemontest.Client) *pb.SubmitBatch {
				return &pb.SubmitBatch{Slot: c.Welcome.GetFirstSlot(), Sequence: 1}
			},
			pb.ErrorKind_STALE_HANDLE, "no batch to claim", (*pb.CounterStatus).GetStaleHandles, false,
		},
		"torn descriptor": {
			func(c *daemontest.Client) *pb.SubmitBatch {
				slot := c.Welcome.GetFirstSlot()
				generation, err := c.Table.Tear(slot, rows().Descriptor(), 30)
				if err != nil {
					t.Fatal(err)
				}
				return &pb.SubmitBatch{Slot: slot, Generation: generation, Sequence: 1}
			},
			pb.ErrorKind_BAD_REQUEST, "crc32c", (*pb.CounterStatus).GetBadBatches, false,
		},
		"segment that is not leased": {
			func(c *daemontest.Client) *pb.SubmitBatch {
				data := c.MustLease()
				b := c.Park(data, dataStart, rows())
				if refused := c.Return(data.ID()); refused != nil {
					t.Fatal(refused)
				}
				return b
			},
			pb.ErrorKind_FOREIGN_HANDLE, "is not leased to this session", (*pb.CounterStatus).GetForeignHandles, false,
		},
		"bytes that are no batch": {
			func(c *daemontest.Client) *pb.SubmitBatch {
				b := rows()
				b.Body[0] ^= 0xff
				return c.Park(c.MustLease(), dataStart, b)
			},
			pb.ErrorKind_BAD_REQUEST, "malformed batch", (*pb.CounterStatus).GetBadBatches, true,
		},
		"row count that lies": {
			func(c *daemontest.Client) *pb.SubmitBatch {
				b := rows()
				b.Rows = 2
				return c.Park(c.MustLease(), dataStart, b)
			},
			pb.ErrorKind_BAD_REQUEST, "announces 2 rows, but its batch has 3", nil, true,
		},
		"sequence with a hole": {
			func(c *daemontest.Client) *pb.SubmitBatch {
				return c.Park(c.MustLease(), dataStart, daemontest.Rows(2, 0, 3))
			},
			pb.ErrorKind_BAD_REQUEST, "batch 2 follows batch 0", nil, false,
		},
		"sequence unlike the slot's": {
			func(c *daemontest.Client) *pb.SubmitBatch {
				b := c.Park(c.MustLease(), dataStart, daemontest.Rows(5, 0, 3))
				b.Sequence = 1
				return b
			},
			pb.ErrorKind_BAD_REQUEST, "holds batch 5 of its writer, but it was submitted as batch 1", nil, true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, kafkatest.Faults{}, nil)
			c := r.client("p1")
			w := r.writer(c, pb.DeliveryGuarantee_EXACTLY_ONCE)
			w.Begin(1, "tx-1")
			batch := test.submit(c)
			w.Submit(1, batch)
			failure := w.Failure()
			if failure.GetKind() != test.kind || !strings.Contains(failure.GetMessage(), test.want) {
				t.Errorf("got %v, want %v with %q", failure, test.kind, test.want)
			}
			// Every later request gets the same answer.
			w.Send(&pb.WriteRequest{Request: &pb.WriteRequest_Seal{Seal: &pb.SealEpoch{EpochId: 1}}})
			if again := w.Failure(); again.GetMessage() != failure.GetMessage() || again.GetKind() != failure.GetKind() {
				t.Errorf("the second answer is %v", again)
			}
			counters := r.app.Status().GetCounters()
			if test.counted != nil && test.counted(counters) != 1 {
				t.Errorf("counters %v", counters)
			}
			if counters.GetRows() != 0 || counters.GetEpochsFailed() != 1 {
				t.Errorf("counters %v, want no rows and one failed epoch", counters)
			}
			if test.freed && c.Table.Word(batch.GetSlot()).State() != shm.Free {
				t.Errorf("the slot is %v, want FREE", c.Table.Word(batch.GetSlot()))
			}
		})
	}
}

// TestFailedWriterStillFreesSlots: what was under way when the writer failed is settled unread.
func TestFailedWriterStillFreesSlots(t *testing.T) {
	r := start(t, kafkatest.Faults{Produce: func(string) error { return producer.Errorf(producer.Fenced, "fenced off") }}, nil)
	c := r.client("p1")
	data := c.MustLease()
	w := r.writer(c, pb.DeliveryGuarantee_EXACTLY_ONCE)
	w.Begin(1, "tx-1")
	var batches []*pb.SubmitBatch
	for i := range 4 {
		batches = append(batches, c.Park(data, dataStart+uint64(i)*extentBytes, daemontest.Rows(uint64(i+1), 0, 5)))
	}
	for _, b := range batches {
		w.Submit(1, b)
	}
	for range batches {
		if failure := w.Failure(); failure.GetKind() != pb.ErrorKind_FENCED || failure.GetMessage() != "fenced off" {
			t.Fatalf("got %v, want FENCED", failure)
		}
	}
	for _, b := range batches {
		if word := c.Table.Word(b.GetSlot()); word.State() != shm.Free {
			t.Errorf("slot %d is %v, want FREE", b.GetSlot(), word)
		}
	}
}

func TestAsynchronousFailureIsToldWithoutARequest(t *testing.T) {
	r := start(t, kafkatest.Faults{Async: func(string) error { return producer.Errorf(producer.FailEpoch, "a record was lost") }}, nil)
	w := r.writer(r.client("p1"), pb.DeliveryGuarantee_EXACTLY_ONCE)
	w.Begin(1, "tx-1")
	if failure := w.Failure(); failure.GetKind() != pb.ErrorKind_FAIL_EPOCH || failure.GetMessage() != "a record was lost" {
		t.Errorf("got %v", failure)
	}
}

func TestSealWithAnotherRowCountFails(t *testing.T) {
	r := start(t, kafkatest.Faults{}, nil)
	c := r.client("p1")
	w := r.writer(c, pb.DeliveryGuarantee_EXACTLY_ONCE)
	w.Begin(1, "tx-1")
	w.Submit(1, c.Park(c.MustLease(), dataStart, daemontest.Rows(1, 0, 5)))
	w.Send(&pb.WriteRequest{Request: &pb.WriteRequest_Seal{Seal: &pb.SealEpoch{EpochId: 1, Rows: 6}}})
	if failure := w.Failure(); failure.GetKind() != pb.ErrorKind_FAIL_EPOCH || !strings.Contains(failure.GetMessage(), "6 rows") {
		t.Errorf("got %v, want FAIL_EPOCH that names both counts", failure)
	}
	if r.engine.Sealed("tx-1") != nil {
		t.Error("the epoch is sealed all the same")
	}
}

func TestOpenFaults(t *testing.T) {
	r := start(t, kafkatest.Faults{}, func(c *config.Config) { c.Writer.MaxWriters = 1 })
	c := r.client("p1")
	for name, test := range map[string]struct {
		change func(*pb.OpenWriter)
		kind   pb.ErrorKind
		want   string
	}{
		"token":     {func(o *pb.OpenWriter) { o.Token = make([]byte, 16) }, pb.ErrorKind_FOREIGN_HANDLE, "the token is not that of session"},
		"session":   {func(o *pb.OpenWriter) { o.SessionId = 99 }, pb.ErrorKind_FOREIGN_HANDLE, "session 99 does not exist"},
		"topic":     {func(o *pb.OpenWriter) { o.Topic = "" }, pb.ErrorKind_BAD_REQUEST, "topic is empty"},
		"guarantee": {func(o *pb.OpenWriter) { o.Guarantee = 0 }, pb.ErrorKind_BAD_REQUEST, "send EXACTLY_ONCE, AT_LEAST_ONCE or NONE"},
		"kafka":     {func(o *pb.OpenWriter) { o.Kafka = nil }, pb.ErrorKind_BAD_REQUEST, "properties.bootstrap.servers"},
		"schema":    {func(o *pb.OpenWriter) { o.Schema = nil }, pb.ErrorKind_BAD_REQUEST, "OpenWriter.schema is missing"},
		"format":    {func(o *pb.OpenWriter) { o.ValueFormat = nil }, pb.ErrorKind_FALL_BACK, "value_format or key_format: none"},
		"type": {func(o *pb.OpenWriter) { o.Schema.Row.Children[0].Root = 99 }, pb.ErrorKind_FALL_BACK,
			"type root 99 is not known"},
	} {
		open := daemontest.OpenRequest(c, pb.DeliveryGuarantee_EXACTLY_ONCE)
		test.change(open)
		failure := daemontest.NewWriter(t, r.api(), open).Failure()
		if failure.GetKind() != test.kind || !strings.Contains(failure.GetMessage(), test.want) {
			t.Errorf("%s: got %v, want %v with %q", name, failure, test.kind, test.want)
		}
	}

	r.engine.Order(kafkatest.Faults{Validate: fmt.Errorf("properties.acks = 7 is not known")})
	failure := daemontest.NewWriter(t, r.api(), daemontest.OpenRequest(c, pb.DeliveryGuarantee_NONE)).Failure()
	if failure.GetKind() != pb.ErrorKind_FALL_BACK || !strings.Contains(failure.GetMessage(), "properties.acks = 7") {
		t.Errorf("engine: got %v", failure)
	}
	r.engine.Order(kafkatest.Faults{})

	r.writer(c, pb.DeliveryGuarantee_NONE)
	failure = daemontest.NewWriter(t, r.api(), daemontest.OpenRequest(c, pb.DeliveryGuarantee_NONE)).Failure()
	if failure.GetKind() != pb.ErrorKind_FALL_BACK || !strings.Contains(failure.GetMessage(), "writer.max_writers = 1") {
		t.Errorf("one writer too many: got %v", failure)
	}
}

func TestOrderOfRequests(t *testing.T) {
	r := start(t, kafkatest.Faults{}, nil)
	c := r.client("p1")
	for name, test := range map[string]struct {
		guarantee pb.DeliveryGuarantee
		begin     string
		request   *pb.WriteRequest
		want      string
	}{
		"seal first": {pb.DeliveryGuarantee_EXACTLY_ONCE, "",
			&pb.WriteRequest{Request: &pb.WriteRequest_Seal{Seal: &pb.SealEpoch{EpochId: 1}}}, "no epoch is open"},
		"submit first": {pb.DeliveryGuarantee_EXACTLY_ONCE, "",
			&pb.WriteRequest{Request: &pb.WriteRequest_Submit{Submit: &pb.SubmitBatch{Sequence: 1, EpochId: 1}}}, "send BeginEpoch before"},
		"begin without id": {pb.DeliveryGuarantee_EXACTLY_ONCE, "",
			&pb.WriteRequest{Request: &pb.WriteRequest_Begin{Begin: &pb.BeginEpoch{EpochId: 1}}}, "sink.transactional-id-prefix"},
		"begin with id": {pb.DeliveryGuarantee_AT_LEAST_ONCE, "",
			&pb.WriteRequest{Request: &pb.WriteRequest_Begin{Begin: &pb.BeginEpoch{EpochId: 1, TransactionalId: "x"}}}, "which has no transactions"},
		"begin twice": {pb.DeliveryGuarantee_EXACTLY_ONCE, "tx-1",
			&pb.WriteRequest{Request: &pb.WriteRequest_Begin{Begin: &pb.BeginEpoch{EpochId: 2, TransactionalId: "tx-2"}}}, "while epoch 1 is open"},
		"open twice": {pb.DeliveryGuarantee_EXACTLY_ONCE, "",
			&pb.WriteRequest{Request: &pb.WriteRequest_Open{Open: &pb.OpenWriter{}}}, "is open already"},
		"nothing": {pb.DeliveryGuarantee_EXACTLY_ONCE, "", &pb.WriteRequest{}, "without a known request"},
	} {
		w := r.writer(c, test.guarantee)
		if test.begin != "" {
			w.Begin(1, test.begin)
		}
		w.Send(test.request)
		if failure := w.Failure(); failure.GetKind() != pb.ErrorKind_BAD_REQUEST || !strings.Contains(failure.GetMessage(), test.want) {
			t.Errorf("%s: got %v, want BAD_REQUEST with %q", name, failure, test.want)
		}
	}
}
