package dev.penstock.integration.harness;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.utils.AppInfoParser;

/** A release of the broker with the transaction protocol that it speaks. */
public enum BrokerRelease {
    /** Kafka 4.2 with protocol 2, its default (KIP-890). */
    KAFKA_4_2(Line.KAFKA_4_2, List.of()),
    /** Kafka 4.2 with protocol 1, as after an upgrade of an older cluster. */
    KAFKA_4_2_TV1(Line.KAFKA_4_2, List.of("--feature", "transaction.version=1")),
    /** Kafka 3.9, which knows no feature {@code transaction.version}: protocol 1. */
    KAFKA_3_9(Line.KAFKA_3_9, List.of());

    /** What all brokers with the same class path have in common. */
    private enum Line {
        KAFKA_4_2("penstock.broker.classpath", "broker", "log4j2.configurationFile", "log4j2.properties", """
                rootLogger.level = INFO
                rootLogger.appenderRef.console.ref = console
                appender.console.type = Console
                appender.console.name = console
                appender.console.layout.type = PatternLayout
                appender.console.layout.pattern = %d %p %c{1} - %m%n
                """),
        KAFKA_3_9("penstock.broker.classpath.3.9", "broker-3.9", "log4j.configuration", "log4j.properties", """
                log4j.rootLogger=INFO, console
                log4j.appender.console=org.apache.log4j.ConsoleAppender
                log4j.appender.console.layout=org.apache.log4j.PatternLayout
                log4j.appender.console.layout.ConversionPattern=%d %p %c{1} - %m%n
                """);

        private final String classPathProperty;
        private final String buildFolder;
        private final String loggingProperty;
        private final String loggingFile;
        private final String logging;

        Line(String classPathProperty, String buildFolder, String loggingProperty, String loggingFile, String logging) {
            this.classPathProperty = classPathProperty;
            this.buildFolder = buildFolder;
            this.loggingProperty = loggingProperty;
            this.loggingFile = loggingFile;
            this.logging = logging;
        }
    }

    /** Kafka's client libraries before 4.0, of flink-connector-kafka 4.0, know protocol 1 alone. */
    private static final String CLIENTS_OF_PROTOCOL_1 = "3.";

    private final Line line;
    private final List<String> formatOptions;

    BrokerRelease(Line line, List<String> formatOptions) {
        this.line = line;
        this.formatOptions = formatOptions;
    }

    /** The release that system property {@code penstock.broker} names by its constant, else the default one. */
    public static BrokerRelease underTest() {
        return valueOf(System.getProperty("penstock.broker", KAFKA_4_2.name()));
    }

    /** Those that a test of several covers: the one that system property {@code penstock.broker} names, else all. */
    public static List<BrokerRelease> underTest(BrokerRelease... all) {
        return System.getProperty("penstock.broker") == null ? List.of(all) : List.of(underTest());
    }

    /** Whether commits may raise the epoch of a producer: the clients of this JVM have to speak protocol 2 as well. */
    public boolean hasProtocol2() {
        return this == KAFKA_4_2 && !AppInfoParser.getVersion().startsWith(CLIENTS_OF_PROTOCOL_1);
    }

    /** The file with the class path. */
    Path classPathFile() {
        String file = "build/" + line.buildFolder + "/classpath.txt";
        return Workspace.pathProperty(line.classPathProperty, file, "run `make " + file + "` first");
    }

    /** What the storage tool wants beside id and settings. */
    List<String> formatOptions() {
        return formatOptions;
    }

    /** The option of the JVM that names the logger's configuration, of which {@link #loggingFile} has the text. */
    String loggingOption(Path folder) {
        return "-D" + line.loggingProperty + "=" + folder.resolve(line.loggingFile).toUri();
    }

    /** Name and text of the logger's configuration: everything to the console. */
    Map.Entry<String, String> loggingFile() {
        return Map.entry(line.loggingFile, line.logging);
    }
}
