package pipeline_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"google.golang.org/protobuf/encoding/prototext"

	"penstock.dev/penstock/daemon/pipeline"
	"penstock.dev/penstock/kafka/encode"
	"penstock.dev/penstock/kafka/kafkatest"
	"penstock.dev/penstock/memctl"
	pb "penstock.dev/penstock/proto/gen/penstock/v1"
)

// admission is the folder of the table whose other reader, AdmissionCasesTest of client-java/flink-table, writes the plans.
const admission = "../../integration/admission"

// heads finds the name and the verdict of every case.
var heads = regexp.MustCompile(`(?m)^-- ([a-z0-9-]+): (native(?:$| with )|fallback, refused: |fallback: |invalid: )`)

// TestAdmission: what the client calls native a writer can be opened for, and what the client refuses by a rule that the daemon
// has too, the daemon refuses.
func TestAdmission(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(admission, "cases.sql"))
	if err != nil {
		t.Fatal(err)
	}
	counts, old := map[string]int{}, 0
	for _, head := range heads.FindAllStringSubmatch(string(text), -1) {
		name, verdict := head[1], head[2]
		counts[verdict]++
		switch verdict {
		case "native", "native with ":
			t.Run(name, func(t *testing.T) { requireNative(t, "native", name) })
			if _, err := os.Stat(filepath.Join(admission, "native-2.0", name+".txtpb")); err == nil {
				old++
				t.Run(name+" in Flink 2.0", func(t *testing.T) { requireNative(t, "native-2.0", name) })
			}
		case "fallback, refused: ":
			t.Run(name, func(t *testing.T) {
				if openWriter(t, "refused/"+name+".txtpb") == nil {
					t.Error("the client refuses, and the daemon would write it")
				}
			})
		}
	}
	for verdict, least := range map[string]int{"native": 20, "native with ": 3, "fallback, refused: ": 4, "fallback: ": 10, "invalid: ": 3} {
		if counts[verdict] < least {
			t.Errorf("%d cases are %q, want at least %d", counts[verdict], verdict, least)
		}
	}
	if old < 5 {
		t.Errorf("%d plans are others in Flink 2.0, want at least 5", old)
	}
}

func requireNative(t *testing.T, folder, name string) {
	t.Helper()
	if err := openWriter(t, filepath.Join(folder, name+".txtpb")); err != nil {
		t.Errorf("the client calls it native, and the daemon refuses: %v", err)
	}
}

// openWriter opens a writer for the plan in a file, as clients on an old and on a new JVM would ask for it.
func openWriter(t *testing.T, file string) error {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(admission, file))
	if err != nil {
		t.Fatal(err)
	}
	open := new(pb.OpenWriter)
	if err := prototext.Unmarshal(text, open); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	open.Kafka = &pb.KafkaConfig{BootstrapServers: []string{"localhost:1"}}
	for _, spelling := range []encode.FloatSpelling{encode.FloatsLegacy, encode.FloatsShortest} {
		session, err := memctl.NewLedger().Join([]byte("p"), 1, 64<<20, 0, "tm")
		if err != nil {
			t.Fatal(err)
		}
		w, err := pipeline.Open(t.Context(), 1, open, pipeline.Options{
			Account: session.Account(), Engine: kafkatest.New(kafkatest.Faults{}), Dialect: encode.Dialect{Line: encode.Line22, Floats: spelling}, Log: slog.New(slog.DiscardHandler),
		})
		if err != nil {
			return err
		}
		w.Close(nil)
	}
	return nil
}
