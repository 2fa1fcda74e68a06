package dev.penstock.integration.harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.math.MathContext;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.core.type.TypeReference;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;

/** out/NAME.json: what a target that measures or judges leaves for programs to read. */
public final class ResultFile {
    private static final MathContext PRECISION = new MathContext(4);

    private ResultFile() {}

    /** Writes one result; numbers with a fraction are rounded to four digits, more would be noise. */
    public static void write(String name, Map<String, Object> json) {
        Path file = Workspace.out().resolve(name + ".json");
        try {
            String text = new ObjectMapper().writerWithDefaultPrettyPrinter().writeValueAsString(rounded(json));
            Files.writeString(file, text + "\n");
        } catch (IOException e) {
            throw new UncheckedIOException("cannot write " + file, e);
        }
    }

    /** What an earlier run has left under this name; empty when there is none. */
    public static Map<String, Object> read(String name) {
        Path file = Workspace.out().resolve(name + ".json");
        try {
            return Files.exists(file)
                    ? new ObjectMapper().readValue(Files.readString(file), new TypeReference<LinkedHashMap<String, Object>>() {})
                    : new LinkedHashMap<>();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read " + file + "; remove it", e);
        }
    }

    private static Object rounded(Object value) {
        if (value instanceof Map<?, ?> map) {
            Map<Object, Object> copy = new LinkedHashMap<>();
            map.forEach((key, item) -> copy.put(key, rounded(item)));
            return copy;
        }
        if (value instanceof Double number) {
            return Double.isFinite(number)
                    ? new BigDecimal(number).round(PRECISION).doubleValue()
                    : null;
        }
        return value;
    }
}
