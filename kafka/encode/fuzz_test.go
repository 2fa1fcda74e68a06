package encode

import (
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/dynamicpb"

	"penstock.dev/penstock/columnar"
)

// fuzz feeds arbitrary bytes through the parser and, when they pass, through encoders of plans for typ: nothing panics, the
// offsets describe the values, and the records pass check. Inputs are long: run it with -fuzzminimizetime 1x, or it spends its
// time on making them shorter.
func fuzz(f *testing.F, typ *columnar.Type, rows [][]any, plans []*Plan, check func(t *testing.T, value []byte)) {
	b := columnar.NewBuilder(typ)
	for _, n := range []int{0, 1, len(rows)} {
		for i, r := range rows[:n] {
			b.Append(byte(i%4), r...)
		}
		f.Add(b.Finish(1))
	}
	var encoders []*Encoder
	for _, p := range plans {
		encoders = append(encoders, NewEncoder(p))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		batch, err := columnar.Parse(body, typ, 1)
		if err != nil {
			return
		}
		for _, e := range encoders {
			e.MaxBytes = 1 << 20
			e.SetSchemaID(1)
			out, err := e.Encode(&batch, AllRows(&batch))
			if err != nil {
				continue
			}
			if out.Len() != batch.Rows || int(out.Offsets[out.Len()]) != len(out.Values) {
				t.Fatalf("%d records of %d rows, offsets end at %d of %d", out.Len(), batch.Rows, out.Offsets[out.Len()], len(out.Values))
			}
			if n := len(out.ValueNulls); n != 0 && n != (out.Len()+7)/8 {
				t.Fatalf("%d bytes of nulls for %d records", n, out.Len())
			}
			for i := range out.Len() {
				check(t, out.Value(i))
			}
		}
	})
}

func FuzzEncode(f *testing.F) {
	typ := allTypes()
	ignoring := JSONOptions{Floats: FloatsShortest, IgnoreNullFields: true, NullKeys: NullKeyDrop}
	plans := []*Plan{mustCompile(f, typ, JSONOptions{}), mustCompile(f, typ, ignoring)}
	fuzz(f, typ, allRows(5), plans, checkObject)
}

func FuzzChangelog(f *testing.F) {
	typ := row("s", of(columnar.VarChar), "t", of(columnar.Timestamp), "r", row("i", of(columnar.Integer)))
	var plans []*Plan
	for envelope := EnvelopeDebezium; envelope <= EnvelopeOgg; envelope++ {
		plans = append(plans, mustCompileChangelog(f, envelope, typ, JSONOptions{}),
			mustCompileChangelog(f, envelope, typ, JSONOptions{Timestamps: TimestampISO8601, IgnoreNullFields: true}))
	}
	at := columnar.TimestampValue{Millis: -1, Nanos: 999_999}
	fuzz(f, typ, [][]any{{"a\"\x01é", at, []any{1}}, {nil, nil, nil}, {"", at, []any{nil}}, {"\xFF", nil, nil}}, plans, checkObject)
}

func checkObject(t *testing.T, v []byte) {
	if len(v) < 2 || v[0] != '{' || v[len(v)-1] != '}' {
		t.Fatalf("the value %q is no object", v)
	}
}

func FuzzCSV(f *testing.F) {
	typ := flatTypes()
	plans := []*Plan{
		mustCompileCSV(f, typ, CSVOptions{}), mustCompileCSV(f, typ, CSVOptions{FieldDelimiter: '☃', EscapeCharacter: 'é'}),
		mustCompileCSV(f, typ, CSVOptions{QuotesDisabled: true, NullLiteral: "NULL", ScientificDecimals: true}),
	}
	fuzz(f, typ, flatRows(5), plans, func(t *testing.T, v []byte) {
		// 16 delimiters at the least, whatever the fields are.
		if v == nil || len(v) < 16 {
			t.Fatalf("the value %q has too few fields", v)
		}
	})
}

func FuzzRaw(f *testing.F) {
	typ := row("f", of(columnar.VarBinary))
	plans := []*Plan{mustCompileRaw(f, typ, RawOptions{}), mustCompileRaw(f, typ, RawOptions{LittleEndian: true})}
	fuzz(f, typ, [][]any{{"a"}, {nil}, {""}, {"\xFF"}}, plans, func(*testing.T, []byte) {})
}

func FuzzProtobuf(f *testing.F) {
	typ := protoTypes()
	lists := protoDescriptor(f, "proto3.Lists")
	fuzz(f, typ, protoRows(), []*Plan{mustCompileProtobuf(f, "proto3.Lists", typ)}, func(t *testing.T, v []byte) {
		m := dynamicpb.NewMessage(lists)
		if err := proto.Unmarshal(v, m); err != nil || len(m.GetUnknown()) != 0 {
			t.Fatalf("the value %x is no message: %v", v, err)
		}
	})
}

func FuzzAvro(f *testing.F) {
	typ := avroTypes()
	fuzz(f, typ, avroRows(4), []*Plan{mustCompileAvro(f, typ, AvroOptions{LocalTimestamps: true})}, func(t *testing.T, v []byte) {
		// 19 fields, of which one has no byte that tells whether it is null.
		if len(v) < 19 {
			t.Fatalf("the value %x has too few fields", v)
		}
	})
}

func FuzzAvroDebezium(f *testing.F) {
	text := of(columnar.VarChar)
	typ := row("m", of(columnar.Map, text, of(columnar.Map, text, of(columnar.Array, of(columnar.Integer)))))
	inner := entries{{Key: "c", Value: []any{1, nil}}, {Key: "c", Value: []any{}}, {Key: "\xFF", Value: nil}}
	rows := [][]any{{entries{{Key: "a", Value: inner}, {Key: "b", Value: inner}, {Key: "a", Value: nil}}}, {nil}, {entries{}}}
	plans := []*Plan{mustCompileAvro(f, typ, AvroOptions{Registry: true, Debezium: true})}
	fuzz(f, typ, rows, plans, func(t *testing.T, v []byte) {
		if len(v) < 11 || v[0] != 0 || v[5] != 2 {
			t.Fatalf("the value %x is no framed envelope", v)
		}
	})
}

func FuzzRawFixed(f *testing.F) {
	typ := row("f", of(columnar.BigInt))
	plans := []*Plan{mustCompileRaw(f, typ, RawOptions{}), mustCompileRaw(f, typ, RawOptions{LittleEndian: true})}
	fuzz(f, typ, [][]any{{1}, {nil}, {-1}}, plans, func(t *testing.T, v []byte) {
		if v != nil && len(v) != 8 {
			t.Fatalf("a BIGINT of %d bytes", len(v))
		}
	})
}
