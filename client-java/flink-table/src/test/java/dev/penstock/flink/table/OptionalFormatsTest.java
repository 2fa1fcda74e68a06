package dev.penstock.flink.table;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A Flink without flink-csv or flink-avro: a user who has no such table must not notice. */
class OptionalFormatsTest {

    @Test
    void withoutFlinkCsvACsvTableHasAReason() throws Exception {
        assertTrue(admitWithout("flink-csv", "csv").contains("the classes of the format 'csv' are not visible"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"avro", "avro-confluent", "debezium-avro-confluent"})
    void withoutFlinkAvroAnAvroTableHasAReason(String format) throws Exception {
        String reason = admitWithout("avro", format);
        assertTrue(reason.contains("the classes of the format '" + format + "' are not visible"), reason);
    }

    @ParameterizedTest
    @ValueSource(strings = {"flink-csv", "avro"})
    void withoutThemTheOtherFormatsWork(String missing) throws Exception {
        // An unknown option is the first thing that each format refuses: the format itself was reached.
        for (String format : List.of("json", "debezium-json", "raw")) {
            assertEquals(
                    "Penstock does not know the option '" + format + ".x'; leave it away",
                    admitWithout(missing, format));
        }
    }

    /** The reason that Formats gives when it is loaded, with everything else, without the jar of this name. */
    private static String admitWithout(String missing, String format) throws Exception {
        try (URLClassLoader loader =
                new URLClassLoader(classPathWithout(missing), ClassLoader.getPlatformClassLoader())) {
            Class<?> tableOptions = loader.loadClass(TableOptions.class.getName());
            Method of = tableOptions.getDeclaredMethod("of", Map.class);
            of.setAccessible(true);
            Method admit = Stream.of(loader.loadClass(Formats.class.getName()).getDeclaredMethods())
                    .filter(m -> m.getName().equals("admit") && m.getParameterCount() == 3)
                    .findFirst()
                    .orElseThrow();
            admit.setAccessible(true);
            Method valueFormat = tableOptions.getDeclaredMethod("valueFormat");
            valueFormat.setAccessible(true);
            Object choice = valueFormat.invoke(of.invoke(null, Map.of("format", format, format + ".x", "1")));
            InvocationTargetException e =
                    assertThrows(InvocationTargetException.class, () -> admit.invoke(null, choice, null, null));
            assertEquals(NotNative.class.getName(), e.getCause().getClass().getName(), () -> e.getCause().toString());
            return e.getCause().getMessage();
        }
    }

    private static URL[] classPathWithout(String missing) throws Exception {
        List<String> all = List.of(System.getProperty("java.class.path").split(File.pathSeparator));
        List<String> kept = all.stream().filter(entry -> !new File(entry).getName().contains(missing)).toList();
        assertFalse(kept.size() == all.size(), missing + " is not on the class path of the test");
        URL[] urls = new URL[kept.size()];
        for (int i = 0; i < urls.length; i++) {
            urls[i] = new File(kept.get(i)).toURI().toURL();
        }
        return urls;
    }
}
