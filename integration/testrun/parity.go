package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
)

// newerFeature is the first JVM feature version that spells FLOAT and DOUBLE in the shortest way and that Flink supports.
const newerFeature = 21

// formats are the value formats that are native, and whole records of them.
var formats = []string{
	"json", "debezium-json", "canal-json", "maxwell-json", "ogg-json", "csv", "raw", "avro", "avro-confluent", "debezium-avro-confluent",
	"protobuf", "records", "upsert",
}

// parityTest compares bytes with Flink's own serializer in a JVM of 21 or newer, besides the JUnit test in the JVM of the build: the two
// spell numbers differently. It covers every such JDK that is installed; on a machine without one there is nothing to run.
func parityTest() (counts, error) {
	jdks := newerJDKs("/usr/lib/jvm/*", os.Getenv("PENSTOCK_NEWER_JDK"))
	if len(jdks) == 0 {
		fmt.Println("no JDK of 21 or newer is installed (PENSTOCK_NEWER_JDK or a folder of /usr/lib/jvm): nothing to compare")
		return counts{}, nil
	}
	var c counts
	var errs []error
	for _, home := range jdks {
		fmt.Println(home)
		one, err := parityOf("JDK="+home, formats)
		c.add(one)
		errs = append(errs, err)
	}
	return c, errors.Join(errs...)
}

// parityOf compares formats in the place that a variable of the Makefile names, JDK= or FLINK=.
func parityOf(place string, formats []string) (counts, error) {
	var c counts
	var errs []error
	for _, format := range formats {
		if err := command("make", "-s", "parity-with", place, "FORMAT="+format, "CELLS=200000"); err != nil {
			c.Failed++
			errs = append(errs, fmt.Errorf("parity of %s with %s: %w", format, place, err))
			continue
		}
		c.Passed++
	}
	return c, errors.Join(errs...)
}

// command runs a command that speaks for itself.
func command(name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return cmd.Run()
}

var javaVersion = regexp.MustCompile(`JAVA_VERSION="(?:1\.)?(\d+)`)

// newerJDKs returns the homes among the folders of pattern, and named, whose release file tells a version that is new enough; a JDK that is
// linked twice counts once.
func newerJDKs(pattern, named string) []string {
	homes, _ := filepath.Glob(pattern)
	if named != "" {
		homes = append(homes, named)
	}
	var out []string
	seen := map[string]bool{}
	for _, home := range homes {
		real, err := filepath.EvalSymlinks(home)
		if err != nil || seen[real] {
			continue
		}
		seen[real] = true
		text, err := os.ReadFile(filepath.Join(real, "release"))
		if err != nil {
			continue
		}
		match := javaVersion.FindStringSubmatch(string(text))
		if match == nil {
			continue
		}
		if feature, _ := strconv.Atoi(match[1]); feature >= newerFeature {
			out = append(out, real)
		}
	}
	return out
}
