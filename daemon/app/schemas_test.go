package app

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"penstock.dev/penstock/columnar"
	"penstock.dev/penstock/daemon/daemontest"
	"penstock.dev/penstock/kafka/kafkatest"
	pb "penstock.dev/penstock/proto/gen/penstock/v1"
)

// registryRun is a writer of one nullable INT in a format of avro, which is also its key where there is one, and a parked batch of
// two rows, an INSERT and a DELETE.
type registryRun struct {
	*running
	writer *daemontest.Writer
	batch  *pb.SubmitBatch
}

// registry is avro-confluent.
var registry = &pb.AvroFormat{Registry: true}

func startRegistry(t *testing.T, key, avro *pb.AvroFormat) *registryRun {
	t.Helper()
	r := start(t, kafkatest.Faults{}, nil)
	c := r.client("p1")
	data := c.MustLease()
	typ := &columnar.Type{Kind: columnar.Row, FieldNames: []string{"id"}, Children: []*columnar.Type{{Kind: columnar.Integer, Nullable: true}}}
	b := columnar.NewBuilder(typ)
	b.Append(0, 1)
	b.Append(3, 1)
	request := daemontest.OpenRequest(c, pb.DeliveryGuarantee_EXACTLY_ONCE)
	request.Schema = &pb.Schema{Row: &pb.LogicalType{Root: pb.TypeRoot_ROW, FieldNames: []string{"id"}, Children: []*pb.LogicalType{
		{Root: pb.TypeRoot_INTEGER, Nullable: true},
	}}}
	request.ValueFormat = &pb.Format{Format: &pb.Format_Avro{Avro: avro}}
	if key != nil {
		request.Shape = &pb.RecordShape{
			KeyFormat: &pb.Format{Format: &pb.Format_Avro{Avro: key}}, KeyColumns: []uint32{0}, KeyNames: []string{"id"}, ValueColumns: []uint32{0},
		}
	}
	w := daemontest.NewWriter(t, r.api(), request)
	w.Opened()
	w.Begin(1, "tx-1")
	batch := c.Park(data, dataStart, daemontest.Batch{Body: b.Finish(daemontest.SchemaTag), Rows: 2, Sequence: 1})
	return &registryRun{r, w, batch}
}

func (r *registryRun) define(d *pb.DefineSchemas) {
	r.writer.Send(&pb.WriteRequest{Request: &pb.WriteRequest_Schemas{Schemas: d}})
}

func TestSchemaIDsReachTheRecords(t *testing.T) {
	for _, c := range []struct {
		avro          *pb.AvroFormat
		first, second string
	}{
		{&pb.AvroFormat{Registry: true}, "\x00\x00\x01\x00\x02\x02\x02", "\x00\x00\x01\x00\x02\x02\x02"},
		{
			&pb.AvroFormat{Registry: true, Debezium: true},
			"\x00\x00\x01\x00\x02" + "\x02\x00\x02\x02\x02\x02\x02c", "\x00\x00\x01\x00\x02" + "\x02\x02\x02\x02\x00\x02\x02d",
		},
	} {
		r := startRegistry(t, nil, c.avro)
		r.define(&pb.DefineSchemas{ValueSchemaId: proto.Int32(65538)})
		// The same once more changes nothing.
		r.define(&pb.DefineSchemas{ValueSchemaId: proto.Int32(65538)})
		r.writer.Submit(1, r.batch)
		r.writer.Seal(1, 2)
		records := r.engine.Sealed("tx-1").Records
		if len(records) != 2 || string(records[0].Value) != c.first || string(records[1].Value) != c.second {
			t.Errorf("%v: got %+v", c.avro, records)
		}
	}
}

// The id of a key's schema is another one than that of the value's, and each part may come alone.
func TestSchemaIDsOfKeysReachTheRecords(t *testing.T) {
	const key, value = "\x00\x00\x00\x00\x07\x02\x02", "\x00\x00\x01\x00\x02\x02\x02"
	for name, c := range map[string]struct {
		value      *pb.AvroFormat
		defines    []*pb.DefineSchemas
		key, first string
	}{
		"both at once": {registry, []*pb.DefineSchemas{{KeySchemaId: proto.Int32(7), ValueSchemaId: proto.Int32(65538)}}, key, value},
		"one by one":   {registry, []*pb.DefineSchemas{{ValueSchemaId: proto.Int32(65538)}, {KeySchemaId: proto.Int32(7)}}, key, value},
		"key alone":    {&pb.AvroFormat{}, []*pb.DefineSchemas{{KeySchemaId: proto.Int32(7)}}, key, "\x02\x02"},
	} {
		r := startRegistry(t, registry, c.value)
		for _, d := range c.defines {
			r.define(d)
		}
		r.writer.Submit(1, r.batch)
		r.writer.Seal(1, 2)
		records := r.engine.Sealed("tx-1").Records
		if len(records) != 2 || string(records[0].Key) != c.key || string(records[1].Key) != c.key || string(records[0].Value) != c.first {
			t.Errorf("%s: got %+v", name, records)
		}
	}
}

func TestSchemaIDsAreChecked(t *testing.T) {
	plain := &pb.AvroFormat{}
	for _, c := range []struct {
		key, avro *pb.AvroFormat
		defines   []*pb.DefineSchemas
		want      string
	}{
		{nil, registry, nil, "avro-confluent: the id of the schema is not known"},
		{nil, registry, []*pb.DefineSchemas{{}}, "avro-confluent: the id of the schema is not known"},
		{
			nil, registry, []*pb.DefineSchemas{{ValueSchemaId: proto.Int32(1)}, {ValueSchemaId: proto.Int32(2)}},
			"DefineSchemas.value_schema_id = 2 after 1",
		},
		{nil, registry, []*pb.DefineSchemas{{KeySchemaId: proto.Int32(1)}}, "the writer has no key"},
		{nil, plain, []*pb.DefineSchemas{{ValueSchemaId: proto.Int32(1)}}, "the format avro has no schema registry"},
		{registry, registry, []*pb.DefineSchemas{{ValueSchemaId: proto.Int32(1)}}, "avro-confluent: the id of the schema is not known"},
		{
			registry, plain, []*pb.DefineSchemas{{KeySchemaId: proto.Int32(1)}, {KeySchemaId: proto.Int32(2)}},
			"DefineSchemas.key_schema_id = 2 after 1",
		},
		{
			registry, plain, []*pb.DefineSchemas{{ValueSchemaId: proto.Int32(1)}},
			"DefineSchemas.value_schema_id = 1, but the format avro has no schema registry",
		},
		{
			plain, registry, []*pb.DefineSchemas{{KeySchemaId: proto.Int32(1)}},
			"DefineSchemas.key_schema_id = 1, but the format avro has no schema registry",
		},
	} {
		r := startRegistry(t, c.key, c.avro)
		for _, d := range c.defines {
			r.define(d)
		}
		r.writer.Submit(1, r.batch)
		failure := r.writer.Failure()
		if failure.GetKind() != pb.ErrorKind_BAD_REQUEST || !strings.Contains(failure.GetMessage(), c.want) {
			t.Errorf("key %v, value %v, %v: got %v, want BAD_REQUEST with %q", c.key, c.avro, c.defines, failure, c.want)
		}
		if sealed := r.engine.Sealed("tx-1"); sealed != nil {
			t.Errorf("%v: sealed %+v", c.defines, sealed)
		}
	}
}
