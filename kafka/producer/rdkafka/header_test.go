package rdkafka

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestHeaderAgreesWithTheLibrary compares every error code and every variant tag of our header with the header that comes
// with the library.
func TestHeaderAgreesWithTheLibrary(t *testing.T) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/confluentinc/confluent-kafka-go/v2").Output()
	if err != nil {
		t.Fatal(err)
	}
	theirs := read(t, filepath.Join(strings.TrimSpace(string(dir)), "kafka", "librdkafka_vendor", "rdkafka.h"))
	ours := read(t, "penstock_rdkafka.h")

	version := regexp.MustCompile(`#define \w*VERSION (0x\w+)`)
	if a, b := version.FindStringSubmatch(ours)[1], version.FindStringSubmatch(theirs)[1]; a != b {
		t.Errorf("version %s, the library has %s", a, b)
	}
	names := codeNames(theirs)
	codes := regexp.MustCompile(`PS_ERR_(\w+) += (-?\d+)`).FindAllStringSubmatch(ours, -1)
	if len(codes) < 20 {
		t.Fatalf("only %d codes found", len(codes))
	}
	for _, m := range codes {
		if want := names[m[1]]; want != m[2] {
			t.Errorf("PS_ERR_%s = %s, the library has %q", m[1], m[2], want)
		}
	}
	tag := regexp.MustCompile(`RD_KAFKA_VTYPE_(\w+),`)
	a := tag.FindAllStringSubmatch(ours, -1)
	b := tag.FindAllStringSubmatch(theirs[strings.Index(theirs, "typedef enum rd_kafka_vtype_t"):], -1)
	for i := range a {
		if a[i][1] != b[i][1] {
			t.Errorf("variant tag %d is %s, the library has %s", i, a[i][1], b[i][1])
		}
	}
}

// codeNames maps our names to the library's values. Our names leave out the double underscore of local errors and shorten
// what is long.
func codeNames(theirs string) map[string]string {
	long := map[string]string{
		"TOPIC_AUTHORIZATION_FAILED":            "TOPIC_AUTH",
		"MSG_SIZE_TOO_LARGE":                    "MSG_TOO_LARGE",
		"RECORD_LIST_TOO_LARGE":                 "RECORDS_TOO_LARGE",
		"UNKNOWN_TOPIC_OR_PART":                 "UNKNOWN_TOPIC_PART",
		"INVALID_PRODUCER_EPOCH":                "BAD_EPOCH",
		"INVALID_TRANSACTION_TIMEOUT":           "BAD_TXN_TIMEOUT",
		"TRANSACTIONAL_ID_AUTHORIZATION_FAILED": "TXN_ID_AUTH",
	}
	out := map[string]string{}
	for _, m := range regexp.MustCompile(`RD_KAFKA_RESP_ERR_(\w+) += (-?\d+)`).FindAllStringSubmatch(theirs, -1) {
		name := strings.TrimPrefix(m[1], "_")
		if short, ok := long[name]; ok {
			name = short
		}
		out[name] = m[2]
	}
	return out
}

func read(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestVersion(t *testing.T) {
	if err := checkVersion(); err != nil {
		t.Fatal(err)
	}
	if versionText() != "2.11.1" {
		t.Errorf("version %s", versionText())
	}
}
