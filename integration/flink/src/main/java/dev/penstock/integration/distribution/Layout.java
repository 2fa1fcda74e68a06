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
 * @param work what the job does
 */
record Layout(String name, List<Path> lib, List<Path> job, HandedBy handedBy, Writes writes, Work work) {

    enum HandedBy { ADD_JAR, COMMAND_LINE }

    enum Writes { PENSTOCK, STOCK_WITH_A_REASON }

    /**
     * All that are run; those with the same lib folder stand side by side. Messages of protobuf by ADD JAR are none of them: flink-protobuf
     * looks for them in the loader of the planning thread, which does not see such jars, and the statement fails there, whoever writes.
     */
    static List<Layout> all(Distribution flink) {
        List<Path> kafka = List.of(flink.jar("flink-connector-kafka"), flink.jar("kafka-clients"));
        List<Path> sqlKafka = List.of(flink.jar("flink-sql-connector-kafka"));
        List<Path> ours = List.of(JarFolder.bundle());
        List<Path> oursForSql = List.of(JarFolder.sqlKafkaBundle());
        List<Path> protobuf = List.of(flink.jar("flink-protobuf"), flink.jar("protobuf-java"));
        List<Path> messages = List.of(flink.messages());
        return List.of(
                byPenstock("flink-connector-kafka and Penstock in lib/", plus(kafka, ours), List.of(), Work.JSON),
                byPenstock("flink-connector-kafka and Penstock in lib/, TLS", plus(kafka, ours), List.of(), Work.JSON_BY_TLS),
                byPenstock("flink-connector-kafka, Penstock, flink-protobuf and messages in lib/",
                        plus(plus(kafka, ours), plus(protobuf, messages)), List.of(), Work.PROTOBUF),
                byPenstock("flink-connector-kafka in lib/, Penstock by ADD JAR", kafka, ours, Work.JSON),
                byPenstock("flink-connector-kafka in lib/, Penstock by ADD JAR, TLS", kafka, ours, Work.JSON_BY_TLS),
                byPenstock("flink-connector-kafka, flink-protobuf and messages in lib/, Penstock by ADD JAR",
                        plus(kafka, plus(protobuf, messages)), ours, Work.PROTOBUF),
                new Layout("flink-connector-kafka in lib/, Penstock by -j", kafka, ours, HandedBy.COMMAND_LINE,
                        Writes.PENSTOCK, Work.JSON),
                byPenstock("flink-connector-kafka and Penstock by ADD JAR", List.of(), plus(kafka, ours), Work.JSON),
                byPenstock("flink-connector-kafka and Penstock by ADD JAR, TLS", List.of(), plus(kafka, ours), Work.JSON_BY_TLS),
                byPenstock("flink-sql-connector-kafka and Penstock by ADD JAR", List.of(), plus(sqlKafka, oursForSql), Work.JSON),
                byPenstock("flink-sql-connector-kafka and Penstock by ADD JAR, TLS", List.of(), plus(sqlKafka, oursForSql),
                        Work.JSON_BY_TLS),
                byPenstock("flink-sql-connector-kafka in lib/, Penstock by ADD JAR", sqlKafka, oursForSql, Work.JSON),
                new Layout("flink-sql-connector-kafka in lib/, the wrong jar of Penstock by ADD JAR", sqlKafka, ours,
                        HandedBy.ADD_JAR, Writes.STOCK_WITH_A_REASON, Work.JSON),
                byPenstock("flink-sql-connector-kafka and Penstock in lib/", plus(sqlKafka, oursForSql), List.of(), Work.JSON),
                byPenstock("flink-sql-connector-kafka and Penstock in lib/, TLS", plus(sqlKafka, oursForSql), List.of(),
                        Work.JSON_BY_TLS),
                byPenstock("flink-sql-connector-kafka, Penstock, flink-protobuf and messages in lib/",
                        plus(plus(sqlKafka, oursForSql), plus(protobuf, messages)), List.of(), Work.PROTOBUF));
    }

    private static Layout byPenstock(String name, List<Path> lib, List<Path> job, Work work) {
        return new Layout(name, lib, job, HandedBy.ADD_JAR, Writes.PENSTOCK, work);
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

    /** Whether the Kafka client has the names of flink-sql-connector-kafka. */
    boolean shadesKafka() {
        return plus(lib, job).stream().anyMatch(jar -> jar.getFileName().toString().startsWith("flink-sql-connector-kafka"));
    }
}
