package session

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	pb "penstock.dev/penstock/proto/gen/penstock/v1"
)

func leaseFrame(t testing.TB, purpose string) []byte {
	t.Helper()
	var b bytes.Buffer
	err := WriteFrame(&b, &pb.SessionRequest{Request: &pb.SessionRequest_Lease{Lease: &pb.LeaseRequest{Purpose: purpose}}})
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestFrameRoundTrip(t *testing.T) {
	r := bytes.NewReader(append(leaseFrame(t, "one"), leaseFrame(t, "two")...))
	for _, want := range []string{"one", "two"} {
		var got pb.SessionRequest
		if err := ReadFrame(r, &got); err != nil || got.GetLease().GetPurpose() != want {
			t.Fatalf("got %v, %v; want %q", &got, err, want)
		}
	}
	if err := ReadFrame(r, &pb.SessionRequest{}); err != io.EOF {
		t.Errorf("after the last frame: %v, want io.EOF", err)
	}
}

func TestFrameFaults(t *testing.T) {
	frame := leaseFrame(t, "cut short")
	huge := binary.LittleEndian.AppendUint32(nil, MaxFrame+1)
	for name, test := range map[string]struct {
		bytes []byte
		want  string
	}{
		"cut in the body":   {frame[:len(frame)-1], io.ErrUnexpectedEOF.Error()},
		"cut in the length": {frame[:2], io.ErrUnexpectedEOF.Error()},
		"no body":           {frame[:4], io.ErrUnexpectedEOF.Error()},
		"too large":         {huge, "larger than the limit of 1048576"},
		"not protobuf":      {[]byte{2, 0, 0, 0, 0xff, 0xff}, "not a valid SessionRequest"},
	} {
		err := ReadFrame(bytes.NewReader(test.bytes), &pb.SessionRequest{})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", name, err, test.want)
		}
	}
	err := WriteFrame(io.Discard, &pb.Welcome{Token: make([]byte, MaxFrame+1)})
	if err == nil || !strings.Contains(err.Error(), "larger than the limit") {
		t.Errorf("an oversized frame is written: %v", err)
	}
}

// FuzzReadFrame feeds arbitrary bytes: no panic, no allocation beyond the limit, and what is accepted survives a round trip.
func FuzzReadFrame(f *testing.F) {
	f.Add(leaseFrame(f, "seed"))
	f.Add(binary.LittleEndian.AppendUint32(nil, 1<<31))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		r := bytes.NewReader(data)
		for {
			var m pb.SessionRequest
			err := ReadFrame(r, &m)
			if errors.Is(err, io.EOF) && r.Len() > 0 {
				t.Fatalf("io.EOF with %d bytes left", r.Len())
			}
			if err != nil {
				return
			}
			var b bytes.Buffer
			if err := WriteFrame(&b, &m); err != nil {
				t.Fatal(err)
			}
			var again pb.SessionRequest
			if err := ReadFrame(&b, &again); err != nil || !proto.Equal(&m, &again) {
				t.Fatalf("%v became %v, %v", &m, &again, err)
			}
		}
	})
}
