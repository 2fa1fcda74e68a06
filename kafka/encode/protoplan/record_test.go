package protoplan

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"penstock.dev/penstock/columnar"
	"penstock.dev/penstock/kafka/encode"
	pb "penstock.dev/penstock/proto/gen/penstock/v1"
)

// people is an upsert table with a prefix for its key and with all metadata.
func people() *pb.OpenWriter {
	text := &pb.LogicalType{Root: pb.TypeRoot_VARCHAR, Nullable: true}
	return &pb.OpenWriter{
		Schema: &pb.Schema{Row: &pb.LogicalType{
			Root: pb.TypeRoot_ROW, FieldNames: []string{"name", "k_id", "at", "headers", "topic"}, Children: []*pb.LogicalType{
				text, {Root: pb.TypeRoot_INTEGER}, {Root: pb.TypeRoot_TIMESTAMP_LTZ, Precision: 3},
				{Root: pb.TypeRoot_MAP, Children: []*pb.LogicalType{text, {Root: pb.TypeRoot_VARBINARY}}}, text,
			}}},
		ValueFormat: csv(&pb.CsvFormat{FieldDelimiter: ';'}),
		Shape: &pb.RecordShape{
			KeyFormat:  &pb.Format{Format: &pb.Format_Json{Json: &pb.JsonFormat{}}},
			KeyColumns: []uint32{1}, KeyNames: []string{"id"}, ValueColumns: []uint32{1, 0}, Upsert: true,
			TimestampColumn: proto.Uint32(2), HeadersColumn: proto.Uint32(3), TopicColumn: proto.Uint32(4), Topics: []string{"a", "b"},
		},
	}
}

func recordPlan(open *pb.OpenWriter) (*encode.RecordPlan, *columnar.Type, error) {
	row, err := Type(open.GetSchema())
	if err != nil {
		return nil, nil, err
	}
	plan, err := RecordPlan(row, open, encode.Dialect{Line: encode.Line22, Floats: encode.FloatsLegacy})
	return plan, row, err
}

func TestRecordPlanKeepsEverything(t *testing.T) {
	plan, row, err := recordPlan(people())
	if err != nil {
		t.Fatal(err)
	}
	b := columnar.NewBuilder(row)
	b.Append(0, "x", 1, columnar.TimestampValue{Millis: 5}, []columnar.Entry{{Key: "h", Value: "v"}}, "b")
	b.Append(3, "x", 2, columnar.TimestampValue{Millis: 6}, []columnar.Entry{}, "a")
	batch, err := columnar.Parse(b.Finish(1), row, 1)
	if err != nil {
		t.Fatal(err)
	}
	r, err := encode.NewRecordEncoder(plan).Encode(&batch)
	if err != nil {
		t.Fatal(err)
	}
	key, value := r.Headers.Header(0)
	if string(r.Key.Value(0)) != `{"id":1}` || string(r.Value.Value(0)) != "1;x" || r.Value.Value(1) != nil || r.Timestamps[0] != 5 ||
		string(key) != "h" || string(value) != "v" || len(r.Topics) != 2 || r.Topics[1].Topic != "a" {
		t.Errorf("key %s, value %s, second value %v, %+v", r.Key.Value(0), r.Value.Value(0), r.Value.Value(1), r)
	}
	b.Append(0, "x", 1, columnar.TimestampValue{Millis: 5}, []columnar.Entry{}, "c")
	if batch, err = columnar.Parse(b.Finish(1), row, 1); err != nil {
		t.Fatal(err)
	}
	if _, err = encode.NewRecordEncoder(plan).Encode(&batch); err == nil || !strings.Contains(err.Error(), "[a, b] but was: c") {
		t.Errorf("got %v", err)
	}
}

func TestRecordPlanWithoutShape(t *testing.T) {
	open := people()
	open.Shape, open.ValueFormat = nil, csv(&pb.CsvFormat{})
	if _, _, err := recordPlan(open); err == nil || !strings.Contains(err.Error(), `column "headers": type MAP is not supported`) {
		t.Errorf("got %v", err)
	}
	open.ValueFormat = changelog(pb.ChangelogJsonFormat_OGG, nil)
	open.Schema = field(pb.TypeRoot_INTEGER)
	if plan, _, err := recordPlan(open); err != nil || plan.Format() != "ogg-json" {
		t.Errorf("got %v, %v", plan, err)
	}
}

func TestRecordPlanRefuses(t *testing.T) {
	avro := &pb.Format{Format: &pb.Format_Avro{Avro: &pb.AvroFormat{Registry: true, Debezium: true}}}
	for want, change := range map[string]func(*pb.OpenWriter, *pb.RecordShape){
		"value: value_format or key_format: none that this daemon knows": func(o *pb.OpenWriter, _ *pb.RecordShape) { o.ValueFormat = &pb.Format{} },
		"key: value_format or key_format: none that this daemon knows":   func(_ *pb.OpenWriter, s *pb.RecordShape) { s.KeyFormat = &pb.Format{} },
		"shape.key_columns without shape.key_format":                     func(_ *pb.OpenWriter, s *pb.RecordShape) { s.KeyFormat = nil },
		"key: 0 names for 1 columns":                                     func(_ *pb.OpenWriter, s *pb.RecordShape) { s.KeyNames = nil },
		"key: column 5 of a row of 5 columns":                            func(_ *pb.OpenWriter, s *pb.RecordShape) { s.KeyColumns = []uint32{5} },
		"value: column 4294967295 of a row":                              func(_ *pb.OpenWriter, s *pb.RecordShape) { s.ValueColumns = []uint32{1<<32 - 1} },
		`value: csv: column "headers": type MAP is not`:                  func(_ *pb.OpenWriter, s *pb.RecordShape) { s.ValueColumns = []uint32{3} },
		"key: raw: The 'raw' format only supports single": func(_ *pb.OpenWriter, s *pb.RecordShape) {
			s.KeyFormat, s.KeyColumns, s.KeyNames = raw(false), nil, nil
		},
		`column "name" cannot be the timestamp`: func(_ *pb.OpenWriter, s *pb.RecordShape) { s.TimestampColumn = proto.Uint32(0) },
		"because 'canal-json' is not in insert-only mode": func(o *pb.OpenWriter, _ *pb.RecordShape) {
			o.ValueFormat = changelog(pb.ChangelogJsonFormat_CANAL, nil)
		},
		"because 'debezium-avro-confluent' is not in insert-only": func(o *pb.OpenWriter, _ *pb.RecordShape) { o.ValueFormat = avro },
		"Key must be set in upsert mode":                          func(_ *pb.OpenWriter, s *pb.RecordShape) { s.KeyFormat, s.KeyColumns = nil, nil },
	} {
		open := people()
		change(open, open.Shape)
		if _, _, err := recordPlan(open); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
}
