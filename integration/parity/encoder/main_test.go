package main

import (
	"bytes"
	"encoding/binary"
	"io"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"penstock.dev/penstock/columnar"
	"penstock.dev/penstock/kafka/encode/protoplan"
	pb "penstock.dev/penstock/proto/gen/penstock/v1"
)

func frame(payload ...[]byte) []byte {
	body := bytes.Join(payload, nil)
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(body))), body...)
}

// client is the Hello in front of a schema, of a JVM.
func client(t *testing.T, jvm uint32, flink string) []byte {
	t.Helper()
	hello, err := proto.Marshal(&pb.Hello{FlinkVersion: flink, JacksonVersion: "2.18.2", JvmFeatureVersion: jvm})
	if err != nil {
		t.Fatal(err)
	}
	return append(number(uint32(len(hello))), hello...)
}

func number(n uint32) []byte { return binary.LittleEndian.AppendUint32(nil, n) }

// converse sends requests and returns the payloads of the answers.
func converse(t *testing.T, requests ...[]byte) []string {
	t.Helper()
	var out bytes.Buffer
	if err := serve(bytes.NewReader(bytes.Join(requests, nil)), &out); err != nil {
		t.Fatal(err)
	}
	var answers []string
	for out.Len() > 0 {
		n := binary.LittleEndian.Uint32(out.Next(4))
		answers = append(answers, string(out.Next(int(n))))
	}
	return answers
}

func openWriter(t *testing.T) *pb.OpenWriter {
	t.Helper()
	return &pb.OpenWriter{
		Schema: &pb.Schema{Row: &pb.LogicalType{Root: pb.TypeRoot_ROW, FieldNames: []string{"n", "x"}, Children: []*pb.LogicalType{
			{Root: pb.TypeRoot_BIGINT}, {Root: pb.TypeRoot_DOUBLE, Nullable: true},
		}}},
		ValueFormat: &pb.Format{Format: &pb.Format_Json{Json: &pb.JsonFormat{}}},
	}
}

// marshal returns the row type of open and the message itself.
func marshal(t *testing.T, open *pb.OpenWriter) (*columnar.Type, []byte) {
	t.Helper()
	row, err := protoplan.Type(open.Schema)
	if err != nil {
		t.Fatal(err)
	}
	message, err := proto.Marshal(open)
	if err != nil {
		t.Fatal(err)
	}
	return row, message
}

func TestConversation(t *testing.T) {
	row, message := marshal(t, openWriter(t))
	b := columnar.NewBuilder(row)
	b.Append(0, 1, 2e23)
	b.Append(0, 22, nil)
	body := b.Finish(7)
	b.Append(0, nil, nil)
	nullBody := b.Finish(7)
	got := converse(t,
		frame([]byte{'B'}, number(7), body),
		frame([]byte{'S'}, client(t, 17, "2.2.1"), message),
		frame([]byte{'B'}, number(7), body),
		frame([]byte{'B'}, number(8), body),
		frame([]byte{'B'}, number(7), nullBody),
		frame([]byte{'S'}, client(t, 21, "2.1.2"), message),
		frame([]byte{'B'}, number(7), body),
		frame([]byte{'S'}, client(t, 3, "2.2.1"), message),
		frame([]byte{'S'}, client(t, 17, "9.0.0"), message),
		frame([]byte{'S'}, number(1000), message),
		frame([]byte{'?'}, number(0)),
		frame(nil),
	)
	records := func(first, second string) string {
		offsets := append(append(number(0), number(uint32(len(first)))...), number(uint32(len(first)+len(second)))...)
		return "R" + string(number(2)) + string(offsets) + string(number(0)) + first + second
	}
	want := []string{
		"Ea batch before a schema", "O", records(`{"n":1,"x":1.9999999999999998E23}`, `{"n":22,"x":null}`),
		"Emalformed batch: schema tag is 7", "Erow 0: fail to serialize at field: n.", "O",
		records(`{"n":1,"x":2.0E23}`, `{"n":22,"x":null}`), "EJVM feature version 3", `Ethe bytes of Flink "9.0.0" are not known`,
		"Ea Hello of 1000 bytes", "Erequest '?'", "Ea request of 0 bytes",
	}
	if len(got) != len(want) {
		t.Fatalf("%d answers to %d requests: %q", len(got), len(want), got)
	}
	for i := range want {
		exact := want[i][0] != 'E'
		if exact && got[i] != want[i] || !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("answer %d: %q, want %q", i, got[i], want[i])
		}
	}
}

// The ids of schemas hold for the batches after them, each for its part of the record.
func TestSchemaID(t *testing.T) {
	registry := &pb.Format{Format: &pb.Format_Avro{Avro: &pb.AvroFormat{Registry: true}}}
	open := &pb.OpenWriter{
		ValueFormat: registry,
		Schema:      &pb.Schema{Row: &pb.LogicalType{Root: pb.TypeRoot_ROW, FieldNames: []string{"f"}, Children: []*pb.LogicalType{{Root: pb.TypeRoot_BIGINT}}}},
	}
	row, values := marshal(t, open)
	open.Shape = &pb.RecordShape{KeyFormat: registry, KeyColumns: []uint32{0}, KeyNames: []string{"f"}, ValueColumns: []uint32{0}}
	_, whole := marshal(t, open)
	b := columnar.NewBuilder(row)
	b.Append(0, 1)
	batch := frame([]byte{'B'}, number(7), b.Finish(7))
	id := func(part byte, id uint32) []byte { return frame([]byte{part}, number(id)) }
	got := converse(t, id('I', 9), frame([]byte{'S'}, client(t, 17, "2.2.1"), values), batch, id('K', 9), id('I', 9), batch,
		frame([]byte{'S'}, client(t, 17, "2.2.1"), whole), id('I', 9), batch, id('K', 8), batch)
	const eight, nine = "\x06\x00\x00\x00" + "\x00\x00\x00\x00\x08\x02", "\x06\x00\x00\x00" + "\x00\x00\x00\x00\x09\x02"
	unknown := "Eavro-confluent: the id of the schema is not known"
	want := []string{
		"Ean id before a schema: send 'S' first", "O", unknown, "Ethe id of a key's schema, but the records have no key", "O",
		"R" + string(number(1)) + string(number(0)) + string(number(6)) + string(number(0)) + "\x00\x00\x00\x00\x09\x02",
		"O", "O", unknown, "O", "W" + string(number(1)) + string(number(0)) + string(number(0)) + strings.Repeat("\xFF", 8) + eight + nine,
	}
	for i := range want {
		if len(got) != len(want) || !strings.HasPrefix(got[i], want[i]) {
			t.Fatalf("answers %q, want %q", got, want)
		}
	}
}

// Batches keep their row kinds and null values their nullness.
func TestKindsAndNulls(t *testing.T) {
	message := func(f *pb.Format, root pb.TypeRoot) (*columnar.Type, []byte) {
		return marshal(t, &pb.OpenWriter{ValueFormat: f, Schema: &pb.Schema{Row: &pb.LogicalType{
			Root: pb.TypeRoot_ROW, FieldNames: []string{"f"}, Children: []*pb.LogicalType{{Root: root, Nullable: true}},
		}}})
	}
	row, raw := message(&pb.Format{Format: &pb.Format_Raw{Raw: &pb.RawFormat{}}}, pb.TypeRoot_VARCHAR)
	_, canal := message(&pb.Format{Format: &pb.Format_ChangelogJson{ChangelogJson: &pb.ChangelogJsonFormat{
		Envelope: pb.ChangelogJsonFormat_CANAL}}}, pb.TypeRoot_VARCHAR)
	b := columnar.NewBuilder(row)
	b.Append(0, "")
	b.Append(3, nil)
	b.Append(2, "x")
	body := b.Finish(7)
	got := converse(t,
		frame([]byte{'S'}, client(t, 17, "2.2.1"), raw), frame([]byte{'B'}, number(7), body),
		frame([]byte{'S'}, client(t, 17, "2.2.1"), canal), frame([]byte{'B'}, number(7), body))
	values := []string{`{"data":[{"f":""}],"type":"INSERT"}`, `{"data":[{"f":null}],"type":"DELETE"}`, `{"data":[{"f":"x"}],"type":"INSERT"}`}
	all := strings.Join(values, "")
	want := []string{
		"O", "R" + string(number(3)) + string(bytes.Join([][]byte{number(0), number(0), number(0), number(1), number(1)}, nil)) + "\x02x",
		"O", "R" + string(number(3)) + string(bytes.Join([][]byte{number(0), number(uint32(len(values[0]))),
			number(uint32(len(values[0] + values[1]))), number(uint32(len(all))), number(0)}, nil)) + all,
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("answer %d: %q, want %q", i, got[i], want[i])
		}
	}
}

// Whole records arrive with every part, null told from empty, and with the index of their row.
func TestWholeRecords(t *testing.T) {
	open := &pb.OpenWriter{
		Topic: "t",
		Schema: &pb.Schema{Row: &pb.LogicalType{
			Root: pb.TypeRoot_ROW, FieldNames: []string{"k", "v", "at", "h", "topic"}, Children: []*pb.LogicalType{
				{Root: pb.TypeRoot_VARCHAR, Nullable: true}, {Root: pb.TypeRoot_VARCHAR, Nullable: true},
				{Root: pb.TypeRoot_TIMESTAMP_LTZ, Precision: 3, Nullable: true},
				{Root: pb.TypeRoot_MAP, Nullable: true, Children: []*pb.LogicalType{
					{Root: pb.TypeRoot_VARCHAR, Nullable: true}, {Root: pb.TypeRoot_VARBINARY, Nullable: true}}},
				{Root: pb.TypeRoot_VARCHAR, Nullable: true},
			}}},
		ValueFormat: &pb.Format{Format: &pb.Format_Raw{Raw: &pb.RawFormat{}}},
		Shape:       &pb.RecordShape{ValueColumns: []uint32{1}},
	}
	message := func() []byte {
		body, err := proto.Marshal(open)
		if err != nil {
			t.Fatal(err)
		}
		return body
	}
	row, err := protoplan.Type(open.Schema)
	if err != nil {
		t.Fatal(err)
	}
	b := columnar.NewBuilder(row)
	b.Append(0, "k", "a", columnar.TimestampValue{Millis: 0x0102}, []columnar.Entry{{Key: "x", Value: "yz"}, {Key: "", Value: ""}}, "p")
	b.Append(0, nil, nil, nil, nil, "q")
	b.Append(0, "", "", nil, []columnar.Entry{}, "p")
	body := b.Finish(7)
	values := frame([]byte{'S'}, client(t, 17, "2.2.1"), message())
	open.Topic = ""
	open.Shape.KeyFormat, open.Shape.KeyColumns, open.Shape.KeyNames = open.ValueFormat, []uint32{0}, []string{"k"}
	open.Shape.TimestampColumn, open.Shape.HeadersColumn, open.Shape.TopicColumn = proto.Uint32(2), proto.Uint32(3), proto.Uint32(4)
	whole := frame([]byte{'S'}, client(t, 17, "2.2.1"), message())
	got := converse(t, values, frame([]byte{'B'}, number(7), body), whole, frame([]byte{'B'}, number(7), body))
	const none, null = "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", "\xFF\xFF\xFF\xFF"
	text := func(s string) string { return string(number(uint32(len(s)))) + s }
	n := func(n uint32) string { return string(number(n)) }
	want := []string{
		"O",
		"W" + n(3) + n(0) + text("t") + none + null + text("a") + n(0) + n(1) + text("t") + none + null + null + n(0) +
			n(2) + text("t") + none + null + text("") + n(0),
		"O",
		"W" + n(3) + n(0) + text("p") + "\x02\x01\x00\x00\x00\x00\x00\x00" + text("k") + text("a") + n(2) + text("x") + text("yz") + text("") + text("") +
			n(2) + text("p") + none + text("") + text("") + n(0) + n(1) + text("q") + none + null + null + n(0),
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("answer %d: %q, want %q", i, got[i], want[i])
		}
	}
}

func TestBrokenFrames(t *testing.T) {
	for want, in := range map[string][]byte{
		"is cut short": append(number(10), 'S'),
		"at most":      number(maxFrame + 1),
		"EOF":          {1, 0},
	} {
		if err := serve(bytes.NewReader(in), io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%x: got %v, want an error with %q", in, err, want)
		}
	}
}
