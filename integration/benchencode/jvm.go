package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// jvmDeadline bounds one run of the JVM, which takes some ten seconds.
const jvmDeadline = 5 * time.Minute

// jvm runs the classes of client-java/bench.
type jvm struct {
	java, classpath string
}

// flinkFigures are of one batch size.
type flinkFigures struct {
	// nanos and garbage bytes are for each row.
	nanos, garbage float64
}

func (j jvm) run(class string, args ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), jvmDeadline)
	defer cancel()
	args = append([]string{"-Xms1g", "-Xmx1g", "-cp", j.classpath, "dev.penstock.bench." + class}, args...)
	if text, err := exec.CommandContext(ctx, j.java, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s of client-java/bench: %w (is it built? make jars): %.2000s", class, err, text)
	}
	return nil
}

func sizes() []string {
	var texts []string
	for _, n := range batchSizes {
		texts = append(texts, strconv.Itoa(n))
	}
	return texts
}

// writeRows makes the inputs in dir and returns the feature version of the JVM, which decides how floats are spelled.
func (j jvm) writeRows(dir string) (feature int, err error) {
	if err := j.run("EncodedRows", append([]string{dir}, sizes()...)...); err != nil {
		return 0, err
	}
	text, err := exec.Command(j.java, "-XshowSettings:properties", "-version").CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("%s -version: %w: %.500s", j.java, err, text)
	}
	version := regexp.MustCompile(`java\.specification\.version = (\d+)`).FindSubmatch(text)
	if version == nil {
		return 0, fmt.Errorf("%s -version tells no java.specification.version: %.500s", j.java, text)
	}
	return strconv.Atoi(string(version[1]))
}

// measure gives Flink's serializer its turn, the large batches first: they warm it up.
func (j jvm) measure(dir, format string) (map[int]flinkFigures, error) {
	descending := sizes()
	slices.Reverse(descending)
	file := filepath.Join(dir, "flink.txt")
	if err := j.run("FlinkEncodeBench", append([]string{file, format}, descending...)...); err != nil {
		return nil, err
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	figures := map[int]flinkFigures{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var rows int
		var got flinkFigures
		if _, err := fmt.Sscan(lines.Text(), &rows, &got.nanos, &got.garbage); err != nil {
			return nil, fmt.Errorf("FlinkEncodeBench wrote %q: %w", lines.Text(), err)
		}
		figures[rows] = got
	}
	if len(figures) != len(batchSizes) {
		return nil, fmt.Errorf("FlinkEncodeBench measured %d batch sizes for %s instead of %s", len(figures), format,
			strings.Join(descending, ", "))
	}
	return figures, nil
}
