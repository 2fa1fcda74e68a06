// Package encode turns columns into the bytes that Flink's own formats would have written, record by record.
//
// A schema is compiled once into a Plan (immutable, shared by all writers of that schema). An Encoder belongs to one
// goroutine and holds the memory that is used again for each batch:
//
//	CompileJSON(row type, options) --> Plan --NewEncoder--> Encoder --Encode(batch, selection)--> Encoded
//
// CompileChangelog (debezium-json, canal-json, maxwell-json, ogg-json), CompileCSV, CompileRaw, CompileAvro and CompileProtobuf make plans of
// the other formats. They share one compiler of types and the writers of single values (scalar.go, decimal.go, double.go, time.go,
// utf8.go); each has its own writer of records (json.go, changelog.go, csv.go, raw.go, avro.go, protobuf.go), which decides what stands around them.
//
// A RecordPlan joins plans for the key and the value with the columns of metadata; a RecordEncoder writes whole records
// (record.go, headers.go, topics.go), whose rules are those of DynamicKafkaRecordSerializationSchema and KafkaDynamicSink of
// flink-connector-kafka 5.0.
//
// The package knows columns and text, not Kafka's client and not shared memory. Batches are foreign bytes: everything is
// read through bounds-checked slices, so that a peer that changes a batch while it is read can spoil its own rows or get a
// BadBatch, and nothing else.
//
// Sources of the rules: RowDataToJsonConverters, TimeFormats, JsonRowDataSerializationSchema and the serialization schemas of the
// changelog formats of flink-json 2.2, RowDataToCsvConverters and CsvRowSchemaConverter of flink-csv 2.2, RawFormatSerializationSchema,
// RowDataToAvroConverters and AvroSchemaConverter of flink-avro 2.2, GenericDatumWriter and BinaryEncoder of Avro 1.11,
// the serializers that RowToProtoConverter of flink-protobuf 2.2 generates, on classes of protoc 4.32,
// the UTF-8 generator and the CsvEncoder of Jackson 2.18 in their default modes, and java.lang.Double/Float.toString of the running
// JVM.
package encode
