package protoplan

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"penstock.dev/penstock/columnar"
	"penstock.dev/penstock/kafka/encode"
	pb "penstock.dev/penstock/proto/gen/penstock/v1"
)

func TestJSONOptions(t *testing.T) {
	got, err := JSONOptions(&pb.JsonFormat{
		TimestampFormat: pb.JsonFormat_ISO_8601, MapNullKeyMode: pb.JsonFormat_LITERAL, MapNullKeyLiteral: "x",
		EncodeDecimalAsPlainNumber: true, EncodeIgnoreNullFields: true,
	}, encode.Dialect{Line: encode.Line20, Floats: encode.FloatsLegacy})
	want := encode.JSONOptions{
		Timestamps: encode.TimestampISO8601, NullKeys: encode.NullKeyLiteral, NullKeyLiteral: "x",
		PlainDecimals: true, IgnoreNullFields: true, Line: encode.Line20, Floats: encode.FloatsLegacy,
	}
	if err != nil || got != want {
		t.Errorf("got %+v, %v", got, err)
	}
	if got, err = JSONOptions(&pb.JsonFormat{}, encode.Dialect{Floats: encode.FloatsShortest}); err != nil || got != (encode.JSONOptions{Floats: encode.FloatsShortest}) {
		t.Errorf("defaults: got %+v, %v", got, err)
	}
	if got, err = JSONOptions(&pb.JsonFormat{MapNullKeyMode: pb.JsonFormat_DROP}, encode.Dialect{}); err != nil || got.NullKeys != encode.NullKeyDrop {
		t.Errorf("DROP: got %+v, %v", got, err)
	}
	for want, j := range map[string]*pb.JsonFormat{
		"json.timestamp-format.standard: unknown value 7": {TimestampFormat: 7},
		"json.map-null-key.mode: unknown value 9":         {MapNullKeyMode: 9},
	} {
		if _, err := JSONOptions(j, encode.Dialect{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
}

func changelog(e pb.ChangelogJsonFormat_Envelope, j *pb.JsonFormat) *pb.Format {
	return &pb.Format{Format: &pb.Format_ChangelogJson{ChangelogJson: &pb.ChangelogJsonFormat{Envelope: e, Json: j}}}
}

func csv(c *pb.CsvFormat) *pb.Format {
	return &pb.Format{Format: &pb.Format_Csv{Csv: c}}
}

func raw(little bool) *pb.Format {
	return &pb.Format{Format: &pb.Format_Raw{Raw: &pb.RawFormat{LittleEndian: little}}}
}

func avro(a *pb.AvroFormat) *pb.Format {
	return &pb.Format{Format: &pb.Format_Avro{Avro: a}}
}

// Every format reaches its compiler with its options: the name and the text of one DELETE row tell.
func TestPlan(t *testing.T) {
	row, err := Type(&pb.Schema{Row: &pb.LogicalType{Root: pb.TypeRoot_ROW, FieldNames: []string{"f"}, Children: []*pb.LogicalType{
		{Root: pb.TypeRoot_DECIMAL, Precision: 4, Scale: 2, Nullable: true},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	small, err := Type(field(pb.TypeRoot_SMALLINT))
	if err != nil {
		t.Fatal(err)
	}
	numbers, err := Type(&pb.Schema{Row: &pb.LogicalType{Root: pb.TypeRoot_ROW, FieldNames: []string{"key_columns"}, Children: []*pb.LogicalType{
		{Root: pb.TypeRoot_ARRAY, Children: []*pb.LogicalType{{Root: pb.TypeRoot_INTEGER, Nullable: true}}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	protobuf := &pb.Format{Format: &pb.Format_Protobuf{Protobuf: shapes(t)}}
	plain := &pb.JsonFormat{EncodeIgnoreNullFields: true}
	for _, c := range []struct {
		row    *columnar.Type
		format *pb.Format
		name   string
		value  any
		want   string
	}{
		{row, &pb.Format{Format: &pb.Format_Json{Json: plain}}, "json", nil, `{}`},
		{row, changelog(pb.ChangelogJsonFormat_DEBEZIUM, nil), "debezium-json", nil, `{"before":{"f":null},"after":null,"op":"d"}`},
		{row, changelog(pb.ChangelogJsonFormat_DEBEZIUM, plain), "debezium-json", nil, `{"before":{},"op":"d"}`},
		{row, changelog(pb.ChangelogJsonFormat_CANAL, plain), "canal-json", nil, `{"data":[{}],"type":"DELETE"}`},
		{row, changelog(pb.ChangelogJsonFormat_MAXWELL, plain), "maxwell-json", nil, `{"data":{},"type":"delete"}`},
		{row, changelog(pb.ChangelogJsonFormat_OGG, plain), "ogg-json", nil, `{"before":{},"op_type":"D"}`},
		{row, csv(&pb.CsvFormat{NullLiteral: proto.String("n")}), "csv", nil, "n"},
		{small, raw(false), "raw", 258, "\x01\x02"},
		{small, raw(true), "raw", 258, "\x02\x01"},
		{numbers, protobuf, "protobuf", []any{300, nil}, "\x12\x03\xAC\x02\x00"},
		{small, avro(&pb.AvroFormat{}), "avro", 258, "\x02\x84\x04"},
	} {
		plan, err := Plan(c.row, c.format, encode.Dialect{Line: encode.Line22, Floats: encode.FloatsLegacy})
		if err != nil {
			t.Errorf("%v: %v", c.format, err)
			continue
		}
		b := columnar.NewBuilder(c.row)
		b.Append(3, c.value)
		batch, err := columnar.Parse(b.Finish(1), c.row, 1)
		if err != nil {
			t.Fatal(err)
		}
		out, err := encode.NewEncoder(plan).Encode(&batch, encode.AllRows(&batch))
		if err != nil || string(out.Values) != c.want || plan.Format() != c.name {
			t.Errorf("%v: got %+v as %s, %v, want %q as %s", c.format, out, plan.Format(), err, c.want, c.name)
		}
	}
}

// The daemon's form of the options, which decide more than the bytes of one row.
func TestAvroOptions(t *testing.T) {
	for _, c := range []struct {
		format *pb.AvroFormat
		want   encode.AvroOptions
	}{
		{&pb.AvroFormat{}, encode.AvroOptions{}}, {&pb.AvroFormat{Registry: true}, encode.AvroOptions{Registry: true}},
		{&pb.AvroFormat{Registry: true, Debezium: true}, encode.AvroOptions{Registry: true, Debezium: true}},
		{&pb.AvroFormat{LocalTimestamps: true}, encode.AvroOptions{LocalTimestamps: true}},
	} {
		if got := avroOptions(c.format); got != c.want {
			t.Errorf("%v: got %+v", c.format, got)
		}
	}
}

func TestPlanRefuses(t *testing.T) {
	row, err := Type(field(pb.TypeRoot_BIGINT))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		format *pb.Format
		want   string
	}{
		{nil, "use json"}, {&pb.Format{}, "use json"}, {&pb.Format{Format: &pb.Format_Json{}}, "use json"},
		{&pb.Format{Format: &pb.Format_Raw{}}, "use json"},
		{changelog(0, nil), "unknown envelope"}, {changelog(9, nil), "unknown envelope"},
		{changelog(pb.ChangelogJsonFormat_OGG, &pb.JsonFormat{TimestampFormat: 7}), "timestamp-format.standard: unknown value 7"},
		{csv(&pb.CsvFormat{QuoteCharacter: '"', QuotesDisabled: true}), "csv.quote-character"},
		{avro(&pb.AvroFormat{Debezium: true}), "debezium without registry"},
		{csv(&pb.CsvFormat{FieldDelimiter: 1 << 31}), "csv.field-delimiter: U+80000000"},
		{&pb.Format{Format: &pb.Format_Protobuf{Protobuf: &pb.ProtobufFormat{MessageName: "m"}}}, `message_name "m" is not in the descriptors`},
		{&pb.Format{Format: &pb.Format_Protobuf{Protobuf: shapes(t)}}, `protobuf: column "f": message penstock.v1.RecordShape has no field`},
	} {
		if _, err := Plan(row, c.format, encode.Dialect{Line: encode.Line22, Floats: encode.FloatsLegacy}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: got %v, want an error with %q", c.format, err, c.want)
		}
	}
}

func TestProtobufWantsFlink22(t *testing.T) {
	row := &columnar.Type{Kind: columnar.Row, FieldNames: []string{"f"}, Children: []*columnar.Type{{Kind: columnar.BigInt}}}
	format := &pb.Format{Format: &pb.Format_Protobuf{Protobuf: shapes(t)}}
	for _, line := range []encode.FlinkLine{encode.LineUnknown, encode.Line20, encode.Line21} {
		want := "not with Flink " + line.String()
		if _, err := Plan(row, format, encode.Dialect{Line: line}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
}

func TestCSVOptions(t *testing.T) {
	got, err := CSVOptions(&pb.CsvFormat{
		FieldDelimiter: 0x2603, QuoteCharacter: '\'', ArrayElementDelimiter: '/', EscapeCharacter: '\\', NullLiteral: proto.String("n"),
		DecimalScientific: true,
	}, encode.Dialect{Line: encode.Line21, Floats: encode.FloatsShortest})
	want := encode.CSVOptions{
		FieldDelimiter: 0x2603, QuoteCharacter: '\'', ArrayElementDelimiter: '/', EscapeCharacter: '\\', NullLiteral: "n",
		ScientificDecimals: true, Line: encode.Line21, Floats: encode.FloatsShortest,
	}
	if err != nil || got != want {
		t.Errorf("got %+v, %v", got, err)
	}
	if got, err = CSVOptions(&pb.CsvFormat{QuotesDisabled: true}, encode.Dialect{}); err != nil || got != (encode.CSVOptions{QuotesDisabled: true}) {
		t.Errorf("got %+v, %v", got, err)
	}
	for _, c := range []*pb.CsvFormat{{FieldDelimiter: 1 << 16}, {QuoteCharacter: 1 << 16}, {ArrayElementDelimiter: 1 << 16}, {EscapeCharacter: 1 << 16}} {
		if _, err := CSVOptions(c, encode.Dialect{}); err == nil || !strings.Contains(err.Error(), "U+10000 is not one UTF-16 unit") {
			t.Errorf("%v: got %v", c, err)
		}
	}
}
