package pipeline

import (
	"context"
	"fmt"
	"time"

	"penstock.dev/penstock/daemon/fault"
	"penstock.dev/penstock/daemon/faultpoint"
	"penstock.dev/penstock/daemon/telemetry"
	"penstock.dev/penstock/kafka/epoch"
	pb "penstock.dev/penstock/proto/gen/penstock/v1"
)

func (w *Writer) exactlyOnce() bool { return w.guarantee == pb.DeliveryGuarantee_EXACTLY_ONCE }

// ownerOf names the task attempt that opened writer id.
func ownerOf(open *pb.OpenWriter, id uint64) epoch.Owner {
	o := open.GetOwner()
	return epoch.Owner{Job: o.GetJobId(), Vertex: o.GetVertex(), Task: o.GetTaskName(), Subtask: o.GetSubtask(),
		Attempt: o.GetAttempt(), Writer: id}
}

// warm starts the initialisation of an id; Events tells when it is done.
func (w *Writer) warm(r *pb.WarmEpoch) error {
	if err := w.checkID("WarmEpoch", r.GetTransactionalId()); err != nil {
		return err
	}
	if err := w.memory.warm(); err != nil {
		w.warmed(r.GetTransactionalId(), 0, err)
		return nil
	}
	return w.epochs.Warm(r.GetTransactionalId())
}

// warmed is told by the epoch writer, on another goroutine. A warm-up that failed is no failure of the writer: Begin tries again.
func (w *Writer) warmed(id string, took time.Duration, err error) {
	if err != nil {
		w.log.Info("warm-up failed; the next epoch begins without it", telemetry.FieldTransaction, id, telemetry.FieldError, err)
		return
	}
	event := &pb.WriteEvent{Event: &pb.WriteEvent_Warmed{Warmed: &pb.EpochWarmed{
		TransactionalId: id, InitMicros: uint64(took.Microseconds())}}}
	select {
	case w.events <- event:
	default:
	}
}

// begin opens the next epoch. The open one, if there is one, must have been sealed or aborted.
func (w *Writer) begin(ctx context.Context, r *pb.BeginEpoch) (*pb.WriteEvent, error) {
	if err := w.checkID("BeginEpoch", r.GetTransactionalId()); err != nil {
		return nil, err
	}
	if w.open && w.exactlyOnce() {
		return nil, fault.New(pb.ErrorKind_BAD_REQUEST, "BeginEpoch %d while epoch %d is open; seal or abort it first",
			r.GetEpochId(), w.epochID)
	}
	for _, gap := range r.GetGapTransactionalIds() {
		if err := w.checkID("BeginEpoch gap", gap); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, w.options.Limits.Init)
	defer cancel()
	w.epochID = r.GetEpochId()
	if err := w.memory.begin(ctx); err != nil {
		return nil, err
	}
	begun, err := w.epochs.Begin(ctx, r.GetEpochId(), r.GetTransactionalId(), r.GetGapTransactionalIds())
	if err != nil {
		return nil, err
	}
	w.open = true
	w.stats = stats{}
	return &pb.WriteEvent{Event: &pb.WriteEvent_Begun{Begun: &pb.EpochBegun{
		EpochId:         r.GetEpochId(),
		TransactionalId: r.GetTransactionalId(),
		Warm:            begun.Warm,
		InitMicros:      uint64(begun.InitTime.Microseconds()),
	}}}, nil
}

// checkID holds the rule that transactional ids exist exactly where transactions do.
func (w *Writer) checkID(request, id string) error {
	switch {
	case w.exactlyOnce() && id == "":
		return fault.New(pb.ErrorKind_BAD_REQUEST, "%s without a transactional id; EXACTLY_ONCE needs one for each epoch "+
			"(option 'sink.transactional-id-prefix')", request)
	case !w.exactlyOnce() && id != "":
		return fault.New(pb.ErrorKind_BAD_REQUEST, "%s with transactional id %q, but the writer's guarantee is %v, which has no "+
			"transactions", request, id, w.guarantee)
	}
	return nil
}

func (w *Writer) flush(ctx context.Context, r *pb.FlushEpoch) (*pb.WriteEvent, error) {
	if err := w.checkEpoch("FlushEpoch", r.GetEpochId()); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, w.options.Limits.Seal)
	defer cancel()
	if err := w.epochs.Flush(ctx, int64(r.GetRows())); err != nil {
		return nil, err
	}
	return &pb.WriteEvent{Event: &pb.WriteEvent_Flushed{Flushed: &pb.EpochFlushed{EpochId: r.GetEpochId(), Rows: r.GetRows()}}}, nil
}

// seal proves the epoch and reports its identity; from then on the transaction belongs to Flink's committer.
func (w *Writer) seal(ctx context.Context, r *pb.SealEpoch) (*pb.WriteEvent, error) {
	if err := w.checkEpoch("SealEpoch", r.GetEpochId()); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, w.options.Limits.Seal)
	defer cancel()
	if err := faultpoint.Hit(faultpoint.AfterLastRow); err != nil {
		return nil, err
	}
	start := time.Now()
	sealed, err := w.epochs.Seal(ctx, int64(r.GetRows()))
	if err != nil {
		return nil, err
	}
	took := time.Since(start)
	if err := w.memory.ended(); err != nil {
		return nil, err
	}
	w.open = false
	w.acknowledged += sealed.Rows
	w.options.Counters.ObserveSeal(took.Seconds())
	if sealed.Rows == 0 {
		w.options.Counters.EpochsEmpty.Add(1)
	} else {
		w.options.Counters.EpochsSealed.Add(1)
	}
	return &pb.WriteEvent{Event: &pb.WriteEvent_Sealed{Sealed: &pb.EpochSealed{
		EpochId:         r.GetEpochId(),
		TransactionalId: sealed.Identity.TransactionalID,
		ProducerId:      sealed.Identity.ProducerID,
		ProducerEpoch:   int32(sealed.Identity.ProducerEpoch),
		Rows:            uint64(sealed.Rows),
		Stats:           w.stats.message(took),
	}}}, nil
}

func (w *Writer) abort(ctx context.Context, r *pb.AbortEpoch) (*pb.WriteEvent, error) {
	if err := w.checkEpoch("AbortEpoch", r.GetEpochId()); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, w.options.Limits.Abort)
	defer cancel()
	acknowledged := w.epochs.Counters().Acknowledged
	if err := w.epochs.Abort(ctx); err != nil {
		return nil, err
	}
	if err := w.memory.ended(); err != nil {
		return nil, err
	}
	w.open = false
	w.acknowledged += acknowledged
	w.options.Counters.EpochsAborted.Add(1)
	return &pb.WriteEvent{Event: &pb.WriteEvent_Aborted{Aborted: &pb.EpochAborted{EpochId: r.GetEpochId()}}}, nil
}

func (w *Writer) checkEpoch(request string, id uint64) error {
	if w.open && id == w.epochID {
		return nil
	}
	return fault.New(pb.ErrorKind_BAD_REQUEST, "%s for epoch %d, but %s", request, id, w.epochInWords())
}

func (w *Writer) epochInWords() string {
	if w.open {
		return fmt.Sprintf("epoch %d is the open one", w.epochID)
	}
	return "no epoch is open"
}
