package protoplan

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"

	pb "penstock.dev/penstock/proto/gen/penstock/v1"
)

// formatOf sends the messages of files, which must be in order.
func formatOf(t *testing.T, message string, files ...*descriptorpb.FileDescriptorProto) *pb.ProtobufFormat {
	set, err := proto.Marshal(&descriptorpb.FileDescriptorSet{File: files})
	if err != nil {
		t.Fatal(err)
	}
	return &pb.ProtobufFormat{FileDescriptorSet: set, MessageName: message, NullStringLiteral: "n"}
}

// shapes sends a message of the contract itself.
func shapes(t *testing.T) *pb.ProtobufFormat {
	return formatOf(t, "penstock.v1.RecordShape", protodesc.ToFileDescriptorProto(pb.File_penstock_v1_schema_proto),
		protodesc.ToFileDescriptorProto(pb.File_penstock_v1_error_proto), protodesc.ToFileDescriptorProto(pb.File_penstock_v1_sink_proto))
}

func TestProtobufOptions(t *testing.T) {
	schema := protodesc.ToFileDescriptorProto(pb.File_penstock_v1_schema_proto)
	failure := protodesc.ToFileDescriptorProto(pb.File_penstock_v1_error_proto)
	sink := protodesc.ToFileDescriptorProto(pb.File_penstock_v1_sink_proto)
	opts, err := ProtobufOptions(formatOf(t, "penstock.v1.OpenWriter", schema, failure, sink))
	if err != nil || opts.NullStringLiteral != "n" || opts.Message.Fields().ByName("schema").Message().FullName() != "penstock.v1.Schema" {
		t.Errorf("got %+v, %v", opts, err)
	}
	damaged := formatOf(t, "m")
	damaged.FileDescriptorSet = []byte{0xFF}
	for want, f := range map[string]*pb.ProtobufFormat{
		`message_name "m" is not in the descriptors`:           formatOf(t, "m", schema),
		`message_name "" is not in the descriptors`:            {},
		`message_name "penstock.v1.TypeRoot" is not a message`: formatOf(t, "penstock.v1.TypeRoot", schema),
		"file_descriptor_set is no FileDescriptorSet":          damaged,
		`file_descriptor_set is not usable`:                    formatOf(t, "penstock.v1.OpenWriter", sink),
		`file appears multiple times`:                          formatOf(t, "penstock.v1.Schema", schema, schema),
	} {
		if _, err := ProtobufOptions(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
}
