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

// registryRun is a writer of one nullable INT in a format of avro, and a parked batch of two rows, an INSERT and a DELETE.
type registryRun struct {
	*running
	writer *daemontest.Writer
	batch  *pb.SubmitBatch
}

func startRegistry(t *testing.T, avro *pb.AvroFormat) *registryRun {
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
		r := startRegistry(t, c.avro)
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

func TestSchemaIDsAreChecked(t *testing.T) {
	registry := &pb.AvroFormat{Registry: true}
	for _, c := range []struct {
		avro    *pb.AvroFormat
		defines []*pb.DefineSchemas
		want    string
	}{
		{registry, nil, "avro-confluent: the id of the schema is not known"},
		{registry, []*pb.DefineSchemas{{}}, "avro-confluent: the id of the schema is not known"},
		{
			registry, []*pb.DefineSchemas{{ValueSchemaId: proto.Int32(1)}, {ValueSchemaId: proto.Int32(2)}},
			"DefineSchemas.value_schema_id = 2 after 1",
		},
		{registry, []*pb.DefineSchemas{{KeySchemaId: proto.Int32(1)}}, "the writer has no key"},
		{&pb.AvroFormat{}, []*pb.DefineSchemas{{ValueSchemaId: proto.Int32(1)}}, "the format avro has no schema registry"},
	} {
		r := startRegistry(t, c.avro)
		for _, d := range c.defines {
			r.define(d)
		}
		r.writer.Submit(1, r.batch)
		failure := r.writer.Failure()
		if failure.GetKind() != pb.ErrorKind_BAD_REQUEST || !strings.Contains(failure.GetMessage(), c.want) {
			t.Errorf("%v %v: got %v, want BAD_REQUEST with %q", c.avro, c.defines, failure, c.want)
		}
		if sealed := r.engine.Sealed("tx-1"); sealed != nil {
			t.Errorf("%v: sealed %+v", c.defines, sealed)
		}
	}
}
