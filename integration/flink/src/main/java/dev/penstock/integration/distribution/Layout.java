package dev.penstock.integration.distribution;

import dev.penstock.integration.harness.JarFolder;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Which jars lie where.
 *
 * @param name for people
 * @param lib jars in Flink's lib folder, of the client as well as of the cluster
 * @param job jars that only the job has
 * @param handedBy how it gets them
 * @param writes who is to write the rows
 */
record Layout(String name, List<Path> lib, List<Path> job, HandedBy handedBy, Writes writes) {

    enum HandedBy { ADD_JAR, COMMAND_LINE }

    enum Writes { PENSTOCK, STOCK_WITH_A_REASON }

    /** All that are run; those with the same lib folder stand side by side. */
    static List<Layout> all(Distribution flink) {
        List<Path> kafka = List.of(flink.jar("flink-connector-kafka"), flink.jar("kafka-clients"));
        List<Path> sqlKafka = List.of(flink.jar("flink-sql-connector-kafka"));
        List<Path> ours = List.of(JarFolder.bundle());
        List<Path> oursForSql = List.of(JarFolder.sqlKafkaBundle());
        return List.of(
                new Layout("flink-connector-kafka and Penstock in lib/", plus(kafka, ours), List.of(),
                        HandedBy.ADD_JAR, Writes.PENSTOCK),
                new Layout("flink-connector-kafka in lib/, Penstock by ADD JAR", kafka, ours, HandedBy.ADD_JAR,
                        Writes.PENSTOCK),
                new Layout("flink-connector-kafka in lib/, Penstock by -j", kafka, ours, HandedBy.COMMAND_LINE,
                        Writes.PENSTOCK),
                new Layout("flink-connector-kafka and Penstock by ADD JAR", List.of(), plus(kafka, ours),
                        HandedBy.ADD_JAR, Writes.PENSTOCK),
                new Layout("flink-sql-connector-kafka and Penstock by ADD JAR", List.of(), plus(sqlKafka, oursForSql),
                        HandedBy.ADD_JAR, Writes.PENSTOCK),
                new Layout("flink-sql-connector-kafka in lib/, Penstock by ADD JAR", sqlKafka, oursForSql,
                        HandedBy.ADD_JAR, Writes.PENSTOCK),
                new Layout("flink-sql-connector-kafka in lib/, the wrong jar of Penstock by ADD JAR", sqlKafka, ours,
                        HandedBy.ADD_JAR, Writes.STOCK_WITH_A_REASON),
                new Layout("flink-sql-connector-kafka and Penstock in lib/", plus(sqlKafka, oursForSql), List.of(),
                        HandedBy.ADD_JAR, Writes.PENSTOCK));
    }

    private static List<Path> plus(List<Path> some, List<Path> more) {
        return Stream.concat(some.stream(), more.stream()).toList();
    }

    /** The statements that hand the jars to the job. */
    String statements() {
        return handedBy != HandedBy.ADD_JAR ? ""
                : job.stream().map(jar -> "ADD JAR '" + jar + "';\n").collect(Collectors.joining());
    }

    /** The options of the SQL client that hand the jars to the job. */
    List<String> options() {
        return handedBy != HandedBy.COMMAND_LINE ? List.of()
                : job.stream().flatMap(jar -> Stream.of("-j", jar.toString())).toList();
    }
}
