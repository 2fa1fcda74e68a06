package dev.penstock.flink.table;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.stream.Stream;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.ExplainDetail;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.table.api.ValidationException;
import org.junit.jupiter.api.Test;

/** What the module and the catalog make of tables, and where options of Penstock may stand. */
class PenstockModuleTest {

    private static final String COPY = "INSERT INTO k SELECT id, name FROM g";

    private final Configuration cluster = new Configuration();

    @Test
    void theModuleMakesKafkaTablesNative() {
        TableEnvironment session = session("kafka", "");
        assertFalse(explain(session).contains("penstock"), explain(session));
        session.executeSql("LOAD MODULE penstock");
        assertTrue(explain(session).contains("penstock-kafka [native]"), explain(session));
        session.executeSql("UNLOAD MODULE penstock");
        assertFalse(explain(session).contains("penstock"), explain(session));
    }

    @Test
    void theModuleMakesUpsertTablesNative() {
        TableEnvironment session = session("upsert-kafka", "");
        session.executeSql("LOAD MODULE penstock");
        assertTrue(explain(session).contains("penstock-upsert-kafka [native]"), explain(session));
    }

    @Test
    void otherConnectorsAreFoundAsWithoutTheModule() {
        TableEnvironment session = session("kafka", "");
        session.executeSql("LOAD MODULE penstock");
        session.executeSql("CREATE TABLE b (id BIGINT, name STRING) WITH ('connector'='blackhole')");
        assertFalse(explain(session, COPY.replace(" k ", " b ")).contains("penstock-"));
        session.executeSql("CREATE TABLE x (id BIGINT, name STRING) WITH ('connector'='nobody')");
        assertEquals(cause(session("kafka", ""), "nobody"), cause(session, "nobody"));
    }

    /** The message in which Flink says that there is no such connector. */
    private static String cause(TableEnvironment session, String connector) {
        session.executeSql("CREATE TABLE IF NOT EXISTS x (id BIGINT, name STRING) WITH ('connector'='" + connector + "')");
        Exception e = assertThrows(ValidationException.class, () -> explain(session, COPY.replace(" k ", " x ")));
        return Stream.<Throwable>iterate(e, t -> t != null, Throwable::getCause)
                .map(Throwable::getMessage)
                .filter(message -> message.contains("Could not find any factory for identifier"))
                .findFirst()
                .orElseThrow(() -> new AssertionError(e));
    }

    @Test
    void theModuleAndTheCatalogHaveNoOtherOptions() {
        TableEnvironment session = session("kafka", "");
        assertThrows(ValidationException.class, () -> session.executeSql("LOAD MODULE penstock WITH ('a' = 'b')"));
        assertThrows(
                ValidationException.class,
                () -> session.executeSql("CREATE CATALOG c WITH ('type' = 'penstock', 'a' = 'b')"));
    }

    @Test
    void theTablesOfACatalogAreNativeButNotTheTemporaryOnes() {
        TableEnvironment session = session("kafka", "");
        session.executeSql("CREATE CATALOG c WITH ('type' = 'penstock', 'default-database' = 'd')");
        session.executeSql("USE CATALOG c");
        assertEquals("d", session.getCurrentDatabase());
        session.executeSql("CREATE TABLE p LIKE default_catalog.default_database.k");
        session.executeSql("CREATE TEMPORARY TABLE t LIKE default_catalog.default_database.k");
        String insert = "INSERT INTO %s SELECT id, name FROM default_catalog.default_database.g";
        assertTrue(explain(session, String.format(insert, "p")).contains("penstock-kafka [native]"));
        assertFalse(explain(session, String.format(insert, "t")).contains("penstock"));
    }

    @Test
    void aTableOrTheConfigurationSwitchesOff() {
        assertTrue(
                explain(session("penstock-kafka", ", 'penstock.enabled'='false'"))
                        .contains("[fallback: 'penstock.enabled' is false in an option of the table]"));
        cluster.setString("penstock.enabled", "false");
        String off = "[fallback: 'penstock.enabled' is false in the configuration of Flink]";
        assertTrue(explain(session("penstock-kafka", "")).contains(off));
        TableEnvironment session = session("penstock-kafka", ", 'penstock.enabled'='true'");
        assertTrue(explain(session).contains(off));
        session.getConfig().set("penstock.enabled", "true");
        assertTrue(explain(session).contains("[native]"));
    }

    @Test
    void whatTheTableDoesNotSetTheConfigurationDoes() {
        cluster.setString("penstock.fallback", "fail");
        String native1 = ", 'properties.acks'='all'";
        String stock = ", 'properties.interceptor.classes'='x.Y'";
        assertTrue(explain(session("penstock-kafka", native1)).contains("[native]"));
        ValidationException e =
                assertThrows(ValidationException.class, () -> explain(session("penstock-kafka", stock)));
        assertTrue(e.getMessage().contains("'penstock.fallback' is 'fail'"), e.getMessage());
        assertTrue(explain(session("penstock-kafka", stock + ", 'penstock.fallback'='stock'")).contains("[fallback: "));
    }

    private static String explain(TableEnvironment session) {
        return explain(session, COPY);
    }

    private static String explain(TableEnvironment session, String insert) {
        return session.explainSql(insert, ExplainDetail.JSON_EXECUTION_PLAN);
    }

    private TableEnvironment session(String connector, String more) {
        TableEnvironment session =
                TableEnvironment.create(EnvironmentSettings.newInstance().withConfiguration(cluster).build());
        session.executeSql("CREATE TABLE g (id BIGINT, name STRING) WITH ('connector'='datagen')");
        boolean upsert = connector.contains("upsert");
        session.executeSql(
                "CREATE TABLE k (id BIGINT, name STRING"
                        + (upsert ? ", PRIMARY KEY (id) NOT ENFORCED" : "")
                        + ") WITH ('connector'='" + connector + "', "
                        + (upsert ? "'key.format'='json', 'value.format'='json', " : "'format'='json', ")
                        + "'topic'='t', 'properties.bootstrap.servers'='localhost:1',"
                        + " 'sink.delivery-guarantee'='exactly-once', 'sink.transactional-id-prefix'='p'" + more + ")");
        return session;
    }
}
