package broker

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Records reads a topic from its beginning to its current end, as a reader that sees only committed records does, or with
// committed = false as one that sees all of them. Records of one partition are in order.
func (b *Broker) Records(ctx context.Context, topic string, committed bool) ([]*kgo.Record, error) {
	level := kgo.ReadUncommitted()
	if committed {
		level = kgo.ReadCommitted()
	}
	cl, err := kgo.NewClient(kgo.SeedBrokers(b.addr), kgo.FetchIsolationLevel(level), kgo.ConsumeTopics(topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.KeepControlRecords())
	if err != nil {
		return nil, err
	}
	defer cl.Close()
	ends, err := endOffsets(ctx, kadm.NewClient(cl), topic, committed)
	if err != nil {
		return nil, err
	}
	return readUntil(ctx, cl, ends)
}

// visibleWithin is how long the markers of a commit may take, on a machine that is busy.
const visibleWithin = 20 * time.Second

// CommittedRecords is what Records returns for committed records once there are so many of them: a commit is answered before its markers
// are written. When they do not come in some time it returns what there is.
func (b *Broker) CommittedRecords(ctx context.Context, topic string, atLeast int) ([]*kgo.Record, error) {
	for end := time.Now().Add(visibleWithin); ; {
		records, err := b.Records(ctx, topic, true)
		if err != nil || len(records) >= atLeast || time.Now().After(end) {
			return records, err
		}
		select {
		case <-ctx.Done():
			return records, nil
		case <-time.After(pollEvery):
		}
	}
}

// endOffsets are the ends of the partitions that are not empty.
func endOffsets(ctx context.Context, adm *kadm.Client, topic string, committed bool) (map[int32]int64, error) {
	list := adm.ListEndOffsets
	if committed {
		list = adm.ListCommittedOffsets
	}
	listed, err := list(ctx, topic)
	if err == nil {
		err = listed.Error()
	}
	if err != nil {
		return nil, fmt.Errorf("end offsets of %s: %w", topic, err)
	}
	ends := map[int32]int64{}
	listed.Each(func(o kadm.ListedOffset) {
		if o.Offset > 0 {
			ends[o.Partition] = o.Offset
		}
	})
	return ends, nil
}

// readUntil polls until each partition has been read to its end. Control records take part in offsets, not in the result.
func readUntil(ctx context.Context, cl *kgo.Client, ends map[int32]int64) ([]*kgo.Record, error) {
	var records []*kgo.Record
	for len(ends) > 0 {
		fetches := cl.PollFetches(ctx)
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("reading to the end: %w; partitions left: %v", err, ends)
		}
		if err := fetches.Err(); err != nil {
			return nil, err
		}
		fetches.EachRecord(func(r *kgo.Record) {
			if !r.Attrs.IsControl() {
				records = append(records, r)
			}
			if r.Offset+1 >= ends[r.Partition] {
				delete(ends, r.Partition)
			}
		})
	}
	return records, nil
}
