package dev.penstock.flink.table;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Objects;
import java.util.stream.StreamSupport;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.graph.StreamGraph;
import org.apache.flink.streaming.api.graph.StreamNode;
import org.apache.flink.table.api.ExplainDetail;
import org.apache.flink.table.api.ExplainFormat;
import org.apache.flink.table.api.ValidationException;
import org.apache.flink.table.api.bridge.java.StreamStatementSet;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** SQL through the real planner: names, hashes and parallelism of the vertices. */
class JobGraphTest {

    private static final String OPTIONS =
            "'topic'='t', 'properties.bootstrap.servers'='localhost:1',"
                    + " 'sink.delivery-guarantee'='exactly-once', 'sink.transactional-id-prefix'='p'";

    private static final String COPY = "INSERT INTO k SELECT id, name FROM g";

    private static final String BUFFERED =
            ", 'sink.buffer-flush.max-rows'='5', 'sink.buffer-flush.interval'='1 s'";

    @Test
    void nativeAndFallbackHaveTheHashesOfStock() {
        List<String> stock = vertices("kafka", "");
        assertEquals(stock, vertices("penstock-kafka", ""));
        assertEquals(stock, vertices("penstock-kafka", ", 'penstock.enabled'='false'"));
    }

    @Test
    void hashesFollowAnExplicitParallelismAsStocksDo() {
        List<String> stock = vertices("kafka", ", 'sink.parallelism'='3'");
        assertNotEquals(vertices("kafka", ""), stock);
        assertEquals(stock, vertices("penstock-kafka", ", 'sink.parallelism'='3'"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", ", 'sink.parallelism'='3'", BUFFERED, BUFFERED + ", 'sink.parallelism'='3'"})
    void upsertTablesHaveTheHashesOfStock(String more) {
        List<String> stock = vertices("upsert-kafka", more);
        assertEquals(stock, vertices("penstock-upsert-kafka", more));
        assertEquals(stock, vertices("penstock-upsert-kafka", more + ", 'penstock.enabled'='false'"));
    }

    /** A key by which the query does not change its rows: only the materializer knows which of them is the last. */
    @ParameterizedTest
    @ValueSource(strings = {"", ", 'sink.parallelism'='3'", BUFFERED, ", 'penstock.enabled'='false'"})
    void anUpsertTableHasTheMaterializerOfStock(String more) {
        String insert = "INSERT INTO k SELECT MAX(id), name FROM g GROUP BY name";
        String stockOptions = more.replace(", 'penstock.enabled'='false'", "");
        String plan = tables(environment(), "upsert-kafka", stockOptions).explainSql(insert);
        assertTrue(plan.contains("upsertMaterialize=[true]"), plan);
        assertEquals(plan, tables(environment(), "penstock-upsert-kafka", more).explainSql(insert));

        assertEquals(vertices("upsert-kafka", stockOptions, insert), vertices("penstock-upsert-kafka", more, insert));
        List<String> operators = operators("penstock-upsert-kafka", more, insert);
        assertTrue(operators.stream().anyMatch(name -> name.contains("SinkMaterializer")), operators.toString());
        assertFalse(operators("penstock-upsert-kafka", more, COPY).toString().contains("SinkMaterializer"));
    }

    @Test
    void thePlanOfAnUpsertTableSaysWhoWritesAndWhy() {
        assertTrue(explain("penstock-upsert-kafka", "").contains("penstock-upsert-kafka [native]: Writer"));
        String fallback = explain("penstock-upsert-kafka", BUFFERED);
        assertTrue(
                fallback.contains("penstock-upsert-kafka [fallback: 'sink.buffer-flush.max-rows' and"), fallback);
    }

    @Test
    void thePlanSaysWhoWritesAndWhy() {
        assertTrue(explain("penstock-kafka", "").contains("penstock-kafka [native]: Writer"));
        String fallback = explain("penstock-kafka", ", 'properties.partitioner.ignore.keys'='true'");
        assertTrue(fallback.contains("penstock-kafka [fallback: property 'partitioner.ignore.keys' is not"), fallback);
    }

    @Test
    void withFallbackFailTheStatementFailsWithTheReason() {
        ValidationException e =
                assertThrows(
                        ValidationException.class,
                        () -> explain("penstock-kafka", ", 'penstock.fallback'='fail', 'penstock.enabled'='false'"));
        assertTrue(e.getMessage().contains("'penstock.enabled' is false"), e.getMessage());
    }

    @Test
    void theSameTableCanBeRead() {
        StreamTableEnvironment table = StreamTableEnvironment.create(environment());
        table.executeSql("CREATE TABLE s (id BIGINT) WITH ('connector'='penstock-kafka', " + OPTIONS
                + ", 'format'='json', 'scan.startup.mode'='earliest-offset', 'penstock.socket-dir'='/x')");
        assertTrue(table.explainSql("SELECT id FROM s").contains("TableSourceScan"));
    }

    private static List<String> vertices(String connector, String more) {
        return vertices(connector, more, COPY);
    }

    /** Id, parallelism and co-location of each vertex, in topological order. */
    private static List<String> vertices(String connector, String more, String insert) {
        JobGraph job = graph(connector, more, insert).getJobGraph();
        return StreamSupport.stream(job.getVertices().spliterator(), false)
                .map(v -> v.getID() + " x" + v.getParallelism() + " "
                        + v.getOperatorIDs().stream().map(o -> o.getGeneratedOperatorID() + "/"
                                + o.getUserDefinedOperatorID().map(Objects::toString).orElse("-")).toList()
                        + " " + (v.getCoLocationGroup() != null))
                .sorted()
                .toList();
    }

    /** The names of all operators. */
    private static List<String> operators(String connector, String more, String insert) {
        return graph(connector, more, insert).getStreamNodes().stream().map(StreamNode::getOperatorName).toList();
    }

    private static StreamGraph graph(String connector, String more, String insert) {
        StreamExecutionEnvironment environment = environment();
        StreamTableEnvironment table = tables(environment, connector, more);
        StreamStatementSet set = table.createStatementSet();
        set.addInsertSql(insert);
        set.attachAsDataStream();
        return environment.getStreamGraph();
    }

    private static String explain(String connector, String more) {
        return tables(environment(), connector, more)
                .explainSql(
                        COPY,
                        ExplainFormat.TEXT,
                        ExplainDetail.JSON_EXECUTION_PLAN);
    }

    private static StreamExecutionEnvironment environment() {
        StreamExecutionEnvironment environment = StreamExecutionEnvironment.getExecutionEnvironment();
        environment.setParallelism(2);
        environment.enableCheckpointing(1000);
        return environment;
    }

    private static StreamTableEnvironment tables(
            StreamExecutionEnvironment environment, String connector, String more) {
        StreamTableEnvironment table = StreamTableEnvironment.create(environment);
        table.executeSql("CREATE TABLE g (id BIGINT, name STRING) WITH ('connector'='datagen')");
        boolean upsert = connector.contains("upsert");
        String formats = upsert ? "'key.format'='json', 'value.format'='json', " : "'format'='json', ";
        table.executeSql(
                "CREATE TABLE k (id BIGINT, name STRING"
                        + (upsert ? ", PRIMARY KEY (id) NOT ENFORCED" : "")
                        + ") WITH ('connector'='" + connector + "', " + formats + OPTIONS + more + ")");
        return table;
    }
}
