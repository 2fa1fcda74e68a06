package pipeline

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"penstock.dev/penstock/daemon/fault"
	"penstock.dev/penstock/daemon/faultpoint"
	"penstock.dev/penstock/kafka/encode"
	pb "penstock.dev/penstock/proto/gen/penstock/v1"
	"penstock.dev/penstock/shm"
)

// submit takes one batch all the way into the producer's queue.
func (w *Writer) submit(ctx context.Context, q *Queued) error {
	s := q.request.GetSubmit()
	if !w.open || s.GetEpochId() != w.epochID {
		return fault.New(pb.ErrorKind_BAD_REQUEST, "batch %d is for epoch %d, but %s; send BeginEpoch before the first batch",
			s.GetSequence(), s.GetEpochId(), w.epochInWords())
	}
	if s.GetSequence() != w.sequence+1 {
		return fault.New(pb.ErrorKind_BAD_REQUEST, "batch %d follows batch %d; sequences count from 1 without holes",
			s.GetSequence(), w.sequence)
	}
	if q.aborted {
		w.sequence++
		return nil
	}
	records, err := w.encode(ctx, q)
	if err != nil {
		return err
	}
	w.sequence++
	return w.produce(ctx, records)
}

// taken is a batch that belongs to the writer, from memory or from the disk. done gives it back; the body must not be read after it.
type taken struct {
	shm.Descriptor
	body []byte
	done func() error
}

// take claims the batch where it is. A batch on the disk had its slot freed when the disk had it.
func (w *Writer) take(ctx context.Context, q *Queued) (*taken, error) {
	if q.disk == nil {
		submit := q.request.GetSubmit()
		extent, err := w.options.Source.Claim(submit.GetSlot(), submit.GetGeneration())
		if err != nil {
			return nil, err
		}
		return &taken{extent.Descriptor, extent.Body, func() error { return w.options.Source.Settle(extent) }}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, w.options.Limits.Produce)
	defer cancel()
	loaded, err := q.disk.Claim(ctx)
	if err != nil {
		w.discard(q)
		return nil, err
	}
	return &taken{q.descriptor, loaded.Bytes, func() error {
		loaded.Release()
		w.readBack.release()
		return q.settled
	}}, nil
}

// encode takes the batch, writes the records into the encoder's memory and gives the batch back, also when it is bad.
func (w *Writer) encode(ctx context.Context, q *Queued) (_ *encode.Records, err error) {
	start := time.Now()
	s := q.request.GetSubmit()
	if err := faultpoint.Hit(faultpoint.InClaim); err != nil {
		return nil, err
	}
	extent, err := w.take(ctx, q)
	if err != nil {
		return nil, err
	}
	defer func() {
		if doneErr := extent.done(); err == nil {
			err = doneErr
		}
	}()
	if err := faultpoint.Hit(faultpoint.InEncode); err != nil {
		return nil, err
	}
	if extent.Sequence != s.GetSequence() {
		return nil, fault.New(pb.ErrorKind_BAD_REQUEST, "slot %d holds batch %d of its writer, but it was submitted as batch %d",
			s.GetSlot(), extent.Sequence, s.GetSequence())
	}
	if err := w.memory.expect(ctx, len(extent.body)); err != nil {
		return nil, err
	}
	batch, err := w.parser.Parse(extent.body, extent.SchemaTag)
	if err != nil {
		return nil, err
	}
	if uint64(batch.Rows) != uint64(extent.Rows) {
		return nil, fault.New(pb.ErrorKind_BAD_REQUEST, "slot %d announces %d rows, but its batch has %d", s.GetSlot(), extent.Rows, batch.Rows)
	}
	records, err := w.encoder.Encode(batch)
	if err != nil {
		return nil, err
	}
	if err := w.memory.encoded(ctx, len(extent.body), records.Size(), w.encoder.Memory()); err != nil {
		return nil, err
	}
	w.countEncoded(uint64(records.Size()), uint64(time.Since(start)))
	return records, nil
}

// produce hands the records of each topic to the producer.
func (w *Writer) produce(ctx context.Context, records *encode.Records) error {
	if records.Len() == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, w.options.Limits.Produce)
	defer cancel()
	start := time.Now()
	if records.Topics == nil {
		if err := w.epochs.Produce(ctx, w.wholeBatch(records)); err != nil {
			return err
		}
	}
	for _, run := range records.Topics {
		if err := w.epochs.Produce(ctx, w.ofTopic(records, run)); err != nil {
			return namingTopic(err, run.Topic)
		}
	}
	w.countProduced(uint64(records.Len()), uint64(time.Since(start)))
	return nil
}

// namingTopic adds the topic to an error that does not tell it; of several topics one would not know which.
func namingTopic(err error, topic string) error {
	if strings.Contains(err.Error(), strconv.Quote(topic)) {
		return err
	}
	return fmt.Errorf("topic %q: %w", topic, err)
}
