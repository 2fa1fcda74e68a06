package dev.penstock.integration.harness;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.ExplainDetail;
import org.apache.flink.table.api.TableResult;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;

/** Runs an SQL script on a cluster: statements one by one, the last of which must be the INSERT. */
public final class SqlJob {
    private final FlinkRest rest;
    private final Configuration configuration = new Configuration();
    private final Diagnosis diagnosis = new Diagnosis();
    private BiConsumer<StreamExecutionEnvironment, StreamTableEnvironment> setup = (env, tables) -> { };

    private SqlJob(FlinkRest rest) {
        this.rest = rest;
    }

    /** A job for the cluster behind this REST interface. */
    public static SqlJob on(FlinkRest rest) {
        return new SqlJob(rest);
    }

    /** Sets a key of Flink's configuration for this job, as SET does in the SQL client. */
    public SqlJob set(String key, String value) {
        configuration.setString(key, value);
        return this;
    }

    /** What to say beside the job's own failures when a wait for it is in vain. */
    public SqlJob explainedBy(Supplier<Diagnosis> more) {
        diagnosis.with(more);
        return this;
    }

    /** Runs before the script, for tables that SQL alone cannot make. */
    public SqlJob setup(BiConsumer<StreamExecutionEnvironment, StreamTableEnvironment> code) {
        setup = code;
        return this;
    }

    /**
     * Replaces {@code ${name}} in a script.
     *
     * @throws IllegalArgumentException when a variable has no value
     */
    public static String fill(String script, Map<String, String> values) {
        String text = script;
        for (Map.Entry<String, String> value : values.entrySet()) {
            text = text.replace("${" + value.getKey() + "}", value.getValue());
        }
        int missing = text.indexOf("${");
        if (missing >= 0) {
            throw new IllegalArgumentException(
                    "no value for " + text.substring(missing, text.indexOf('}', missing) + 1));
        }
        return text;
    }

    /** Plans and submits the script; returns when the JobManager has accepted the job. */
    public FlinkJob submit(String script) {
        TableResult result = execute(environment(), script);
        JobClient client = result.getJobClient().orElseThrow(
                () -> new IllegalArgumentException("the last statement of the script starts no job"));
        return new FlinkJob(rest, client.getJobID().toHexString(), diagnosis);
    }

    /** Runs a script whose last statement is a bounded SELECT, and returns its rows with their kinds as text. */
    public List<String> collect(String script) {
        List<String> rows = new ArrayList<>();
        try (CloseableIterator<Row> result = execute(environment(), script).collect()) {
            result.forEachRemaining(row -> rows.add(row.toString()));
        } catch (Exception e) {
            throw new IllegalStateException("cannot read the rows of: " + script, e);
        }
        return rows;
    }

    /** Runs a script that starts no job, such as one that ends with COMPILE PLAN. */
    public void compile(String script) {
        execute(environment(), script);
    }

    /** What EXPLAIN JSON_EXECUTION_PLAN says about the last statement; operator names show native or fallback. */
    public String explain(String script) {
        List<String> statements = statements(script);
        StreamTableEnvironment tables = environment();
        statements.subList(0, statements.size() - 1).forEach(tables::executeSql);
        return tables.explainSql(statements.get(statements.size() - 1),
                ExplainDetail.JSON_EXECUTION_PLAN);
    }

    private StreamTableEnvironment environment() {
        StreamExecutionEnvironment env =
                StreamExecutionEnvironment.createRemoteEnvironment(rest.host(), rest.port(), configuration);
        StreamTableEnvironment tables = StreamTableEnvironment.create(env,
                EnvironmentSettings.newInstance().withConfiguration(configuration).build());
        setup.accept(env, tables);
        return tables;
    }

    private static TableResult execute(StreamTableEnvironment tables, String script) {
        TableResult last = null;
        for (String statement : statements(script)) {
            last = tables.executeSql(statement);
        }
        if (last == null) {
            throw new IllegalArgumentException("empty SQL script");
        }
        return last;
    }

    /** Statements end with a semicolon at the end of a line; lines that start with two dashes are comments. */
    static List<String> statements(String script) {
        List<String> statements = new ArrayList<>();
        StringBuilder current = new StringBuilder();
        for (String line : script.split("\n")) {
            if (line.strip().startsWith("--")) {
                continue;
            }
            boolean ends = line.strip().endsWith(";");
            current.append(ends ? line.strip().substring(0, line.strip().length() - 1) : line).append('\n');
            if (ends) {
                statements.add(current.toString().strip());
                current.setLength(0);
            }
        }
        if (!current.toString().isBlank()) {
            statements.add(current.toString().strip());
        }
        return statements;
    }
}
