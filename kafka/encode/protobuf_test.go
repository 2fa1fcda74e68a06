package encode

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"penstock.dev/penstock/columnar"
)

// protoMessages is a package of the messages of integration/flink/src/main/proto; testdata/protobuf_messages.binpb is what protoc makes
// of them with --include_imports and --descriptor_set_out.
const protoMessages = "penstock.integration.parity."

func protoDescriptor(tb testing.TB, name string) protoreflect.MessageDescriptor {
	tb.Helper()
	data, err := os.ReadFile("testdata/protobuf_messages.binpb")
	if err != nil {
		tb.Fatal(err)
	}
	var set descriptorpb.FileDescriptorSet
	if err := proto.Unmarshal(data, &set); err != nil {
		tb.Fatal(err)
	}
	files, err := protodesc.NewFiles(&set)
	if err != nil {
		tb.Fatal(err)
	}
	d, err := files.FindDescriptorByName(protoreflect.FullName(protoMessages + name))
	if err != nil {
		tb.Fatal(err)
	}
	return d.(protoreflect.MessageDescriptor)
}

func mustCompileProtobuf(tb testing.TB, message string, typ *columnar.Type) *Plan {
	tb.Helper()
	p, err := CompileProtobuf(typ, ProtobufOptions{Message: protoDescriptor(tb, message), NullStringLiteral: "nil"})
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// encodeProtobuf writes one row with the null literal "nil".
func encodeProtobuf(tb testing.TB, message string, typ *columnar.Type, values ...any) ([]byte, error) {
	tb.Helper()
	batch := build(tb, typ, values)
	out, err := NewEncoder(mustCompileProtobuf(tb, message, typ)).Encode(batch, AllRows(batch))
	if err != nil {
		return nil, err
	}
	if out.Value(0) == nil {
		tb.Fatal("a null value")
	}
	return out.Value(0), nil
}

// Short names of the types of columns.
var (
	protoInt    = of(columnar.Integer)
	protoLong   = of(columnar.BigInt)
	protoFloat  = of(columnar.Float)
	protoDouble = of(columnar.Double)
	protoText   = of(columnar.VarChar)
	protoBlob   = of(columnar.VarBinary)
	protoFlag   = of(columnar.Boolean)
)

func list(t *columnar.Type) *columnar.Type { return of(columnar.Array, t) }

func mapOf(k, v *columnar.Type) *columnar.Type { return of(columnar.Map, k, v) }

// allKinds has a column for a field of each kind, against the order of the numbers.
func allKinds(prefix string) *columnar.Type {
	return row(prefix+"bytes", protoBlob, prefix+"string", protoText, prefix+"double", protoDouble, prefix+"float", protoFloat,
		prefix+"bool", protoFlag, prefix+"sfixed64", protoLong, prefix+"sfixed32", protoInt, prefix+"fixed64", protoLong,
		prefix+"fixed32", protoInt, prefix+"sint64", protoLong, prefix+"sint32", protoInt, prefix+"uint64", protoLong,
		prefix+"uint32", protoInt, prefix+"int64", protoLong, prefix+"int32", protoInt)
}

var (
	allZero  = []any{"", "", 0.0, float32(0), false, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
	negative = []any{"\xff", "é\U0001F600", math.Copysign(0, -1), float32(math.Copysign(0, -1)), true,
		-1, -2, -3, -4, -5, -6, -7, -8, -9, -10}
)

// What PbRowDataSerializationSchema of flink-protobuf 2.2.0 wrote for these rows.
func TestProtobufRows(t *testing.T) {
	inner := row("f_int32", protoInt)
	lists := row("f_int32", list(protoInt), "f_string", list(protoText), "f_bool", list(protoFlag), "f_fixed64", list(protoLong),
		"u_sint32", list(protoInt), "color", list(protoText), "messages", list(inner))
	for _, c := range []struct {
		name, message string
		typ           *columnar.Type
		values        []any
		want          string
	}{
		{"implicit zero", "proto3.Implicit", allKinds("f_"), allZero, ""},
		{"implicit", "proto3.Implicit", allKinds("f_"), negative, "08f6ffffffffffffffff0110f7ffffffffffffffff0118f8ffffff0f20f9ffffffffffffff" +
			"ff01280b30093dfcffffff41fdffffffffffffff4dfeffffff51ffffffffffffffff580165000000806900000000000000807206c3a9f09f98807a01ff"},
		{"optional zero", "proto3.Optional", allKinds("f_"), allZero, "f00100f80100800200880200900200980200a50200000000a9020000000000000000b502" +
			"00000000b9020000000000000000c00200cd0200000000d1020000000000000000da0200e20200"},
		{"optional", "proto3.Optional", allKinds("f_"), negative, "f001f6ffffffffffffffff01f801f7ffffffffffffffff018002f8ffffff0f8802f9ffffffff" +
			"ffffffff0190020b980209a502fcffffffa902fdffffffffffffffb502feffffffb902ffffffffffffffffc00201cd0200000080d1020000000000000080da0206c3a9f0" +
			"9f9880e20201ff"},
		{"null", "proto3.Optional", allKinds("f_"), make([]any, 15), ""},
		{"nan", "proto3.Implicit", row("f_double", protoDouble, "f_float", protoFloat),
			[]any{math.Float64frombits(0x7FF8000000000123), math.Float32frombits(0x7FC00001)}, "650100c07f69230100000000f87f"},
		{"tags", "proto3.Implicit", row("tag_of_5_bytes", protoInt, "Tag4", protoDouble, "tag_of_3_bytes", protoText, "tagOf_2_Bytes", protoInt,
			"at", row("nanos", protoInt, "seconds", protoLong)), []any{1, 2.0, "x", 300, []any{5, 0}},
			"9201021005f87fac028280010178818080010000000000000040fdffffff0f01000000"},
		{"enum name", "proto3.Implicit", row("color", protoText, "self", row("color", protoText)), []any{"NaN", []any{"COLOR"}},
			"8001ffffffffffffffffff018a0100"},
		{"enum int", "proto3.Implicit", row("color", protoInt, "self", row("color", protoInt)), []any{math.MinInt32, []any{2}},
			"800180808080f8ffffffff018a0100"},
		{"enum long", "proto3.Implicit", row("color", protoLong, "self", row("color", protoLong)), []any{1<<32 + 1, []any{7}}, "8001018a0100"},
		{"grade", "proto2.Legacy", row("grade", protoText), []any{"MINUS"}, "9801fdffffffffffffffff01"},
		{"grade unknown", "proto2.Legacy", row("grade", protoText), []any{"none"}, "980105"},
		{"grade alias", "proto2.Legacy", row("grade", of(columnar.Char)), []any{"NaN"}, "980101"},
		{"oneof ab", "proto3.Oneofs", row("text_one", protoText, "int_one", protoInt, "between", protoInt, "bytes_two", of(columnar.Binary),
			"message_two", inner), []any{"t", 0, 3, "\x01", []any{9}}, "2203f0010948005003"},
		{"oneof ba", "proto3.Oneofs", row("message_two", inner, "bytes_two", protoBlob, "int_one", protoInt, "text_one", protoText),
			[]any{[]any{9}, "\x01", 0, ""}, "0a00120101"},
		{"oneof null", "proto3.Oneofs", row("text_one", protoText, "int_one", protoInt), []any{"t", nil}, "0a0174"},
		{"lists", "proto3.Lists", lists, []any{
			[]any{1, nil, -1}, []any{"a", nil}, []any{true, nil}, []any{1, nil}, []any{-1, nil}, []any{"a", nil, "?"}, []any{[]any{1}, nil, []any{nil}},
		}, "0a0c0100ffffffffffffffffff014210010000000000000000000000000000005a02010072016172036e696c8201030100008a010208018a01008a0100c00101c00100"},
		{"lists empty", "proto3.Lists", lists, []any{[]any{}, []any{}, []any{}, []any{}, []any{}, []any{}, []any{}}, ""},
		{"legacy lists", "proto2.LegacyLists", row("f_int32", list(protoInt), "p_int32", list(protoInt), "grades", list(protoText),
			"p_grades", list(protoInt)), []any{[]any{1, nil}, []any{1, nil}, []any{"a", nil}, []any{-3, 0}},
			"08010800800101800105a2010201008a020bfdffffffffffffffff0100"},
		{"map string", "proto3.Maps", row("v_int32", mapOf(protoText, protoInt)),
			[]any{entries{{Key: "z", Value: 1}, {Key: "y", Value: 0}, {Key: "x"}, {Key: "w", Value: 4}, {Value: 5}}},
			"aa01070a036e696c1005aa01050a01771004aa01050a01781000aa01050a01791000aa01050a017a1001"},
		{"map int", "proto3.Maps", row("k_int32", mapOf(protoInt, protoInt)), []any{entries{
			{Key: 17, Value: 1}, {Key: 1, Value: 2}, {Key: 33, Value: 3}, {Key: -1, Value: 4}, {Key: 100, Value: 5}, {Value: 6},
		}}, "0a0d08ffffffffffffffffff0110040a04080010060a04081110010a04080110020a04082110030a0408641005"},
		{"map long", "proto3.Maps", row("lists", mapOf(protoLong, row("f_int32", list(protoInt)))), []any{entries{
			{Key: 17, Value: []any{[]any{1}}}, {Key: -1}, {Key: 1 << 32, Value: []any{nil}}, {Key: 16, Value: []any{[]any{}}},
		}}, "da020d08ffffffffffffffffff011200da020408101200da0207081112030a0101da02080880808080101200"},
		{"map bool", "proto3.Maps", row("k_bool", mapOf(protoFlag, protoFlag)), []any{entries{{Key: true, Value: true}, {Key: false}}},
			"5a04080010005a0408011001"},
		{"strict", "proto2.Strict", row("grade", protoText, "id", protoInt, "name", protoText), []any{"ZERO", 0, ""}, "0a0010002000"},
		{"malformed", "proto3.Implicit", row("f_string", protoText), []any{"a\xed\xa0\x80\xe2\x82A"}, "720861efbfbdefbfbd41"},
		{"edition", "edition.Edition", row("f_int32", protoInt, "e_int32", protoInt, "r_int32", list(protoInt), "packed", list(protoInt),
			"required", protoLong, "open", protoText, "closed", protoText, "many", list(protoText), "f_string", protoText),
			[]any{0, 0, []any{1, 0}, []any{1, 0}, 0, "?", "?", []any{"NaN", nil}, "\xff"},
			"7203efbfbda80100c80201c80200c203020200c80300e00304e80301e80304"},
		{"reflection", "reflection.ByReflection", row("map", mapOf(protoText, protoLong), "list", list(protoInt), "maybe", protoDouble,
			"f_float", protoFloat, "one_text", protoText, "one_message", row("tint", protoInt)),
			[]any{entries{{Key: "b", Value: 1}, {Key: "a", Value: 0}}, []any{1}, 0.0, float32(math.Copysign(0, -1)), "x", []any{3}},
			"65000000809201050a016110009201050a016210019a010102a1010000000000000000aa0103800103"},
	} {
		got, err := encodeProtobuf(t, c.message, c.typ, c.values...)
		if err != nil || hex.EncodeToString(got) != c.want {
			t.Errorf("%s: got %x, %v, want %s", c.name, got, err, c.want)
		}
	}
}

// Lengths of one to four bytes, in front of messages, packed lists, entries and text that is replaced.
func TestProtobufLengths(t *testing.T) {
	for _, n := range []int{0, 1, 120, 126, 127, 128, 16370, 16383, 16384, 2097151, 2097152} {
		text := strings.Repeat("x", n)
		bits := make([]any, min(n, 20_000))
		for i := range bits {
			bits[i] = i%3 == 0
		}
		got, err := encodeProtobuf(t, "proto3.Implicit", row("self", row("self", row("f_string", protoText))), []any{[]any{text + "\xff"}})
		if err != nil {
			t.Fatal(err)
		}
		m := dynamicpb.NewMessage(protoDescriptor(t, "proto3.Implicit"))
		if err := proto.Unmarshal(got, m); err != nil {
			t.Fatalf("%d: %v", n, err)
		}
		self, leaf := m.Descriptor().Fields().ByName("self"), m.Descriptor().Fields().ByName("f_string")
		if s := m.Get(self).Message().Get(self).Message().Get(leaf).String(); s != text+replacement {
			t.Errorf("%d: a text of %d bytes", n, len(s))
		}
		got, err = encodeProtobuf(t, "proto3.Lists", row("f_bool", list(protoFlag), "maps", list(row("v_bytes", mapOf(protoText, protoBlob)))),
			bits, []any{[]any{entries{{Key: "k", Value: text}}}})
		if err != nil {
			t.Fatal(err)
		}
		m = dynamicpb.NewMessage(protoDescriptor(t, "proto3.Lists"))
		if err := proto.Unmarshal(got, m); err != nil {
			t.Fatalf("%d: %v", n, err)
		}
		maps := m.Get(m.Descriptor().Fields().ByName("maps")).List().Get(0).Message()
		value := maps.Get(maps.Descriptor().Fields().ByName("v_bytes")).Map().Get(protoreflect.ValueOf("k").MapKey())
		if b := m.Get(m.Descriptor().Fields().ByName("f_bool")).List(); b.Len() != len(bits) || len(value.Bytes()) != n {
			t.Errorf("%d: a list of %d and a value of %d", n, b.Len(), len(value.Bytes()))
		}
	}
}

// Rows at which Flink's build() throws.
func TestProtobufRequired(t *testing.T) {
	strict := row("grade", protoText, "id", protoInt, "name", protoText)
	full := []any{"ZERO", 1, "x"}
	noColumn, null := "the table has no column for it", "the column is null"
	for _, c := range []struct {
		message        string
		typ            *columnar.Type
		values         []any
		column, reason string
	}{
		{"proto2.Strict", strict, []any{"ZERO", 0, nil}, "name", null},
		{"proto2.Strict", row("id", protoInt, "name", protoText), []any{1, "x"}, "grade", noColumn},
		{"proto2.Strict", row("id", protoInt, "name", protoText, "grade", protoInt, "inner", strict), []any{1, "x", 0, []any{nil, 1, "x"}},
			"inner.grade", null},
		{"proto2.LegacyLists", row("stricts", list(strict)), []any{[]any{full, nil}}, "stricts[].id", null},
		{"proto2.LegacyLists", row("strict_map", mapOf(protoInt, strict)), []any{entries{{Key: 1, Value: full}, {Key: 2}}}, "strict_map{}.id", null},
		// A value that a later one replaces was built.
		{"proto2.LegacyLists", row("strict_map", mapOf(protoInt, strict)),
			[]any{entries{{Key: 1, Value: []any{"ZERO", nil, "x"}}, {Key: 1, Value: full}}}, "strict_map{}.id", null},
		{"proto2.Legacy", row("c_strict", row("id", protoInt, "grade", protoInt), "c_float", protoFloat), []any{[]any{1, 2}, float32(1)},
			"c_strict.name", noColumn},
	} {
		var e *RowError
		_, err := encodeProtobuf(t, c.message, c.typ, c.values...)
		if !errors.As(err, &e) || e.Column != c.column || !strings.Contains(e.Reason, c.reason) {
			t.Errorf("%s %v: got %v, want %q at %s", c.message, c.values, err, c.reason, c.column)
		}
	}
	// A null that a later value replaces was not built.
	got, err := encodeProtobuf(t, "proto2.LegacyLists", row("strict_map", mapOf(protoInt, strict)), entries{{Key: 1}, {Key: 1, Value: full}})
	if err != nil || hex.EncodeToString(got) != "9a020b080112070a017810012000" {
		t.Errorf("got %x, %v", got, err)
	}
}

// What is written only for its errors counts too, since lists of a foreign batch may overlap.
func TestProtobufDiscards(t *testing.T) {
	text := strings.Repeat("x", 1000)
	value := row("f_string", protoText)
	for _, c := range []struct {
		typ   *columnar.Type
		value []any
	}{
		{row("messages", mapOf(protoText, value)), []any{entries{{Key: "k", Value: []any{text}}, {Key: "k"}}}},
		{row("message_one", value, "int_one", protoInt), []any{[]any{text}, 1}},
	} {
		message := "proto3.Maps"
		if len(c.typ.Children) == 2 {
			message = "proto3.Oneofs"
		}
		var rows [][]any
		for range 20 {
			rows = append(rows, c.value)
		}
		batch := build(t, c.typ, rows...)
		e := NewEncoder(mustCompileProtobuf(t, message, c.typ))
		e.MaxBytes = 2000
		if out, err := e.Encode(batch, RowRange(0, 1)); err != nil || len(out.Values) > 20 {
			t.Errorf("%s: got %x, %v", message, out, err)
		}
		var bad *BadBatch
		if _, err := e.Encode(batch, AllRows(batch)); !errors.As(err, &bad) {
			t.Errorf("%s: got %v, want a BadBatch", message, err)
		}
		if _, err := e.Encode(batch, RowRange(3, 1)); err != nil {
			t.Errorf("%s: the next batch: %v", message, err)
		}
	}
}

// Eleven keys of one bucket are a tree, whose root is walked first.
func TestProtobufMapTree(t *testing.T) {
	var many entries
	for _, key := range colliding(11) {
		many = append(many, columnar.Entry{Key: key, Value: 1})
	}
	got, err := encodeProtobuf(t, "proto3.Maps", row("v_int32", mapOf(protoText, protoInt)), many)
	if err != nil {
		t.Fatal(err)
	}
	root := bytes.Index(got, []byte("AaAaBBBB"))
	if first := bytes.Index(got, []byte("AaAaAaAa")); root < 0 || root > first {
		t.Errorf("the root stands at %d, the first key at %d of %x", root, first, got)
	}
}

// A map in a value of a map is arranged while the outer one is being written, also for several rows.
func TestProtobufNestedMaps(t *testing.T) {
	typ := row("lists", mapOf(protoLong, row("maps", list(row("v_bool", mapOf(protoText, protoFlag))))))
	inner := []any{[]any{[]any{entries{{Key: "b", Value: true}, {Key: "a", Value: false}, {Key: "b", Value: false}}}}}
	outer := entries{{Key: 2, Value: inner}, {Key: 1, Value: inner}, {Key: 2, Value: inner}}
	batch := build(t, typ, []any{outer}, []any{outer[:1]}, []any{outer})
	out, err := NewEncoder(mustCompileProtobuf(t, "proto3.Maps", typ)).Encode(batch, AllRows(batch))
	if err != nil {
		t.Fatal(err)
	}
	lists := "1213920110" + "fa01050a01611000" + "fa01050a01621000"
	first, second := "da02170801"+lists, "da02170802"+lists
	for i, want := range []string{first + second, second, first + second} {
		if got := hex.EncodeToString(out.Value(i)); got != want {
			t.Errorf("row %d: got %s, want %s", i, got, want)
		}
	}
}

// The steady state allocates nothing, maps and nested messages included.
func TestProtobufAllocatesNothing(t *testing.T) {
	typ, rows := protoTypes(), protoRows()
	batch := build(t, typ, rows...)
	e := NewEncoder(mustCompileProtobuf(t, "proto3.Lists", typ))
	if n := testing.AllocsPerRun(20, func() {
		if _, err := e.Encode(batch, AllRows(batch)); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations for a batch", n)
	}
}

// protoTypes is a table over Lists with maps and messages inside.
func protoTypes() *columnar.Type {
	return row("f_sint64", list(protoLong), "u_bool", list(protoFlag), "f_string", list(protoText), "color", list(protoText),
		"messages", list(row("f_double", protoDouble, "self", row("f_bytes", protoBlob, "color", protoLong))),
		"maps", list(row("k_string", mapOf(protoText, protoBlob), "messages", mapOf(protoText, row("f_uint32", protoInt)))))
}

func protoRows() [][]any {
	message := []any{1.5, []any{"b", 1 << 40}}
	m := []any{entries{{Key: "é", Value: "v"}, {Key: "a", Value: nil}}, entries{{Key: "k", Value: []any{-1}}, {Key: nil, Value: nil}}}
	return [][]any{
		{[]any{1, -1, nil}, []any{true}, []any{"x", nil, "\xff"}, []any{"a", "zz"}, []any{message, nil}, []any{m, nil, m}},
		make([]any, 6),
		{[]any{}, []any{nil, false}, []any{strings.Repeat("é", 200)}, []any{}, []any{[]any{nil, nil}}, []any{m}},
	}
}

func TestCompileProtobufRefuses(t *testing.T) {
	implicit := protoDescriptor(t, "proto3.Implicit")
	set := protodesc.ToFileDescriptorProto(protoDescriptor(t, "proto2.Legacy").ParentFile())
	for _, m := range set.MessageType {
		if m.GetName() == "Legacy" {
			i := slices.IndexFunc(m.Field, func(f *descriptorpb.FieldDescriptorProto) bool { return f.GetName() == "inner" })
			m.Field[i].Type = descriptorpb.FieldDescriptorProto_TYPE_GROUP.Enum()
		}
	}
	changed, err := protodesc.FileOptions{AllowUnresolvable: true}.New(set, nil)
	if err != nil {
		t.Fatal(err)
	}
	legacy := changed.Messages().ByName("Legacy")
	for _, c := range []struct {
		message protoreflect.MessageDescriptor
		typ     *columnar.Type
		want    string
	}{
		{nil, row("a", protoInt), "the message is missing"},
		{implicit, protoInt, "protobuf: the schema must be a ROW"},
		{implicit, row("a", protoInt), `column "a": message penstock.integration.parity.proto3.Implicit has no field of that name`},
		{implicit, row("self", row("F_int32", protoInt)), `column "self.F_int32": message`},
		{implicit, row("f_int32", protoLong), `column "f_int32" has type BIGINT, and field penstock.integration.parity.proto3.Implicit.f_int32 is optional int32`},
		{implicit, row("f_int64", protoInt), "use BIGINT"},
		{implicit, row("f_float", protoDouble), "use FLOAT"},
		{implicit, row("f_string", protoBlob), "use VARCHAR"},
		{implicit, row("f_bytes", protoText), "use VARBINARY"},
		{implicit, row("self", protoInt), "use ROW"},
		{implicit, row("color", row("x", protoInt)), "use STRING, INT or BIGINT"},
		{implicit, row("color", of(columnar.TinyInt)), "type TINYINT is not supported by Flink's protobuf format"},
		{implicit, row("color", protoFlag), "use STRING, INT or BIGINT"},
		{implicit, row("f_int32", list(protoInt)), "use INTEGER"},
		{implicit, row("f_int64", of(columnar.Timestamp)), "type TIMESTAMP is not supported"},
		{protoDescriptor(t, "proto3.Lists"), row("f_int32", protoInt), "use ARRAY"},
		{protoDescriptor(t, "proto3.Lists"), row("f_int32", list(protoLong)), `column "f_int32[]" has type BIGINT`},
		{protoDescriptor(t, "proto3.Maps"), row("k_int32", list(protoInt)), "use MAP"},
		{protoDescriptor(t, "proto3.Maps"), row("k_int32", mapOf(protoLong, protoInt)), `column "k_int32{key}" has type BIGINT`},
		{protoDescriptor(t, "proto3.Maps"), row("k_int32", mapOf(protoInt, protoText)), `column "k_int32{}" has type VARCHAR`},
		{protoDescriptor(t, "proto3.Maps"), row("v_int32", of(columnar.Multiset, protoText)), "type MULTISET is not supported"},
		{legacy, row("inner", row("kind", protoInt)), "is a group"},
		{legacy, row("foreign", row("f_int32", protoInt)), "the definition of message penstock.integration.parity.proto3.Implicit is missing"},
	} {
		if _, err := CompileProtobuf(c.typ, ProtobufOptions{Message: c.message}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want an error with %q", err, c.want)
		}
	}
	_, err = CompileProtobuf(row("f_int32", protoInt), ProtobufOptions{Message: implicit, NullStringLiteral: "\xff"})
	if err == nil || !strings.Contains(err.Error(), "write-null-string-literal") {
		t.Errorf("got %v", err)
	}
}
