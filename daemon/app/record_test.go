package app

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"penstock.dev/penstock/columnar"
	"penstock.dev/penstock/daemon/daemontest"
	"penstock.dev/penstock/kafka/kafkatest"
	"penstock.dev/penstock/kafka/producer"
	pb "penstock.dev/penstock/proto/gen/penstock/v1"
)

// orders is a table with a key, a value and every kind of metadata.
var orders = struct {
	schema *pb.Schema
	rows   *columnar.Type
}{
	&pb.Schema{Row: &pb.LogicalType{
		Root: pb.TypeRoot_ROW, FieldNames: []string{"k_id", "v", "at", "headers", "topic"}, Children: []*pb.LogicalType{
			{Root: pb.TypeRoot_VARCHAR, Nullable: true}, {Root: pb.TypeRoot_INTEGER, Nullable: true},
			{Root: pb.TypeRoot_TIMESTAMP_LTZ, Precision: 3, Nullable: true},
			{Root: pb.TypeRoot_MAP, Nullable: true, Children: []*pb.LogicalType{
				{Root: pb.TypeRoot_VARCHAR, Nullable: true}, {Root: pb.TypeRoot_VARBINARY, Nullable: true}}},
			{Root: pb.TypeRoot_VARCHAR, Nullable: true},
		}}},
	&columnar.Type{Kind: columnar.Row, FieldNames: []string{"k_id", "v", "at", "headers", "topic"}, Children: []*columnar.Type{
		{Kind: columnar.VarChar, Nullable: true}, {Kind: columnar.Integer, Nullable: true},
		{Kind: columnar.TimestampLTZ, Precision: 3, Nullable: true},
		{Kind: columnar.Map, Nullable: true, Children: []*columnar.Type{
			{Kind: columnar.VarChar, Nullable: true}, {Kind: columnar.VarBinary, Nullable: true}}},
		{Kind: columnar.VarChar, Nullable: true},
	}},
}

// openOrders is an upsert table whose rows choose their topic.
func openOrders(c *daemontest.Client) *pb.OpenWriter {
	at, headers, topic := uint32(2), uint32(3), uint32(4)
	request := daemontest.OpenRequest(c, pb.DeliveryGuarantee_EXACTLY_ONCE)
	request.Topic, request.Schema = "", orders.schema
	request.Shape = &pb.RecordShape{
		KeyFormat:  &pb.Format{Format: &pb.Format_Raw{Raw: &pb.RawFormat{}}},
		KeyColumns: []uint32{0}, KeyNames: []string{"id"}, ValueColumns: []uint32{1, 0}, Upsert: true,
		TimestampColumn: &at, HeadersColumn: &headers, TopicColumn: &topic, Topics: []string{"a", "b"},
		Partitioner: pb.Partitioner_PARTITIONER_FIXED,
	}
	return request
}

func orderRows(sequence uint64, rows ...[]any) daemontest.Batch {
	b := columnar.NewBuilder(orders.rows)
	for i, r := range rows {
		b.Append([]byte{0, 1, 2, 3}[i%4], r...)
	}
	return daemontest.Batch{Body: b.Finish(daemontest.SchemaTag), Rows: uint32(len(rows)), Sequence: sequence}
}

// Keys, values, timestamps, headers and topics of a whole batch reach the producer, topic by topic.
func TestWholeRecordsReachTheProducer(t *testing.T) {
	r := start(t, kafkatest.Faults{}, nil)
	c := r.client("p1")
	data := c.MustLease()
	w := daemontest.NewWriter(t, r.api(), openOrders(c))
	if opened := w.Opened(); opened.GetEncoder() != "json with key raw" {
		t.Errorf("the encoder is %q", opened.GetEncoder())
	}
	w.Begin(1, "tx-1")
	time := func(ms int64) columnar.TimestampValue { return columnar.TimestampValue{Millis: ms} }
	w.Submit(1, c.Park(data, dataStart, orderRows(1,
		[]any{"k0", 0, time(7), nil, "b"},
		[]any{"k1", 1, nil, []columnar.Entry{{Key: "h", Value: "1"}}, "a"},
		[]any{nil, 2, time(9), []columnar.Entry{{Key: "h", Value: "2"}, {Key: "", Value: ""}}, "a"},
		[]any{"", 3, nil, nil, "b"},
	)))
	sealed := w.Seal(1, 4)
	var got []string
	for _, x := range r.engine.Sealed("tx-1").Records {
		got = append(got, fmt.Sprintf("%s %#v %d %q %v", x.Topic, x.Key, x.Timestamp, x.Value, x.Headers))
	}
	want := []string{
		`b []byte{0x6b, 0x30} 7 "{\"v\":0,\"k_id\":\"k0\"}" []`,
		`b []byte{} -1 "" []`,
		`a []byte{0x6b, 0x31} -1 "" [{h 1}]`,
		`a []byte(nil) 9 "{\"v\":2,\"k_id\":null}" [{h 2} { }]`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if r.engine.Sealed("tx-1").Records[1].Value != nil {
		t.Error("a delete is no tombstone")
	}
	if counters := r.app.Status().GetCounters(); counters.GetRows() != 4 || counters.GetBatches() != 1 ||
		counters.GetEncodedBytes() != 46 || sealed.GetRows() != 4 {
		t.Errorf("counters %v, sealed %v", counters, sealed)
	}
	if topic := r.app.Status().GetWriters()[0].GetTopic(); topic != "a,b" {
		t.Errorf("the status shows the topic %q", topic)
	}
	config := r.engine.Config()
	if place, err := config.Fixed.Partition("a", func() (int, error) { return 3, nil }); err != nil || place != 1 ||
		!slices.Equal(config.Topics, []string{"a", "b"}) {
		t.Errorf("topics %v, subtask 1 of 3 partitions goes to %d, %v", config.Topics, place, err)
	}
}

// What fails names the part, the column and the row, or the topic.
func TestFailuresOfWholeRecords(t *testing.T) {
	lost := errors.New("lost")
	for want, c := range map[string]struct {
		faults kafkatest.Faults
		row    []any
	}{
		"row 0, topic: fail to serialize at field: topic. The topic of the sink record is not valid. Expected topic to be in: [a, b] but was: c": {
			kafkatest.Faults{}, []any{"k", 0, nil, nil, "c"}},
		"row 0, timestamp: fail to serialize at field: at. The timestamp 0": {
			kafkatest.Faults{}, []any{"k", 0, columnar.TimestampValue{}, nil, "a"}},
		`topic "a": lost`: {
			kafkatest.Faults{Produce: func(string) error { return producer.Errorf(producer.FailEpoch, "%w", lost) }}, []any{"k", 0, nil, nil, "a"}},
	} {
		r := start(t, c.faults, nil)
		client := r.client("p1")
		data := client.MustLease()
		w := daemontest.NewWriter(t, r.api(), openOrders(client))
		w.Opened()
		w.Begin(1, "tx-1")
		w.Submit(1, client.Park(data, dataStart, orderRows(1, c.row)))
		if failure := w.Failure(); failure.GetKind() != pb.ErrorKind_FAIL_EPOCH || !strings.HasPrefix(failure.GetMessage(), want) {
			t.Errorf("got %v, want %q", failure, want)
		}
	}
}

func TestShapesThatFallBack(t *testing.T) {
	r := start(t, kafkatest.Faults{}, nil)
	c := r.client("p1")
	for want, change := range map[string]func(*pb.RecordShape){
		"shape.partitioner = 7":               func(s *pb.RecordShape) { s.Partitioner = 7 },
		"key: column 5 of a row of 5 columns": func(s *pb.RecordShape) { s.KeyColumns = []uint32{5} },
	} {
		request := openOrders(c)
		change(request.Shape)
		w := daemontest.NewWriter(t, r.api(), request)
		if failure := w.Failure(); failure.GetKind() != pb.ErrorKind_FALL_BACK || !strings.Contains(failure.GetMessage(), want) {
			t.Errorf("got %v, want %q", failure, want)
		}
	}
}
