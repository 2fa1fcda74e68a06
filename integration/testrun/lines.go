package main

import (
	"errors"
	"fmt"
)

// otherLines are the lines of Flink that Penstock admits beside the one it is built against; each has a profile in client-java/pom.xml.
var otherLines = []string{"2.3", "2.1", "2.0"}

// endToEnd are the test classes that show a line at work, from SQL to a real broker.
const endToEnd = "FirstLightTest,ExactlyOnceTest,FormatsTest,SavepointTest"

// linesTest proves each other line of Flink: the client compiles against it and passes its own tests there; then the jars as they are
// released, built against the main line, run on it: every format byte for byte, and end to end.
func linesTest() (counts, error) {
	var c counts
	var errs []error
	for _, line := range otherLines {
		profile := "-Pflink-" + line
		for _, part := range []struct {
			name string
			run  func() (counts, error)
		}{
			{"client", func() (counts, error) {
				return mavenModules("target/flink-"+line, profile, "-f", "client-java/pom.xml", "-pl", "flink-table", "-am", "test")
			}},
			{"parity", func() (counts, error) {
				if err := command("make", "-s", "classpath-with", "FLINK="+line); err != nil {
					return counts{}, err
				}
				return parityOf("FLINK=" + line)
			}},
			{"end to end", func() (counts, error) {
				return mavenModules("target/flink-"+line, profile, "-f", "integration/flink/pom.xml", "-Dtest="+endToEnd, "test")
			}},
		} {
			fmt.Printf("--- Flink %s: %s\n", line, part.name)
			one, err := part.run()
			if err != nil {
				errs = append(errs, fmt.Errorf("Flink %s, %s: %w", line, part.name, err))
			} else if one.Passed == 0 {
				errs = append(errs, fmt.Errorf("Flink %s, %s: no test ran", line, part.name))
			}
			c.add(one)
		}
	}
	return c, errors.Join(errs...)
}
