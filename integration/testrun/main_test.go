package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestCountEvents(t *testing.T) {
	in := strings.Join([]string{
		`{"Action":"output","Package":"p","Test":"TestA","Output":"a says\n"}`,
		`{"Action":"pass","Package":"p","Test":"TestA"}`,
		`{"Action":"output","Package":"p","Test":"TestB","Output":"b says\n"}`,
		`{"Action":"fail","Package":"p","Test":"TestB"}`,
		`{"Action":"skip","Package":"p","Test":"TestC"}`,
		`{"Action":"output","Package":"p","Output":"ok  \tp\t0.1s\n"}`,
		`{"Action":"pass","Package":"p"}`,
	}, "\n")
	var out strings.Builder
	got := countEvents(strings.NewReader(in), &out)
	if want := (counts{Passed: 1, Failed: 1, Skipped: 1}); !reflect.DeepEqual(got, want) {
		t.Errorf("counts = %+v, want %+v", got, want)
	}
	if s := out.String(); strings.Contains(s, "a says") || !strings.Contains(s, "b says") || !strings.Contains(s, "ok  \tp") {
		t.Errorf("output = %q: want the failed test's output and the package's line only", s)
	}
}

func TestNewerJDKs(t *testing.T) {
	dir := t.TempDir()
	for name, release := range map[string]string{"old": `JAVA_VERSION="17.0.15"`, "ancient": `JAVA_VERSION="1.8.0_412"`,
		"new": `IMPLEMENTOR="x"` + "\n" + `JAVA_VERSION="21.0.2"`, "newest": `JAVA_VERSION="25"`} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name, "release"), []byte(release+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(dir, "new"), filepath.Join(dir, "again")); err != nil {
		t.Fatal(err)
	}
	got := newerJDKs(filepath.Join(dir, "*"), filepath.Join(dir, "newest"))
	if len(got) != 2 || !strings.HasSuffix(got[0], "/new") || !strings.HasSuffix(got[1], "/newest") {
		t.Errorf("got %q, want new and newest once each", got)
	}
}

func TestCountReportsIgnoresOldOnes(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, age time.Duration) {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(-age)
		if err := os.Chtimes(file, at, at); err != nil {
			t.Fatal(err)
		}
	}
	write("TEST-new.xml", `<testsuite tests="5" errors="1" failures="1" skipped="1"/>`, 0)
	write("TEST-old.xml", `<testsuite tests="9" errors="0" failures="0" skipped="0"/>`, time.Hour)
	got, err := countReports(time.Now().Add(-time.Minute), filepath.Join(dir, "TEST-*.xml"))
	if err != nil {
		t.Fatal(err)
	}
	if want := (counts{Passed: 2, Failed: 2, Skipped: 1}); !reflect.DeepEqual(got, want) {
		t.Errorf("counts = %+v, want %+v", got, want)
	}
}

func TestTheMatrixShowsEveryScenarioOnEveryRelease(t *testing.T) {
	if len(releases) != 3 || len(releasesOf(" KAFKA_3_9 ")) != 1 {
		t.Errorf("releases %q, one chosen: %q", releases, releasesOf(" KAFKA_3_9 "))
	}
	parts := map[string]counts{}
	for i, s := range scenarios {
		for j, release := range releases {
			parts[s.name+" on "+release] = counts{Passed: 10*i + j + 1}
		}
	}
	parts["E4 commit timeouts on KAFKA_3_9"] = counts{Passed: 1, Failed: 2}
	lines := strings.Split(strings.TrimSpace(table(parts)), "\n")
	if len(lines) != len(scenarios)+1 || !strings.HasPrefix(lines[1], "E1 hand-off and replay") ||
		!strings.HasSuffix(lines[1], "1 ok            2 ok            3 ok") || !strings.HasSuffix(lines[4], "1 ok, 2 FAILED") {
		t.Errorf("got\n%s", strings.Join(lines, "\n"))
	}
}

func TestLongerSuitesAreNamed(t *testing.T) {
	everyday, longer := suite{name: "go"}, suite{name: "lines", longer: true}
	for only, want := range map[string][2]bool{"": {true, false}, "lines": {false, true}, "go": {true, false}, "go,lines": {true, true}, "line": {}} {
		if got := [2]bool{everyday.chosen(only), longer.chosen(only)}; got != want {
			t.Errorf("-only %q: go and lines run: %v, want %v", only, got, want)
		}
	}
}
