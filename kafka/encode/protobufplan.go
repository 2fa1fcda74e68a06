package encode

import (
	"cmp"
	"fmt"
	"slices"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"penstock.dev/penstock/columnar"
)

// ProtobufOptions are the options of Flink's protobuf format that change bytes.
type ProtobufOptions struct {
	// Message describes 'protobuf.message-class-name'. It is read by CompileProtobuf only.
	Message protoreflect.MessageDescriptor
	// NullStringLiteral is 'protobuf.write-null-string-literal': what null strings in arrays and maps become.
	NullStringLiteral string
}

// protobufScalars says which buffers a column has; what is written is up to the field (protoOp).
var protobufScalars = map[columnar.Kind]op{
	columnar.Boolean:   opBool,
	columnar.Integer:   opFixed,
	columnar.BigInt:    opFixed,
	columnar.Float:     opFixed,
	columnar.Double:    opFixed,
	columnar.Char:      opString,
	columnar.VarChar:   opString,
	columnar.Binary:    opBinary,
	columnar.VarBinary: opBinary,
}

// protoOp selects the code that writes one value of a field.
type protoOp uint8

const (
	protoBool protoOp = iota
	// protoInt32 extends the sign to 64 bits, as int32 does on the wire.
	protoInt32
	protoUint32
	protoSint32
	// protoVarint64 is int64 and uint64.
	protoVarint64
	protoSint64
	// protoFixed32 and protoFixed64 are the fixed integers, float and double.
	protoFixed32
	protoFixed64
	protoString
	protoBytes
	// protoEnumName, protoEnumInt and protoEnumLong differ in the column.
	protoEnumName
	protoEnumInt
	protoEnumLong
	protoMessageValue
)

// protoValue is the instruction for a value of a field, an element, or a key or value of a map.
type protoValue struct {
	op protoOp
	// null is what a null element, key or value is written as, with its length where values have one.
	null    []byte
	enum    *protoEnum
	message *protoMessage
}

// protoEnum holds the declared values of an enum.
type protoEnum struct {
	names   map[string]int32
	numbers map[int32]struct{}
	// first is the first declared value, which stands for what is not declared.
	first int32
}

// newTag is a field's number and wire type.
func newTag(number protoreflect.FieldNumber, wire protowire.Type) mark {
	word, length := spreadVarint(protowire.EncodeTag(number, wire))
	return mark{word, length}
}

// protoShape says when and how often a field is written.
type protoShape uint8

const (
	// protoExplicit is written unless the column is null.
	protoExplicit protoShape = iota
	// protoImplicit is also left out at its default.
	protoImplicit
	protoPacked
	protoRepeated
	protoMap
)

// protoField is the instruction for a column.
type protoField struct {
	number protoreflect.FieldNumber
	shape  protoShape
	tag    mark
	// column is the index of the column among its siblings.
	column int
	// rivals are the columns of the same oneof that stand after this one: one of them that is not null replaces it.
	rivals []int
	value  protoValue
	// key is the key of a map, whose values are value. Both have their own tags in an entry.
	key                *protoValue
	keyTag, mappedTag  mark
	hashesWide, isText bool
}

// protoMessage is a message with its fields in the order of the wire, ascending by number.
type protoMessage struct {
	fields   []protoField
	required []protoRequired
}

// protoRequired is a field without which Flink's build() throws; column is -1 when the table has none for it.
type protoRequired struct {
	column int
	path   string
}

// CompileProtobuf compiles a row type for Flink's protobuf format (PbSchemaValidationUtils and the serializers that
// RowToProtoConverter generates, on classes that protoc 26 or newer generated). Columns belong to the fields of the same names.
// Errors are as those of CompileJSON.
func CompileProtobuf(row *columnar.Type, opts ProtobufOptions) (*Plan, error) {
	if opts.Message == nil {
		return nil, fmt.Errorf("protobuf: the message is missing: send its descriptor")
	}
	if !utf8.ValidString(opts.NullStringLiteral) {
		return nil, fmt.Errorf("protobuf.write-null-string-literal = %q is not valid UTF-8", opts.NullStringLiteral)
	}
	c := compiler{
		format: "protobuf", scalars: protobufScalars, composite: []columnar.Kind{columnar.Array, columnar.Map, columnar.Row},
		prefix: func(int, string, int) []byte { return nil }, anyKey: true,
	}
	columns, err := c.columns(row)
	if err != nil {
		return nil, err
	}
	p := protoCompiler{nullLiteral: opts.NullStringLiteral}
	message, err := p.message(row, opts.Message, "")
	if err != nil {
		return nil, fmt.Errorf("protobuf: %w", err)
	}
	return &Plan{format: "protobuf", layout: layoutProtobuf, columns: columns, message: message}, nil
}

// protoCompiler joins types, which are compiled and so are known to be sound, with descriptors. A recursive message ends where the
// type does.
type protoCompiler struct {
	nullLiteral string
}

func (p *protoCompiler) message(row *columnar.Type, md protoreflect.MessageDescriptor, path string) (*protoMessage, error) {
	if md.IsPlaceholder() {
		return nil, fmt.Errorf("the definition of message %s is missing: send the files that it depends on", md.FullName())
	}
	m := &protoMessage{}
	columns := map[protoreflect.FieldNumber]int{}
	for i, name := range row.FieldNames {
		fd := md.Fields().ByName(protoreflect.Name(name))
		if fd == nil {
			return nil, fmt.Errorf("column %q: message %s has no field of that name; rename the column or add the field",
				inPath(path, name), md.FullName())
		}
		columns[fd.Number()] = i
		f, err := p.field(row.Children[i], fd, inPath(path, name))
		if err != nil {
			return nil, err
		}
		f.column = i
		m.fields = append(m.fields, f)
	}
	for k := range m.fields {
		m.fields[k].rivals = rivals(md.Fields().ByNumber(m.fields[k].number), m.fields[k].column, columns)
	}
	slices.SortFunc(m.fields, func(a, b protoField) int { return cmp.Compare(a.number, b.number) })
	for k := range md.Fields().Len() {
		fd := md.Fields().Get(k)
		if fd.Cardinality() != protoreflect.Required {
			continue
		}
		r := protoRequired{column: -1, path: inPath(path, string(fd.Name()))}
		if i, ok := columns[fd.Number()]; ok {
			r.column = i
		}
		m.required = append(m.required, r)
	}
	return m, nil
}

func inPath(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// rivals returns the columns of fd's oneof that stand after its own.
func rivals(fd protoreflect.FieldDescriptor, column int, columns map[protoreflect.FieldNumber]int) []int {
	one := fd.ContainingOneof()
	if one == nil || one.IsSynthetic() {
		return nil
	}
	var later []int
	for k := range one.Fields().Len() {
		if i, ok := columns[one.Fields().Get(k).Number()]; ok && i > column {
			later = append(later, i)
		}
	}
	return later
}

func (p *protoCompiler) field(t *columnar.Type, fd protoreflect.FieldDescriptor, path string) (protoField, error) {
	f := protoField{number: fd.Number()}
	var err error
	wire := protowire.BytesType
	switch {
	case fd.IsMap():
		if t.Kind != columnar.Map {
			return f, mismatch(path, t, fd, "MAP")
		}
		f.shape = protoMap
		err = p.mapping(&f, t, fd, path)
	case fd.IsList():
		if t.Kind != columnar.Array {
			return f, mismatch(path, t, fd, "ARRAY")
		}
		f.shape = protoPacked
		if !fd.IsPacked() {
			f.shape, wire = protoRepeated, wireType(fd.Kind())
		}
		err = p.value(&f.value, t.Children[0], fd, path+"[]")
	default:
		wire = wireType(fd.Kind())
		if !fd.HasPresence() {
			f.shape = protoImplicit
		}
		err = p.value(&f.value, t, fd, path)
	}
	f.tag = newTag(f.number, wire)
	return f, err
}

func (p *protoCompiler) mapping(f *protoField, t *columnar.Type, fd protoreflect.FieldDescriptor, path string) error {
	key, value := fd.MapKey(), fd.MapValue()
	f.key = &protoValue{}
	if err := p.value(f.key, t.Children[0], key, path+"{key}"); err != nil {
		return err
	}
	f.isText, f.hashesWide = f.key.op == protoString, t.Children[0].Kind == columnar.BigInt
	f.keyTag = newTag(key.Number(), wireType(key.Kind()))
	f.mappedTag = newTag(value.Number(), wireType(value.Kind()))
	return p.value(&f.value, t.Children[1], value, path+"{}")
}

// protoKinds says for each kind of field which column it needs and how it is written (PbSchemaValidationUtils.TYPE_MATCH_MAP).
var protoKinds = map[protoreflect.Kind]struct {
	column columnar.Kind
	op     protoOp
	wire   protowire.Type
}{
	protoreflect.BoolKind:     {columnar.Boolean, protoBool, protowire.VarintType},
	protoreflect.Int32Kind:    {columnar.Integer, protoInt32, protowire.VarintType},
	protoreflect.Sint32Kind:   {columnar.Integer, protoSint32, protowire.VarintType},
	protoreflect.Uint32Kind:   {columnar.Integer, protoUint32, protowire.VarintType},
	protoreflect.Fixed32Kind:  {columnar.Integer, protoFixed32, protowire.Fixed32Type},
	protoreflect.Sfixed32Kind: {columnar.Integer, protoFixed32, protowire.Fixed32Type},
	protoreflect.Int64Kind:    {columnar.BigInt, protoVarint64, protowire.VarintType},
	protoreflect.Sint64Kind:   {columnar.BigInt, protoSint64, protowire.VarintType},
	protoreflect.Uint64Kind:   {columnar.BigInt, protoVarint64, protowire.VarintType},
	protoreflect.Fixed64Kind:  {columnar.BigInt, protoFixed64, protowire.Fixed64Type},
	protoreflect.Sfixed64Kind: {columnar.BigInt, protoFixed64, protowire.Fixed64Type},
	protoreflect.FloatKind:    {columnar.Float, protoFixed32, protowire.Fixed32Type},
	protoreflect.DoubleKind:   {columnar.Double, protoFixed64, protowire.Fixed64Type},
	protoreflect.StringKind:   {columnar.VarChar, protoString, protowire.BytesType},
	protoreflect.BytesKind:    {columnar.VarBinary, protoBytes, protowire.BytesType},
	protoreflect.MessageKind:  {columnar.Row, protoMessageValue, protowire.BytesType},
	protoreflect.EnumKind:     {columnar.VarChar, protoEnumName, protowire.VarintType},
}

func wireType(k protoreflect.Kind) protowire.Type { return protoKinds[k].wire }

// columnKind is the kind that stands for those that are written alike.
func columnKind(t *columnar.Type) columnar.Kind {
	switch t.Kind {
	case columnar.Char:
		return columnar.VarChar
	case columnar.Binary:
		return columnar.VarBinary
	}
	return t.Kind
}

// value compiles one value of fd.
func (p *protoCompiler) value(v *protoValue, t *columnar.Type, fd protoreflect.FieldDescriptor, path string) error {
	k, ok := protoKinds[fd.Kind()]
	if !ok {
		return fmt.Errorf("column %q: field %s is a group (or has delimited encoding), which is not supported", path, fd.FullName())
	}
	v.op = k.op
	if fd.Kind() == protoreflect.EnumKind {
		return p.enum(v, t, fd, path)
	}
	if columnKind(t) != k.column {
		return mismatch(path, t, fd, k.column.String())
	}
	switch v.op {
	case protoFixed32:
		v.null = make([]byte, 4)
	case protoFixed64:
		v.null = make([]byte, 8)
	case protoString:
		v.null = protowire.AppendString(nil, p.nullLiteral)
	default:
		v.null = []byte{0}
	}
	if v.op != protoMessageValue {
		return nil
	}
	m, err := p.message(t, fd.Message(), path)
	v.message = m
	return err
}

func (p *protoCompiler) enum(v *protoValue, t *columnar.Type, fd protoreflect.FieldDescriptor, path string) error {
	switch columnKind(t) {
	case columnar.VarChar:
		v.op = protoEnumName
	case columnar.Integer:
		v.op = protoEnumInt
	case columnar.BigInt:
		v.op = protoEnumLong
	default:
		// TINYINT and SMALLINT pass Flink's validation, but its serializer does not compile.
		return mismatch(path, t, fd, "STRING, INT or BIGINT")
	}
	if fd.Enum().IsPlaceholder() {
		return fmt.Errorf("the definition of enum %s is missing: send the files that %s depends on", fd.Enum().FullName(), fd.FullName())
	}
	values := fd.Enum().Values()
	v.enum = &protoEnum{names: map[string]int32{}, numbers: map[int32]struct{}{}, first: int32(values.Get(0).Number())}
	for k := range values.Len() {
		number := int32(values.Get(k).Number())
		v.enum.names[string(values.Get(k).Name())] = number
		v.enum.numbers[number] = struct{}{}
	}
	v.null = appendVarint(nil, mark{}, signed(v.enum.first))
	return nil
}

func mismatch(path string, t *columnar.Type, fd protoreflect.FieldDescriptor, want string) error {
	return fmt.Errorf("column %q has type %v, and field %s is %v %v: the two do not match, use %s",
		path, t.Kind, fd.FullName(), fd.Cardinality(), fd.Kind(), want)
}
