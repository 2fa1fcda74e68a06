package operations

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestFlinkLibIsWhatFlinkLacks: README tells users to copy build/flink-lib into Flink's lib folder, so it must hold all of
// Penstock's client and nothing that Flink or its Kafka connector bring themselves.
func TestFlinkLibIsWhatFlinkLacks(t *testing.T) {
	jars, err := filepath.Glob(filepath.Join(root, "build", "flink-lib", "*.jar"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, jar := range jars {
		names = append(names, filepath.Base(jar))
	}
	all := strings.Join(names, " ")
	for _, needed := range []string{"penstock-arena-", "penstock-session-", "penstock-flink-sink-", "penstock-flink-table-",
		"grpc-netty-shaded-", "grpc-stub-", "protobuf-java-"} {
		if !strings.Contains(all, needed) {
			t.Errorf("build/flink-lib lacks %s*.jar (run `make build`): %s", needed, all)
		}
	}
	for _, name := range names {
		for _, foreign := range []string{"flink-core", "flink-runtime", "flink-connector", "kafka-clients", "log4j", "slf4j", "junit"} {
			if strings.HasPrefix(name, foreign) {
				t.Errorf("build/flink-lib holds %s, which Flink brings itself", name)
			}
		}
	}
}
