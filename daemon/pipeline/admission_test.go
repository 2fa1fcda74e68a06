// Package admission_test holds the daemon's side of the admission table, cases.sql, whose head describes it: what the client
// calls native the daemon can compile, and what the client refuses for a rule that the daemon has too, the daemon refuses.
// The other side is AdmissionCasesTest of client-java/flink-table, which writes the plans.
package admission_test

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"google.golang.org/protobuf/encoding/prototext"

	"penstock.dev/penstock/kafka/encode"
	"penstock.dev/penstock/kafka/encode/protoplan"
	pb "penstock.dev/penstock/proto/gen/penstock/v1"
)

// heads finds the name and the verdict of every case.
var heads = regexp.MustCompile(`(?m)^-- ([a-z0-9-]+): (native$|fallback, refused: |fallback: |invalid: )`)

func TestTheDaemonAgrees(t *testing.T) {
	text, err := os.ReadFile("cases.sql")
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for _, head := range heads.FindAllStringSubmatch(string(text), -1) {
		name, verdict := head[1], head[2]
		counts[verdict]++
		switch verdict {
		case "native":
			t.Run(name, func(t *testing.T) {
				if err := compile(t, filepath.Join("native", name+".txtpb")); err != nil {
					t.Errorf("the client calls it native, and the daemon refuses: %v", err)
				}
			})
		case "fallback, refused: ":
			t.Run(name, func(t *testing.T) {
				if compile(t, filepath.Join("refused", name+".txtpb")) == nil {
					t.Error("the client refuses, and the daemon would write it")
				}
			})
		}
	}
	for verdict, least := range map[string]int{"native": 20, "fallback, refused: ": 5, "fallback: ": 10, "invalid: ": 3} {
		if counts[verdict] < least {
			t.Errorf("%d cases are %q, want at least %d", counts[verdict], verdict, least)
		}
	}
}

// compile does with the plan in a file what the daemon does when a writer opens.
func compile(t *testing.T, file string) error {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	open := new(pb.OpenWriter)
	if err := prototext.Unmarshal(text, open); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	row, err := protoplan.Type(open.GetSchema())
	if err != nil {
		return err
	}
	if open.GetTopic() == "" && open.GetShape().TopicColumn == nil {
		return errors.New("no topic")
	}
	_, err = protoplan.RecordPlan(row, open, encode.FloatSpelling{})
	return err
}
