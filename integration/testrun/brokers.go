package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// releases are the brokers of the matrix: constants of BrokerRelease in the test harness. PENSTOCK_BROKERS names some of them.
var releases = releasesOf(os.Getenv("PENSTOCK_BROKERS"))

func releasesOf(chosen string) []string {
	if words := strings.Fields(chosen); len(words) > 0 {
		return words
	}
	return []string{"KAFKA_4_2", "KAFKA_4_2_TV1", "KAFKA_3_9"}
}

// scenario is one of the rows of the matrix: what is shown, and the test classes that show it.
type scenario struct {
	name    string
	classes []string
}

// scenarios are those in which a broker takes part in who owns a transaction and what became of it.
var scenarios = []scenario{
	{"E1 hand-off and replay", []string{"HandOffTest"}},
	{"E2 TaskManager killed", []string{"TaskManagerKilledTest"}},
	{"E3 lost commits reported", []string{"LostCommitTest"}},
	{"E4 commit timeouts", []string{"CommitterWedgeTest", "CommitTimeoutTest"}},
	{"E5 savepoints and rescaling", []string{"SavepointTest", "RescaleMatrix"}},
	{"E6 old daemon wakes up", []string{"OldDaemonMatrix"}},
	{"E8 epoch limit", []string{"EpochLimitMatrix"}},
	{"E9 skipped checkpoints", []string{"SkippedCheckpointsMatrix"}},
	{"E10 TLS, SASL, ACLs", []string{"SecurityTest"}},
	{"job failures", []string{"ExactlyOnceTest"}},
}

// brokersTest runs every scenario on every release and prints the matrix. PENSTOCK_FLINK names another line of Flink, and with it another
// flink-connector-kafka: the jars that were built against the main line run there (E7).
func brokersTest() (counts, error) {
	target, profile := inLine(os.Getenv("PENSTOCK_FLINK"))
	c := counts{Parts: map[string]counts{}}
	var errs []error
	for _, release := range releases {
		fmt.Printf("--- %s\n", release)
		start := time.Now()
		runErr := command("mvn", append(profile, "-B", "-q", "-f", "integration/flink/pom.xml", "-Dpenstock.broker="+release,
			"-Dtest="+strings.Join(classesOf(scenarios), ","), "test")...)
		for _, s := range scenarios {
			one, err := s.countsSince(start, target)
			if err != nil {
				return c, err
			}
			c.Parts[s.name+" on "+release] = one
			c.add(one)
		}
		if runErr != nil {
			errs = append(errs, fmt.Errorf("%s: %w", release, runErr))
		}
	}
	fmt.Print(table(c.Parts))
	return c, errors.Join(errs...)
}

func classesOf(all []scenario) []string {
	var classes []string
	for _, s := range all {
		classes = append(classes, s.classes...)
	}
	return classes
}

// countsSince adds up the reports of the scenario's classes in a build folder; one that left none has failed.
func (s scenario) countsSince(start time.Time, target string) (counts, error) {
	var c counts
	for _, class := range s.classes {
		one, err := countReports(start, filepath.Join("integration/flink", target, "surefire-reports", "TEST-*."+class+".xml"))
		if err != nil {
			return c, err
		}
		if one.Passed+one.Failed+one.Skipped == 0 {
			one.Failed = 1
		}
		c.add(one)
	}
	return c, nil
}

// table has a line for each scenario and a column for each release.
func table(parts map[string]counts) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%-28s", "")
	for _, release := range releases {
		fmt.Fprintf(&text, "%16s", release)
	}
	for _, s := range scenarios {
		fmt.Fprintf(&text, "\n%-28s", s.name)
		for _, release := range releases {
			fmt.Fprintf(&text, "%16s", parts[s.name+" on "+release].inWords())
		}
	}
	return text.String() + "\n"
}

func (c counts) inWords() string {
	words := []string{fmt.Sprintf("%d ok", c.Passed)}
	if c.Failed > 0 {
		words = append(words, fmt.Sprintf("%d FAILED", c.Failed))
	}
	if c.Skipped > 0 {
		words = append(words, fmt.Sprintf("%d skipped", c.Skipped))
	}
	return strings.Join(words, ", ")
}
