package dev.penstock.integration.minicluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.penstock.integration.harness.FlinkRest;
import dev.penstock.integration.harness.SqlJob;
import dev.penstock.integration.judge.TopicReader;
import dev.penstock.integration.nexmark.BidSource;
import java.io.IOException;
import java.io.StringWriter;
import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.logical.IntType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The statements and the program that README.md and the guides show, run as they stand there but for addresses and what they leave out. */
@Timeout(600)
class GuideTest {
    private static final int ROWS = 1_000;
    private static final String ADOPTION = "docs/adoption.md";

    private static Bed bed;

    private String topic;

    @BeforeAll
    static void open() {
        bed = Bed.open(1);
    }

    @AfterAll
    static void close() {
        bed.close();
    }

    @AfterEach
    void nothingLeft() {
        bed.requireNothingLeft();
    }

    @Test
    void noOtherGuideHasStatements() throws IOException {
        assertEquals(Map.of("README.md", 1, ADOPTION, 4, "docs/explain.md", 1), GuideBlocks.count("sql"));
        assertEquals(Map.of("docs/datastream.md", 1), GuideBlocks.count("java"));
    }

    @Test
    void theTableOfTheReadme() throws IOException {
        topic = Bed.topics().create("guide", 1);
        String table = GuideBlocks.of("README.md", "sql").get(0);
        table = GuideBlocks.replaced(table, "localhost:9092", Bed.broker().bootstrapServers());
        table = GuideBlocks.replaced(table, "'topic' = 'bids'", "'topic' = '" + topic + "'");
        runNatively(source() + table + "INSERT INTO bids SELECT * FROM source;\n");
    }

    @Test
    void byName() throws IOException {
        String table = kafkaTable();
        String shown = adoption(0);
        table = shown.replace("(...) WITH", table.substring(table.indexOf('('), table.indexOf(" WITH") + 5))
                .replace(", ...", table.substring(table.indexOf("'kafka'") + "'kafka'".length(), table.lastIndexOf(')')));
        runNatively(source() + table + "INSERT INTO bids SELECT * FROM source;\n");
    }

    @Test
    void byAModule() throws IOException {
        runNatively(source() + kafkaTable() + filled(adoption(1)));
    }

    @Test
    void byACatalog() throws IOException {
        String everywhere = "default_catalog.default_database.source";
        runNatively(source().replace("TABLE source", "TABLE " + everywhere) + adoption(2) + "USE CATALOG c;\n"
                + kafkaTable() + "INSERT INTO d.bids SELECT * FROM " + everywhere + ";\n");
    }

    @Test
    void byAHint() throws IOException {
        runNatively(source() + kafkaTable() + filled(adoption(3)));
    }

    @Test
    void explain() throws IOException {
        String shown = GuideBlocks.of("docs/explain.md", "sql").get(0);
        List<String> rows = job().collect(source() + kafkaTable().replace("'kafka'", "'penstock-kafka'") + shown);
        assertTrue(rows.toString().contains("penstock-kafka [native]: Writer"), rows.toString());
    }

    @Test
    void theDataStreamProgram(@TempDir Path folder) throws Exception {
        topic = Bed.topics().create("guide-datastream", 1);
        String shown = GuideBlocks.of("docs/datastream.md", "java").get(0);
        shown = GuideBlocks.replaced(shown, "localhost:9092", Bed.broker().bootstrapServers());
        shown = GuideBlocks.replaced(shown, ".topic(\"flights\")", ".topic(\"" + topic + "\")");
        FlinkRest rest = bed.cluster().rest();
        Configuration configuration = new Configuration();
        configuration.setString("penstock.socket-dir", bed.daemon().directory().toString());
        configuration.setString("penstock.fallback", "fail");
        StreamExecutionEnvironment env =
                StreamExecutionEnvironment.createRemoteEnvironment(rest.host(), rest.port(), configuration);
        env.setParallelism(1);
        env.enableCheckpointing(500);
        RowType rowType = RowType.of(new LogicalType[] {new IntType()}, new String[] {"delay"});
        DataStream<RowData> rows = env.fromData(
                List.<RowData>of(GenericRowData.of(7), GenericRowData.of(11)), InternalTypeInfo.of(rowType));
        define(folder, shown, rowType, rows);
        env.executeAsync().getJobExecutionResult().get(Bed.JOB_TIMEOUT.toSeconds(), TimeUnit.SECONDS);

        List<String> records = new ArrayList<>();
        TopicReader.read(Bed.broker().bootstrapServers(), topic, Duration.ofSeconds(60),
                record -> records.add(new String(record.value(), StandardCharsets.UTF_8)));
        assertEquals(List.of("{\"delay\":7}", "{\"delay\":11}"), records);
    }

    private static String adoption(int number) throws IOException {
        return GuideBlocks.of(ADOPTION, "sql").get(number);
    }

    /** What a guide leaves out of an INSERT. */
    private static String filled(String shown) {
        return GuideBlocks.replaced(shown, "SELECT ...", "SELECT * FROM source");
    }

    private static String source() {
        return Tables.bids(ROWS, 0).replace("TABLE bids", "TABLE source");
    }

    /** The table that the guides speak of, before it is Penstock's. */
    private String kafkaTable() {
        topic = Bed.topics().create("guide", 1);
        return Tables.sink(BidSource.COLUMNS, "'connector' = 'kafka'", topic, "exactly-once", "")
                .replace("TEMPORARY TABLE sink", "TABLE bids");
    }

    private static SqlJob job() {
        return bed.job(1, 500).set("penstock.socket-dir", bed.daemon().directory().toString()).set("penstock.fallback", "fail");
    }

    private void runNatively(String script) {
        long before = bed.daemon().status().counter("rows");
        Bed.finish(job(), script);
        Bed.judge("auction").judge(Bed.read(topic, "auction"), ROWS).requireExact(ROWS);
        assertEquals(ROWS, bed.daemon().status().counter("rows") - before, "rows that went through the daemon");
    }

    /** Compiles the statement of the guide in a method with the two names that it takes for granted, and calls it. */
    private static void define(Path folder, String statement, RowType rowType, DataStream<RowData> rows)
            throws IOException, ReflectiveOperationException {
        Path source = Files.writeString(folder.resolve("Guide.java"), """
                import dev.penstock.flink.table.PenstockSink;
                import org.apache.flink.connector.base.DeliveryGuarantee;
                import org.apache.flink.streaming.api.datastream.DataStream;
                import org.apache.flink.table.data.RowData;
                import org.apache.flink.table.types.logical.RowType;

                public class Guide {
                    public static void define(RowType rowType, DataStream<RowData> rows) {
                %s
                    }
                }
                """.formatted(statement));
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StringWriter errors = new StringWriter();
        boolean compiled = compiler.getTask(errors, null, null,
                List.of("-cp", System.getProperty("java.class.path"), "-d", folder.toString()), null,
                compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8).getJavaFileObjects(source)).call();
        assertTrue(compiled, errors.toString());
        try (URLClassLoader loader = new URLClassLoader(new URL[] {folder.toUri().toURL()}, GuideTest.class.getClassLoader())) {
            loader.loadClass("Guide").getMethod("define", RowType.class, DataStream.class).invoke(null, rowType, rows);
        } catch (InvocationTargetException e) {
            throw new AssertionError("the program of the guide fails", e.getCause());
        }
    }
}
