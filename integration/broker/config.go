package broker

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// classpath reads the class path that Maven wrote.
func classpath() (string, error) {
	file := os.Getenv(ClasspathEnv)
	if file == "" {
		file = filepath.Join(repositoryRoot(), "build", "broker", "classpath.txt")
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("the broker's class path is missing: set %s, or write the default file with `mvn -B -q -f "+
			"integration/broker/pom.xml dependency:build-classpath -Dmdep.outputFile=$PWD/build/broker/classpath.txt`: %w",
			ClasspathEnv, err)
	}
	return strings.TrimSpace(string(data)), nil
}

// repositoryRoot is found from this file's place, because a test runs in the folder of its own package.
func repositoryRoot() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..")
}

// defaults are the properties of a single node for tests: small internal topics, no waiting, and a maximum transaction
// timeout above Flink's default of one hour.
func defaults(dir string, port, controllerPort int) map[string]string {
	return map[string]string{
		"process.roles":                            "broker,controller",
		"node.id":                                  "1",
		"controller.quorum.voters":                 fmt.Sprintf("1@127.0.0.1:%d", controllerPort),
		"listeners":                                fmt.Sprintf("PLAINTEXT://127.0.0.1:%d,CONTROLLER://127.0.0.1:%d", port, controllerPort),
		"advertised.listeners":                     fmt.Sprintf("PLAINTEXT://127.0.0.1:%d", port),
		"controller.listener.names":                "CONTROLLER",
		"listener.security.protocol.map":           "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
		"log.dirs":                                 filepath.Join(dir, "data"),
		"offsets.topic.replication.factor":         "1",
		"offsets.topic.num.partitions":             "1",
		"transaction.state.log.replication.factor": "1",
		"transaction.state.log.min.isr":            "1",
		"transaction.state.log.num.partitions":     "4",
		"transaction.max.timeout.ms":               "7200000",
		"auto.create.topics.enable":                "false",
		"group.initial.rebalance.delay.ms":         "0",
		"transaction.abort.timed.out.transaction.cleanup.interval.ms": "1000",
	}
}

// escapes are those of java.util.Properties.
var escapes = strings.NewReplacer("\\", "\\\\", "\n", "\\n")

// log4j sends everything to one file; without a configuration the broker would log nothing.
const log4j = `status = error
appender.file.type = File
appender.file.name = file
appender.file.fileName = %s
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = %%d{HH:mm:ss.SSS} %%-5p %%c{1} - %%m%%n
rootLogger.level = info
rootLogger.appenderRef.file.ref = file
`

func (b *Broker) writeConfig(o Options, port, controllerPort int) error {
	dir := b.dir
	properties := defaults(dir, port, controllerPort)
	b.addListeners(properties, o.Listeners)
	maps.Copy(properties, o.Settings)
	var text strings.Builder
	for _, key := range slices.Sorted(maps.Keys(properties)) {
		fmt.Fprintf(&text, "%s=%s\n", key, escapes.Replace(properties[key]))
	}
	if err := os.WriteFile(filepath.Join(dir, "server.properties"), []byte(text.String()), 0o600); err != nil {
		return err
	}
	logs := fmt.Sprintf(log4j, filepath.Join(dir, "broker.log"))
	return os.WriteFile(filepath.Join(dir, "log4j2.properties"), []byte(logs), 0o600)
}
