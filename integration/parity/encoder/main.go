// Command encoder pushes batches through exactly the daemon's code, columnar.Parse and encode, for the parity test, whose
// other side is Flink's own serializer in a JVM.
//
// It reads requests from standard input and writes one answer for each to standard output, in order; the end of the input
// ends it. Every request and every answer is a little-endian uint32 length and that many bytes:
//
//	'S' uint32 n, a serialized penstock.v1.Hello of n bytes with the versions of the client, a serialized penstock.v1.OpenWriter
//	    --> 'O', or 'E' and a message    (its schema, value_format, topic and shape hold for the batches that follow)
//	'I' uint32 the id that a schema registry gave to the schema of values; 'K' the same of keys
//	    --> 'O', or 'E' and a message    (needed after 'S' for a part in a registry's format)
//	'B' uint32 schema tag, the bytes of a batch
//	    --> 'R' or 'W' (below), or 'E' and a message
//
// Batches carry row kinds as they do in shared memory. Numbers are little-endian everywhere.
//
// 'R' answers when OpenWriter has no shape: only values, in the order of the rows:
//
//	'R' uint32 n, n+1 uint32 offsets, uint32 size of the null bitmap, the bitmap, bytes
//
// The null bitmap is empty when no value is null; else it has (n+7)/8 bytes, and a set bit (least significant first) says that
// the value is null, a tombstone, which an empty value is not.
//
// 'W' answers when OpenWriter has a shape: whole records, in the order in which they would be produced. That is the order of the
// rows, except that with a topic column the records of each topic stand together, the topics in the order of their first row.
//
//	'W' uint32 n, then n times:
//	    uint32 the row's index in the batch, from 0
//	    bytes  topic     (OpenWriter.topic when there is no topic column; never null)
//	    int64  timestamp in milliseconds since 1970; -1 when the record has none and gets the time of producing
//	    bytes  key       (null: the record has none)
//	    bytes  value     (null: a tombstone)
//	    uint32 number of headers, then for each, in the order of the record:
//	        bytes key, bytes value
//
// where "bytes" is an int32 length and that many bytes; the length -1 and no bytes is null, 0 is empty. The partition is not
// told: it is chosen by whoever produces. An error ends the whole batch; its message names the first row at which Flink's
// own serializer would fail.
package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"google.golang.org/protobuf/proto"

	"penstock.dev/penstock/columnar"
	"penstock.dev/penstock/kafka/encode"
	"penstock.dev/penstock/kafka/encode/protoplan"
	pb "penstock.dev/penstock/proto/gen/penstock/v1"
)

// maxFrame bounds one request; it is far above any batch.
const maxFrame = 256 << 20

func main() {
	if err := serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "encoder:", err)
		os.Exit(1)
	}
}

// serve answers requests until the input ends. Only a broken frame or a broken pipe is an error.
func serve(in io.Reader, out io.Writer) error {
	r, w := bufio.NewReaderSize(in, 1<<16), bufio.NewWriterSize(out, 1<<16)
	s := session{}
	for {
		request, err := s.read(r)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		answer, err := s.answer(request)
		if err != nil {
			answer = append([]byte{'E'}, err.Error()...)
		}
		if err := write(w, answer); err != nil {
			return err
		}
	}
}

// session is the state between requests.
type session struct {
	frame   []byte
	out     []byte
	parser  *columnar.Parser
	encoder *encode.RecordEncoder
	// open is what the last 'S' told.
	open *pb.OpenWriter
}

func (s *session) read(r io.Reader) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint32(head[:])
	if n > maxFrame {
		return nil, fmt.Errorf("a request of %d bytes: at most %d", n, maxFrame)
	}
	if uint32(cap(s.frame)) < n {
		s.frame = make([]byte, n)
	}
	s.frame = s.frame[:n]
	if _, err := io.ReadFull(r, s.frame); err != nil {
		return nil, fmt.Errorf("a request of %d bytes is cut short: %w", n, io.ErrUnexpectedEOF)
	}
	return s.frame, nil
}

func write(w *bufio.Writer, answer []byte) error {
	var head [4]byte
	binary.LittleEndian.PutUint32(head[:], uint32(len(answer)))
	if _, err := w.Write(head[:]); err != nil {
		return err
	}
	if _, err := w.Write(answer); err != nil {
		return err
	}
	return w.Flush()
}

func (s *session) answer(request []byte) ([]byte, error) {
	if len(request) < 5 {
		return nil, fmt.Errorf("a request of %d bytes: at least 5", len(request))
	}
	switch rest := request[1:]; request[0] {
	case 'S':
		n := int64(binary.LittleEndian.Uint32(rest))
		if n > int64(len(rest)-4) {
			return nil, fmt.Errorf("a Hello of %d bytes in a request of %d", n, len(request))
		}
		return s.schema(rest[4:4+n], rest[4+n:])
	case 'I', 'K':
		return s.schemaID(request[0], int32(binary.LittleEndian.Uint32(rest)))
	case 'B':
		return s.batch(binary.LittleEndian.Uint32(rest), rest[4:])
	}
	return nil, fmt.Errorf("request %q: use 'S', 'I', 'K' or 'B'", request[0])
}

func (s *session) schema(client, message []byte) ([]byte, error) {
	s.parser, s.encoder = nil, nil
	hello, open := &pb.Hello{}, &pb.OpenWriter{}
	if err := proto.Unmarshal(client, hello); err != nil {
		return nil, fmt.Errorf("Hello: %w", err)
	}
	if err := proto.Unmarshal(message, open); err != nil {
		return nil, fmt.Errorf("OpenWriter: %w", err)
	}
	dialect, err := dialectOf(hello)
	if err != nil {
		return nil, err
	}
	row, err := protoplan.Type(open.GetSchema())
	if err != nil {
		return nil, err
	}
	plan, err := protoplan.RecordPlan(row, open, dialect)
	if err != nil {
		return nil, err
	}
	s.parser, s.encoder, s.open = columnar.NewParser(row), encode.NewRecordEncoder(plan), open
	return []byte{'O'}, nil
}

func (s *session) schemaID(request byte, id int32) ([]byte, error) {
	if s.encoder == nil {
		return nil, errors.New("an id before a schema: send 'S' first")
	}
	part := s.encoder.Value
	if request == 'K' {
		part = s.encoder.Key
	}
	if part == nil {
		return nil, errors.New("the id of a key's schema, but the records have no key")
	}
	part.SetSchemaID(id)
	return []byte{'O'}, nil
}

func dialectOf(h *pb.Hello) (encode.Dialect, error) {
	floats, err := encode.SpellingForFeature(int(h.GetJvmFeatureVersion()))
	if err != nil {
		return encode.Dialect{}, err
	}
	line, err := encode.LineOf(h.GetFlinkVersion(), h.GetJacksonVersion())
	return encode.Dialect{Line: line, Floats: floats}, err
}

func (s *session) batch(tag uint32, body []byte) ([]byte, error) {
	if s.parser == nil {
		return nil, errors.New("a batch before a schema: send 'S' first")
	}
	batch, err := s.parser.Parse(body, tag)
	if err != nil {
		return nil, err
	}
	records, err := s.encoder.Encode(batch)
	if err != nil {
		return nil, err
	}
	if s.open.GetShape() == nil {
		s.out = appendValues(s.out[:0], records.Value)
	} else {
		s.out = appendRecords(s.out[:0], records, s.open.GetTopic())
	}
	return s.out, nil
}
