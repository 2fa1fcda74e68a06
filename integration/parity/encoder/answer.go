package main

import (
	"encoding/binary"

	"penstock.dev/penstock/kafka/encode"
)

// appendValues writes the answer 'R'.
func appendValues(dst []byte, values *encode.Encoded) []byte {
	dst = append(dst, 'R')
	dst = binary.LittleEndian.AppendUint32(dst, uint32(values.Len()))
	for _, offset := range values.Offsets {
		dst = binary.LittleEndian.AppendUint32(dst, offset)
	}
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(values.ValueNulls)))
	dst = append(dst, values.ValueNulls...)
	return append(dst, values.Values...)
}

// appendRecords writes the answer 'W'; topic is that of records without one of their own.
func appendRecords(dst []byte, r *encode.Records, topic string) []byte {
	dst = append(dst, 'W')
	dst = binary.LittleEndian.AppendUint32(dst, uint32(r.Len()))
	runs := r.Topics
	if runs == nil {
		runs = []encode.TopicRun{{Topic: topic, End: r.Len()}}
	}
	for _, run := range runs {
		for i := run.First; i < run.End; i++ {
			dst = appendRecord(dst, r, i, run.Topic)
		}
	}
	return dst
}

func appendRecord(dst []byte, r *encode.Records, i int, topic string) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(r.Row(i)))
	dst = appendBytes(dst, []byte(topic), false)
	timestamp := encode.NoTimestamp
	if r.Timestamps != nil {
		timestamp = r.Timestamps[i]
	}
	dst = binary.LittleEndian.AppendUint64(dst, uint64(timestamp))
	var key []byte
	if r.Key != nil {
		key = r.Key.Value(i)
	}
	dst = appendBytes(dst, key, key == nil)
	value := r.Value.Value(i)
	dst = appendBytes(dst, value, value == nil)
	if r.Headers == nil {
		return binary.LittleEndian.AppendUint32(dst, 0)
	}
	from, to := r.Headers.Of(i)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(to-from))
	for k := from; k < to; k++ {
		key, value := r.Headers.Header(k)
		dst = appendBytes(appendBytes(dst, key, false), value, false)
	}
	return dst
}

// appendBytes writes a length, -1 for null, and the bytes.
func appendBytes(dst, b []byte, null bool) []byte {
	if null {
		return binary.LittleEndian.AppendUint32(dst, 1<<32-1)
	}
	return append(binary.LittleEndian.AppendUint32(dst, uint32(len(b))), b...)
}
