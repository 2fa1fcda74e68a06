package dev.penstock.integration.harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.LoggerContext;
import org.apache.logging.log4j.core.appender.FileAppender;
import org.apache.logging.log4j.core.config.Configuration;
import org.apache.logging.log4j.core.config.LoggerConfig;
import org.apache.logging.log4j.core.layout.PatternLayout;

/**
 * Everything that this JVM logs, and with it a MiniCluster's JobManager and TaskManager; where secrets pass through,
 * down to DEBUG.
 */
public final class LogCapture implements AutoCloseable {
    private static final List<String> DETAILED =
            List.of("dev.penstock", "org.apache.kafka", "org.apache.flink.connector", "org.apache.flink.table");

    private final Path folder = Workspace.temporary("log");
    private final Path file = folder.resolve("jvm.log");
    private final LoggerContext context = (LoggerContext) LogManager.getContext(false);
    private final LoggerConfig root = context.getConfiguration().getRootLogger();
    private final Level before = root.getLevel();
    private final FileAppender appender;

    private LogCapture() {
        Configuration configuration = context.getConfiguration();
        appender = FileAppender.newBuilder()
                .setName("capture")
                .withFileName(file.toString())
                .setLayout(PatternLayout.newBuilder().withPattern("%p %c - %m%n%throwable").build())
                .setConfiguration(configuration)
                .build();
        appender.start();
        root.getAppenders().keySet().forEach(root::removeAppender);
        root.addAppender(appender, Level.DEBUG, null);
        root.setLevel(Level.INFO);
        for (String name : DETAILED) {
            configuration.addLogger(name, new LoggerConfig(name, Level.DEBUG, true));
        }
        context.updateLoggers();
    }

    /** Starts; nothing of the JVM's log goes anywhere else meanwhile. */
    public static LogCapture start() {
        return new LogCapture();
    }

    /** What was logged so far. */
    public String text() {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        root.setLevel(before);
        root.removeAppender("capture");
        DETAILED.forEach(context.getConfiguration()::removeLogger);
        context.updateLoggers();
        appender.stop();
        Workspace.delete(folder);
    }
}
