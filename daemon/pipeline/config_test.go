package pipeline

import (
	"reflect"
	"testing"
	"time"

	"google.golang.org/protobuf/reflect/protoreflect"

	pb "penstock.dev/penstock/proto/gen/penstock/v1"
)

// TestEveryKafkaFieldArrives gives every field of the message a value of its own and looks for all of them.
func TestEveryKafkaFieldArrives(t *testing.T) {
	message := &pb.KafkaConfig{}
	fields := message.ProtoReflect().Descriptor().Fields()
	for i := range fields.Len() {
		field, number := fields.Get(i), i+1
		var value protoreflect.Value
		switch field.Kind() {
		case protoreflect.StringKind:
			value = protoreflect.ValueOfString(string(field.Name()))
		case protoreflect.BoolKind:
			value = protoreflect.ValueOfBool(true)
		case protoreflect.Int32Kind:
			value = protoreflect.ValueOfInt32(int32(number))
		case protoreflect.Uint32Kind:
			value = protoreflect.ValueOfUint32(uint32(number))
		case protoreflect.Uint64Kind:
			value = protoreflect.ValueOfUint64(uint64(number))
		case protoreflect.MessageKind:
			// What is in it has a test of its own.
			value = message.ProtoReflect().NewField(field)
		default:
			t.Fatalf("field %s has a kind that the test does not know", field.Name())
		}
		if field.IsList() {
			message.ProtoReflect().Mutable(field).List().Append(value)
			continue
		}
		message.ProtoReflect().Set(field, value)
	}
	open := &pb.OpenWriter{Kafka: message, Topic: "t", Shape: &pb.RecordShape{Partitioner: pb.Partitioner_PARTITIONER_FIXED}}
	config := reflect.ValueOf(producerConfig(open))
	seen := map[any]string{}
	for i := range config.NumField() {
		name, field := config.Type().Field(i).Name, config.Field(i)
		if name == "Lease" || name == "Pace" {
			continue // of the epoch writer and of the pipeline
		}
		if field.IsZero() {
			t.Errorf("Config.%s is not set", name)
			continue
		}
		value := reflect.Indirect(field)
		key := value.Interface()
		switch value.Kind() {
		case reflect.Slice, reflect.Bool, reflect.Struct:
			continue
		case reflect.Int, reflect.Int64:
			key = value.Int()
			if d, ok := value.Interface().(time.Duration); ok {
				key = d.Milliseconds()
			}
		}
		if other := seen[key]; other != "" {
			t.Errorf("Config.%s and Config.%s come from one field", name, other)
		}
		seen[key] = name
	}
	// warm_pool is the epoch writer's and not the engine's; topics and partitioner come from OpenWriter.
	if got, want := config.NumField()-4, fields.Len()-1; got != want {
		t.Errorf("Config has %d fields without Topics, Fixed, Lease and Pace and the message %d without warm_pool", got, want)
	}
	if unset := producerConfig(&pb.OpenWriter{Kafka: &pb.KafkaConfig{}}); unset.Fixed != nil || unset.Retries != nil || unset.CompressionLevel != nil || unset.Linger != nil {
		t.Error("an unset optional field became a value")
	}
}
