package pipeline

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"penstock.dev/penstock/columnar"
	"penstock.dev/penstock/columnar/ipc"
	"penstock.dev/penstock/daemon/fault"
	"penstock.dev/penstock/daemon/telemetry"
	"penstock.dev/penstock/kafka/encode"
	"penstock.dev/penstock/kafka/encode/protoplan"
	"penstock.dev/penstock/kafka/epoch"
	"penstock.dev/penstock/kafka/producer"
	"penstock.dev/penstock/kafka/producer/pace"
	"penstock.dev/penstock/memctl"
	pb "penstock.dev/penstock/proto/gen/penstock/v1"
)

// eventBacklog is how many events may wait for the stream's goroutine; what does not fit is dropped, since nothing depends on it.
const eventBacklog = 8

// Limits bound the single steps of a writer; all are positive, but InFlight may be 0.
type Limits struct {
	CreditBytes int64
	// InFlight is how long the broker may need for what is in flight; 0: whatever it takes.
	InFlight time.Duration
	Init     time.Duration
	Produce  time.Duration
	Seal     time.Duration
	Abort    time.Duration
	// Memory bounds the wait for a reservation that does not fit.
	Memory time.Duration
}

// Options are a Writer's collaborators.
type Options struct {
	Source Source
	// Account is the one of the session's process.
	Account *memctl.Account
	// OrphanBytes is what the client's process still maps of segments whose lease is over; nil where there is none.
	OrphanBytes func() int64
	Engine      producer.Engine
	// Disk is where batches go when the broker takes none; nil: they stay in memory.
	Disk *Disk
	// Owners are those of all writers of the daemon.
	Owners   *epoch.Owners
	Dialect  encode.Dialect
	Limits   Limits
	Counters *telemetry.Counters
	Log      *slog.Logger
}

// Writer is the daemon's half of one sink writer. See the package comment for who may call what.
type Writer struct {
	id        uint64
	sessionID uint32
	owner     *pb.Owner
	// topic names where the records go; with a topic column it is only words, see topicsInWords.
	topic     string
	guarantee pb.DeliveryGuarantee
	options   Options
	log       *slog.Logger

	// format names what the encoder writes.
	format  string
	parser  *columnar.Parser
	encoder *encode.RecordEncoder
	// nulls is memory for the records of single topics.
	nulls  nullBits
	epochs *epoch.Writer
	// pace is what is known of the broker; nil when Limits.InFlight is 0.
	pace   *pace.Pace
	memory *memory
	// schema is the header of the files in which the writer's batches wait; nil without a disk. readBack is what reading them takes.
	schema   []byte
	readBack *readBack

	// sequence is that of the last batch; epochID that of the last Begin.
	sequence uint64
	epochID  uint64
	// open is true between Begin and the end of the epoch.
	open   bool
	stats  stats
	totals totals
	// acknowledged counts the rows of epochs whose producer is gone.
	acknowledged int64
	// reported is the last progress that was sent.
	reported *pb.WriterProgress
	// events are what happens beside the requests.
	events chan *pb.WriteEvent
	// failed is the answer to everything once a step has failed.
	failed *pb.WriterFailed
}

// Open checks the request, reserves the writer's memory (which may take Limits.Memory) and makes a writer. It talks to no broker. The
// caller must Close the writer.
func Open(ctx context.Context, id uint64, open *pb.OpenWriter, o Options) (*Writer, error) {
	if err := checkOpen(open); err != nil {
		return nil, err
	}
	row, err := protoplan.Type(open.GetSchema())
	if err != nil {
		return nil, fault.New(pb.ErrorKind_FALL_BACK, "the schema cannot be written natively: %v", err)
	}
	plan, err := protoplan.RecordPlan(row, open, o.Dialect)
	if err != nil {
		return nil, fault.New(pb.ErrorKind_FALL_BACK, "the format cannot be written natively: %v", err)
	}
	config := producerConfig(open)
	config.Pace = pace.New(o.Limits.InFlight)
	if err := o.Engine.Validate(config); err != nil {
		return nil, fault.New(pb.ErrorKind_FALL_BACK, "the Kafka properties cannot be used natively: %v", err)
	}
	schema, err := spillSchema(row, o.Disk)
	if err != nil {
		return nil, fault.New(pb.ErrorKind_FALL_BACK, "the schema cannot be written to a disk: %v", err)
	}
	memory, err := enterMemory(ctx, id, open, config.QueueBytes(), &o)
	if err != nil {
		return nil, err
	}
	w := &Writer{
		memory:    memory,
		schema:    schema,
		readBack:  &readBack{share: memory.share},
		id:        id,
		sessionID: open.GetSessionId(),
		owner:     open.GetOwner(),
		topic:     topicsInWords(open),
		guarantee: open.GetGuarantee(),
		options:   o,
		log: o.Log.With(telemetry.FieldSession, open.GetSessionId(), telemetry.FieldWriter, id,
			telemetry.FieldTask, open.GetOwner().GetTaskName(), telemetry.FieldSubtask, open.GetOwner().GetSubtask(),
			telemetry.FieldAttempt, open.GetOwner().GetAttempt(), telemetry.FieldTopic, topicsInWords(open)),
		events:  make(chan *pb.WriteEvent, eventBacklog),
		format:  plan.Format(),
		parser:  columnar.NewParser(row),
		encoder: encode.NewRecordEncoder(plan),
		pace:    config.Pace,
	}
	// librdkafka takes 0 for the time of producing.
	w.encoder.RefuseZeroTimestamps = true
	w.epochs = epoch.NewWriter(epoch.Options{
		Engine:        o.Engine,
		Config:        config,
		Transactional: w.exactlyOnce(),
		WarmPool:      open.GetKafka().GetWarmPool(),
		InitTimeout:   o.Limits.Init,
		Owner:         ownerOf(open, id),
		Owners:        o.Owners,
		Warmed:        w.warmed,
	})
	w.log.Info("writer opened", telemetry.FieldJob, w.owner.GetJobId(), telemetry.FieldGuarantee, w.guarantee.String(),
		telemetry.FieldEngine, o.Engine.Name())
	return w, nil
}

// Opened is the answer to Open.
func (w *Writer) Opened() *pb.WriteEvent {
	return &pb.WriteEvent{Event: &pb.WriteEvent_Opened{Opened: &pb.WriterOpened{
		WriterId:    w.id,
		CreditBytes: uint64(w.options.Limits.CreditBytes),
		Encoder:     w.format,
		Engine:      w.options.Engine.Name(),
	}}}
}

// spillSchema is nil without a disk.
func spillSchema(row *columnar.Type, disk *Disk) ([]byte, error) {
	if disk == nil {
		return nil, nil
	}
	return ipc.Schema(row)
}

// Handle does what one request asks and returns the answer, nil when the request has none. It blocks at most as long as
// the limit of the step, and less when ctx, that of the backlog, ends.
func (w *Writer) Handle(ctx context.Context, q *Queued) *pb.WriteEvent {
	if w.failed != nil {
		w.discard(q)
		return w.failure()
	}
	event, err := w.step(ctx, q)
	if err != nil {
		if denied, ok := errors.AsType[*fault.Error](context.Cause(ctx)); ok {
			err = denied
		}
		w.fail(err)
		return w.failure()
	}
	return event
}

func (w *Writer) step(ctx context.Context, q *Queued) (*pb.WriteEvent, error) {
	switch r := q.request.GetRequest().(type) {
	case *pb.WriteRequest_Submit:
		return nil, w.submit(ctx, q)
	case *pb.WriteRequest_Begin:
		return w.begin(ctx, r.Begin)
	case *pb.WriteRequest_Schemas:
		return nil, w.defineSchemas(r.Schemas)
	case *pb.WriteRequest_Warm:
		return nil, w.warm(r.Warm)
	case *pb.WriteRequest_Flush:
		return w.flush(ctx, r.Flush)
	case *pb.WriteRequest_Seal:
		return w.seal(ctx, r.Seal)
	case *pb.WriteRequest_Abort:
		return w.abort(ctx, r.Abort)
	case *pb.WriteRequest_Open:
		return nil, fault.New(pb.ErrorKind_BAD_REQUEST, "the writer is open already; use a stream of its own for each writer")
	default:
		return nil, fault.New(pb.ErrorKind_BAD_REQUEST, "a WriteRequest without a known request; client and daemon differ in version")
	}
}

// fail makes an error the writer's one failure and counts it.
func (w *Writer) fail(err error) {
	classified := fault.Classify(err)
	w.failed = &pb.WriterFailed{EpochId: w.epochID, Error: classified}
	w.options.Counters.CountFault(classified.GetKind(), fault.IsBadBatch(err))
	if w.open {
		w.options.Counters.EpochsFailed.Add(1)
	}
	w.log.Warn("writer failed", telemetry.FieldEpoch, w.epochID, telemetry.FieldKind, classified.GetKind().String(),
		telemetry.FieldError, classified.GetMessage())
}

func (w *Writer) failure() *pb.WriteEvent {
	return &pb.WriteEvent{Event: &pb.WriteEvent_Failed{Failed: w.failed}}
}

// discard lets a batch go unread; nobody else would free its slot, or its place on the disk. It may be called from the goroutine of the
// backlog while the batch has not been handed out, and for a batch that was discarded before.
func (w *Writer) discard(q *Queued) {
	submit := q.request.GetSubmit()
	if submit == nil {
		return
	}
	if q.disk != nil {
		if !q.dropped {
			q.dropped = true
			q.disk.Drop()
			w.readBack.release()
		}
		return
	}
	if extent, err := w.options.Source.Claim(submit.GetSlot(), submit.GetGeneration()); err == nil {
		// The writer has failed, or the epoch is aborted; a second failure would say nothing new.
		_ = w.options.Source.Settle(extent)
	}
}

// Close ends the writer: an unsealed epoch with rows is aborted (bounded by Limits.Abort), sealed ones are left alone, the
// warm producer is released. pending are requests that came but were not handled; their batches are discarded.
func (w *Writer) Close(pending []*Queued) {
	for _, q := range pending {
		w.discard(q)
	}
	defer w.log.Info("writer closed")
	defer w.memory.leave()
	// Not the stream's context: that has ended when a writer is closed after a crash of its client.
	ctx, cancel := context.WithTimeout(context.Background(), w.options.Limits.Abort)
	defer cancel()
	if w.open && w.failed == nil && w.stats.batches > 0 {
		w.options.Counters.EpochsAborted.Add(1)
	}
	if err := w.epochs.Close(ctx); err != nil {
		w.log.Warn("the epoch of an ended writer could not be aborted; the broker will do it at the transaction timeout",
			telemetry.FieldEpoch, w.epochID, telemetry.FieldError, err)
	}
}
