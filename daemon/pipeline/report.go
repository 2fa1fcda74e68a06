package pipeline

import (
	"time"

	"google.golang.org/protobuf/proto"

	"penstock.dev/penstock/memctl"
	pb "penstock.dev/penstock/proto/gen/penstock/v1"
)

// ID is the writer's number in this daemon's life.
func (w *Writer) ID() uint64 { return w.id }

// Events are what the client is to be told beside the answers to its requests.
func (w *Writer) Events() <-chan *pb.WriteEvent { return w.events }

// Tick looks for what happened without a request: an asynchronous failure, or progress since the last Tick. It returns nil when
// there is nothing to tell.
func (w *Writer) Tick() *pb.WriteEvent {
	if w.failed != nil {
		return nil
	}
	if err := w.epochs.Err(); err != nil {
		w.fail(err)
		return w.failure()
	}
	progress := w.progress()
	if proto.Equal(progress, w.reported) {
		return nil
	}
	w.reported = progress
	return &pb.WriteEvent{Event: &pb.WriteEvent_Progress{Progress: progress}}
}

func (w *Writer) progress() *pb.WriterProgress {
	return &pb.WriterProgress{
		RowsEncoded:      w.totals.rows,
		RowsAcknowledged: uint64(w.acknowledged + w.epochs.Counters().Acknowledged),
		BytesEncoded:     w.totals.bytes,
		EncodeNanos:      w.totals.encodeNanos,
		ProduceNanos:     w.totals.produceNanos,
		CreditBytes:      uint64(credit(w.pace, w.options.Limits.CreditBytes, w.options.Disk)),
		Account:          w.account(),
	}
}

// account is what the client's gauges show of the memory of its process.
func (w *Writer) account() *pb.AccountReport {
	u := w.options.Account.Usage()
	report := &pb.AccountReport{
		CapacityBytes:  u.Capacity,
		ReservedBytes:  u.Reserved,
		AvailableBytes: u.Available,
		PeakBytes:      u.Peak,
		Denied:         u.Denied,
		StateBytes:     u.Reserved - u.By[memctl.Lease],
	}
	report.SpilledBytes = w.options.Disk.bytesOf(u)
	if w.options.OrphanBytes != nil {
		report.OrphanBytes = uint64(w.options.OrphanBytes())
	}
	return report
}

// Status is the writer's line in the status answer. It may be called from any goroutine.
func (w *Writer) Status() *pb.WriterStatus {
	s := w.epochs.State()
	status := &pb.WriterStatus{
		WriterId:        w.id,
		SessionId:       w.sessionID,
		JobId:           w.owner.GetJobId(),
		TaskName:        w.owner.GetTaskName(),
		Subtask:         w.owner.GetSubtask(),
		Attempt:         w.owner.GetAttempt(),
		Topic:           w.topic,
		EpochState:      s.State.String(),
		EpochId:         s.EpochID,
		TransactionalId: s.TransactionalID,
		EpochRows:       uint64(s.Rows),
		InFlightBytes:   uint64(w.pace.Known()),
	}
	if !s.Begun.IsZero() {
		status.EpochAgeMillis = uint64(time.Since(s.Begun).Milliseconds())
	}
	return status
}

// Producers are the writer's producers: that of the open epoch and the warm one. It may be called from any goroutine.
func (w *Writer) Producers() []*pb.ProducerStatus {
	s := w.epochs.State()
	var list []*pb.ProducerStatus
	add := func(role, id, state string) {
		list = append(list, &pb.ProducerStatus{WriterId: w.id, Role: role, TransactionalId: id, State: state, QueueBytes: w.memory.queue})
	}
	if !s.Begun.IsZero() {
		add("open", s.TransactionalID, s.State.String())
	}
	if s.WarmID != "" {
		add("warm", s.WarmID, s.Warm.String())
	}
	return list
}
