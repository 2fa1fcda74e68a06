package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
)

// otherLines are the lines of Flink beside the one that Penstock is built against; each has a profile in client-java/pom.xml.
// PENSTOCK_FLINK names one of them.
var otherLines = linesOf(os.Getenv("PENSTOCK_FLINK"))

func linesOf(chosen string) []string {
	if chosen != "" {
		return []string{chosen}
	}
	return []string{"2.3", "2.1", "2.0"}
}

// inLine is the build folder of each module in a line of Flink, and what Maven wants to be told; of the main line when it is empty.
func inLine(line string) (target string, profile []string) {
	if line == "" {
		return "target", nil
	}
	return "target/flink-" + line, []string{"-Pflink-" + line}
}

// endToEnd are the test classes that show a line at work, from SQL to a real broker.
const endToEnd = "FirstLightTest,ExactlyOnceTest,FormatsTest,SavepointTest"

// part is one of the proofs of a line.
type part struct {
	name string
	run  func() (counts, error)
}

// linesTest proves each other line of Flink: the client compiles against it and passes its own tests there; then the jars as they are
// released, built against the main line, run on it: every format byte for byte, and end to end.
func linesTest() (counts, error) {
	var c counts
	var errs []error
	for _, line := range otherLines {
		for _, p := range partsOf(line) {
			fmt.Printf("--- Flink %s: %s\n", line, p.name)
			one, err := p.run()
			if err == nil && one.Passed == 0 {
				err = errors.New("no test ran")
			}
			if err != nil {
				errs = append(errs, fmt.Errorf("Flink %s, %s: %w", line, p.name, err))
			}
			c.add(one)
		}
	}
	return c, errors.Join(errs...)
}

// formatsOf leaves protobuf out where it is not native: below 2.2.
func formatsOf(line string) []string {
	return slices.DeleteFunc(slices.Clone(formats), func(format string) bool { return format == "protobuf" && line < "2.2" })
}

func partsOf(line string) []part {
	target, profile := inLine(line)
	parity := part{"parity", func() (counts, error) {
		if err := command("make", "-s", "classpath-with", "FLINK="+line); err != nil {
			return counts{}, err
		}
		return parityOf("FLINK="+line, formatsOf(line))
	}}
	client := part{"client", func() (counts, error) {
		return mavenModules(target, append(profile, "-f", "client-java/pom.xml", "-pl", "flink-table", "-am", "test")...)
	}}
	chain := part{"end to end", func() (counts, error) {
		return mavenModules(target, append(profile, "-f", "integration/flink/pom.xml", "-Dtest="+endToEnd, "test")...)
	}}
	return []part{client, parity, chain}
}
