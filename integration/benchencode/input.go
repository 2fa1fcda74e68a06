package main

import (
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"google.golang.org/protobuf/proto"

	"penstock.dev/penstock/columnar"
	"penstock.dev/penstock/kafka/encode"
	"penstock.dev/penstock/kafka/encode/protoplan"
	pb "penstock.dev/penstock/proto/gen/penstock/v1"
)

// input is one batch for one format.
type input struct {
	format  string
	rows    int
	tag     uint32
	body    []byte
	parser  *columnar.Parser
	encoder *encode.Encoder
	// bytes is the size of all records.
	bytes int
	// record has the same rows for arrow-go; nil for formats that it does not write.
	record arrow.RecordBatch
}

// encode does what the daemon does with a batch once it has it in private memory.
func (in *input) encode() error {
	_, err := in.records()
	return err
}

func (in *input) records() (*encode.Encoded, error) {
	batch, err := in.parser.Parse(in.body, in.tag)
	if err != nil {
		return nil, err
	}
	return in.encoder.Encode(batch, encode.AllRows(batch))
}

// readInputs reads what EncodedRows wrote; every encoder must write the bytes that Flink wrote.
func readInputs(dir string, feature int) ([]*input, error) {
	text, err := os.ReadFile(filepath.Join(dir, "expected.txt"))
	if err != nil {
		return nil, err
	}
	var inputs []*input
	for line := range strings.Lines(string(text)) {
		in := &input{}
		var crc uint32
		if _, err := fmt.Sscan(line, &in.format, &in.rows, &in.tag, &in.bytes, &crc); err != nil {
			return nil, fmt.Errorf("expected.txt has the line %q: %w", line, err)
		}
		if err := in.open(dir, feature); err != nil {
			return nil, fmt.Errorf("%s, %d rows: %w", in.format, in.rows, err)
		}
		out, err := in.records()
		if err != nil {
			return nil, fmt.Errorf("%s, %d rows: %w", in.format, in.rows, err)
		}
		if got := crc32.ChecksumIEEE(out.Values); out.Len() != in.rows || len(out.Values) != in.bytes || got != crc {
			return nil, fmt.Errorf("%s, %d rows: the encoder wrote %d records of %d bytes with the checksum %d, Flink %d bytes with %d: "+
				"'make parity' shows where they differ", in.format, in.rows, out.Len(), len(out.Values), got, in.bytes, crc)
		}
		inputs = append(inputs, in)
	}
	return inputs, nil
}

func (in *input) open(dir string, feature int) error {
	message, err := os.ReadFile(filepath.Join(dir, in.format+".open"))
	if err != nil {
		return err
	}
	writer := &pb.OpenWriter{}
	if err := proto.Unmarshal(message, writer); err != nil {
		return fmt.Errorf("%s.open: %w", in.format, err)
	}
	row, err := protoplan.Type(writer.GetSchema())
	if err != nil {
		return err
	}
	floats, err := encode.SpellingForFeature(feature)
	if err != nil {
		return err
	}
	plan, err := protoplan.Plan(row, writer.GetValueFormat(), floats)
	if err != nil {
		return err
	}
	if in.body, err = os.ReadFile(filepath.Join(dir, fmt.Sprintf("%s-%d.batch", in.format, in.rows))); err != nil {
		return err
	}
	in.parser, in.encoder = columnar.NewParser(row), encode.NewEncoder(plan)
	if arrowWriters[in.format] == nil {
		return nil
	}
	batch, err := in.parser.Parse(in.body, in.tag)
	if err != nil {
		return err
	}
	in.record, err = arrowRecord(row, batch)
	return err
}

// formatsOf returns the formats in the order of the inputs.
func formatsOf(inputs []*input) []string {
	var formats []string
	for _, in := range inputs {
		if !slices.Contains(formats, in.format) {
			formats = append(formats, in.format)
		}
	}
	return formats
}
