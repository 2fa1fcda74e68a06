package pipeline

import (
	"penstock.dev/penstock/daemon/fault"
	"penstock.dev/penstock/kafka/encode"
	pb "penstock.dev/penstock/proto/gen/penstock/v1"
)

// defineSchemas takes the ids that a schema registry gave. A batch that needs one before fails with encode.NoSchemaID.
func (w *Writer) defineSchemas(d *pb.DefineSchemas) error {
	if w.encoder.Key == nil && d.KeySchemaId != nil {
		return fault.New(pb.ErrorKind_BAD_REQUEST, "DefineSchemas.key_schema_id = %d, but the writer has no key; leave it out", d.GetKeySchemaId())
	}
	if err := setSchemaID("key", w.encoder.Key, d.KeySchemaId); err != nil {
		return err
	}
	return setSchemaID("value", w.encoder.Value, d.ValueSchemaId)
}

// setSchemaID gives an encoder the id of its schema; part is the half of the record that it writes. An id may come again, but not
// another one: records with the former are on their way.
func setSchemaID(part string, e *encode.Encoder, id *int32) error {
	if id == nil {
		return nil
	}
	if !e.NeedsSchemaID() {
		return fault.New(pb.ErrorKind_BAD_REQUEST, "DefineSchemas.%s_schema_id = %d, but the format %s has no schema registry; leave it out",
			part, *id, e.Format())
	}
	if known, set := e.SchemaID(); set && known != *id {
		return fault.New(pb.ErrorKind_BAD_REQUEST, "DefineSchemas.%s_schema_id = %d after %d; a writer keeps its schema, open another one",
			part, *id, known)
	}
	e.SetSchemaID(*id)
	return nil
}
