package pipeline

import (
	"penstock.dev/penstock/kafka/encode"
	"penstock.dev/penstock/kafka/producer"
)

// wholeBatch is all records in the producer's form, for the writer's one topic. It aliases the encoder's memory.
func (w *Writer) wholeBatch(r *encode.Records) *producer.Records {
	out := &producer.Records{
		Topic: w.topic, Values: r.Value.Values, ValueOffsets: r.Value.Offsets, ValueNulls: r.Value.ValueNulls, Timestamps: r.Timestamps,
	}
	if r.Key != nil {
		out.Keys, out.KeyOffsets, out.KeyNulls = r.Key.Values, r.Key.Offsets, r.Key.ValueNulls
	}
	if r.Headers != nil {
		headers := producer.Headers(*r.Headers)
		out.Headers = &headers
	}
	return out
}

// ofTopic is the records of one topic. It is valid until the next call.
func (w *Writer) ofTopic(r *encode.Records, run encode.TopicRun) *producer.Records {
	out := w.wholeBatch(r)
	out.Topic = run.Topic
	out.ValueOffsets = out.ValueOffsets[run.First : run.End+1]
	out.ValueNulls = w.nulls.value.cut(out.ValueNulls, run.First, run.End)
	if out.KeyOffsets != nil {
		out.KeyOffsets = out.KeyOffsets[run.First : run.End+1]
		out.KeyNulls = w.nulls.key.cut(out.KeyNulls, run.First, run.End)
	}
	if out.Timestamps != nil {
		out.Timestamps = out.Timestamps[run.First:run.End]
	}
	if out.Headers != nil {
		out.Headers.Ends = out.Headers.Ends[run.First : run.End+1]
	}
	return out
}

// nullBits is the memory of both bitmaps.
type nullBits struct{ value, key bits }

// bits is memory for a bitmap, least significant bit first.
type bits []byte

// cut copies the bits from first to before end of all, an empty bitmap of which has none set.
func (b *bits) cut(all []byte, first, end int) []byte {
	if len(all) == 0 {
		return nil
	}
	out := (*b)[:0]
	for i := first; i < end; i += 8 {
		low := all[i>>3] >> (i & 7)
		if next := i>>3 + 1; i&7 != 0 && next < len(all) {
			low |= all[next] << (8 - i&7)
		}
		out = append(out, low)
	}
	*b = out
	return out
}
