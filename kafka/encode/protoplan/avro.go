package protoplan

import (
	"penstock.dev/penstock/kafka/encode"
	pb "penstock.dev/penstock/proto/gen/penstock/v1"
)

// avroOptions converts the options of the avro formats; the compiler judges their combinations.
func avroOptions(a *pb.AvroFormat) encode.AvroOptions {
	return encode.AvroOptions{Registry: a.GetRegistry(), Debezium: a.GetDebezium(), LocalTimestamps: a.GetLocalTimestamps()}
}
