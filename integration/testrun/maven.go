package main

import (
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// surefire is the root element of a TEST-*.xml report.
type surefire struct {
	Tests    int `xml:"tests,attr"`
	Errors   int `xml:"errors,attr"`
	Failures int `xml:"failures,attr"`
	Skipped  int `xml:"skipped,attr"`
}

// mavenTest runs the tests of every Java module, the end-to-end tests among them, and counts them from surefire's reports.
func mavenTest() (counts, error) {
	return mavenModules("target", "-f", "client-java/pom.xml", "--fail-at-end", "test")
}

// mavenModules runs mvn with the arguments and counts the reports that it leaves in folder target of any module.
func mavenModules(target string, args ...string) (counts, error) {
	start := time.Now()
	quiet := []string{"-B", "-Dorg.slf4j.simpleLogger.log.org.apache.maven.cli.transfer=warn"}
	runErr := command("mvn", append(quiet, args...)...)
	c, err := countReports(start, "client-java/*/"+target+"/surefire-reports/TEST-*.xml",
		"integration/*/"+target+"/surefire-reports/TEST-*.xml")
	if err != nil {
		return c, err
	}
	return c, runErr
}

// countReports adds up the reports that were written after start, so that an old report counts for nothing.
func countReports(start time.Time, patterns ...string) (counts, error) {
	var c counts
	for _, pattern := range patterns {
		files, err := filepath.Glob(pattern)
		if err != nil {
			return c, err
		}
		for _, file := range files {
			one, err := readReport(file, start)
			if err != nil {
				return c, err
			}
			c.add(one)
		}
	}
	return c, nil
}

func readReport(file string, start time.Time) (counts, error) {
	info, err := os.Stat(file)
	if err != nil || info.ModTime().Before(start) {
		return counts{}, err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return counts{}, err
	}
	var s surefire
	if err := xml.Unmarshal(text, &s); err != nil {
		return counts{}, fmt.Errorf("%s: %w", file, err)
	}
	failed := s.Errors + s.Failures
	return counts{Passed: s.Tests - failed - s.Skipped, Failed: failed, Skipped: s.Skipped}, nil
}
