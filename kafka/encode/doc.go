// Package encode turns columns into the bytes that Flink's own formats would have written, record by record.
//
// A schema is compiled once into a Plan (immutable, shared by all writers of that schema). An Encoder belongs to one
// goroutine and holds the memory that is used again for each batch:
//
//	CompileJSON(row type, options) --> Plan --NewEncoder--> Encoder --Encode(batch, selection)--> Encoded
//
// The package knows columns and text, not Kafka's client and not shared memory. Batches are foreign bytes: everything is
// read through bounds-checked slices, so that a peer that changes a batch while it is read can spoil its own rows or get a
// BadBatch, and nothing else.
//
// Sources of the rules: RowDataToJsonConverters, TimeFormats and JsonRowDataSerializationSchema of flink-json 2.2, the
// UTF-8 generator of Jackson 2.18 in its default mode, and java.lang.Double/Float.toString of the running JVM.
package encode
