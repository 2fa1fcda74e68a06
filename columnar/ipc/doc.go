// Package ipc writes the metadata of Arrow's IPC format over batches of rows, so that a batch can lie on a disk as it lies in shared
// memory and any Arrow reader can open it: an encapsulated schema message, then for each batch an encapsulated record batch
// message whose body is the batch itself (shm/LAYOUT.md, section Batches), byte for byte.
//
//	| schema message | record batch message | body: the batch | record batch message | body: ... | end of stream |
//
// That works because a batch has Arrow's field nodes and buffers in Arrow's order: the message names the buffers where they
// are. What no buffer of the message names (header, tables, row kinds, padding) is a gap in the body, which the format allows. A map is
// the list of structs that it is, since Flink knows null keys.
//
// The numbers of the tables' fields are those of Arrow's Message.fbs and Schema.fbs. Only the metadata is written here, by the
// flatbuffers library; tests read the result with arrow-go.
package ipc
