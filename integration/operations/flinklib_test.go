package operations

import (
	"encoding/xml"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// flinkLib returns the names of the jars in build/flink-lib.
func flinkLib(t *testing.T) []string {
	t.Helper()
	jars, err := filepath.Glob(filepath.Join(root, "build", "flink-lib", "*.jar"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, jar := range jars {
		names = append(names, filepath.Base(jar))
	}
	return names
}

// TestFlinkLibHasTheProtobufOfFlink: both may lie in Flink's lib folder, where the older one would come first; the messages of the
// client refuse to load with a protobuf-java that is older than the protoc which made them.
func TestFlinkLibHasTheProtobufOfFlink(t *testing.T) {
	path := filepath.Join(root, "client-java", "flink-table", "target", "user-jar", "flink-protobuf.pom")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (run `make build`)", err)
	}
	var pom struct {
		Version      string `xml:"parent>version"`
		Dependencies []struct {
			Artifact string `xml:"artifactId"`
			Version  string `xml:"version"`
		} `xml:"dependencies>dependency"`
	}
	if err := xml.Unmarshal(text, &pom); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	wanted := ""
	for _, d := range pom.Dependencies {
		if d.Artifact == "protobuf-java" {
			wanted = "protobuf-java-" + d.Version + ".jar"
		}
	}
	if wanted == "" {
		t.Fatalf("%s has no dependency protobuf-java", path)
	}
	names := flinkLib(t)
	if !slices.Contains(names, wanted) {
		t.Errorf("build/flink-lib lacks %s, that of flink-protobuf %s (property protobuf.version of client-java/pom.xml): %v",
			wanted, pom.Version, names)
	}
}

// TestFlinkLibIsWhatFlinkLacks: README tells users to copy build/flink-lib into Flink's lib folder, so it must hold all of
// Penstock's client and nothing that Flink or its Kafka connector bring themselves.
func TestFlinkLibIsWhatFlinkLacks(t *testing.T) {
	names := flinkLib(t)
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
