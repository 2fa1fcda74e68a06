package protoplan

import (
	"fmt"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"penstock.dev/penstock/kafka/encode"
	pb "penstock.dev/penstock/proto/gen/penstock/v1"
)

// ProtobufOptions finds the message among the descriptors that the client sent.
func ProtobufOptions(f *pb.ProtobufFormat) (encode.ProtobufOptions, error) {
	opts := encode.ProtobufOptions{NullStringLiteral: f.GetNullStringLiteral()}
	var set descriptorpb.FileDescriptorSet
	if err := proto.Unmarshal(f.GetFileDescriptorSet(), &set); err != nil {
		return opts, fmt.Errorf("protobuf.file_descriptor_set is no FileDescriptorSet: %w", err)
	}
	files, err := protodesc.NewFiles(&set)
	if err != nil {
		return opts, fmt.Errorf("protobuf.file_descriptor_set is not usable: %w", err)
	}
	d, err := files.FindDescriptorByName(protoreflect.FullName(f.GetMessageName()))
	if err != nil {
		return opts, fmt.Errorf("protobuf.message_name %q is not in the descriptors: send the file that defines it", f.GetMessageName())
	}
	message, ok := d.(protoreflect.MessageDescriptor)
	if !ok {
		return opts, fmt.Errorf("protobuf.message_name %q is not a message", f.GetMessageName())
	}
	opts.Message = message
	return opts, nil
}
