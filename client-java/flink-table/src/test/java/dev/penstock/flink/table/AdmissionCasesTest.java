package dev.penstock.flink.table;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.TextFormat;
import dev.penstock.flink.columns.Nullability;
import dev.penstock.flink.table.AdmissionCases.Case;
import dev.penstock.proto.v1.OpenWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.connector.kafka.sink.KafkaPartitioner;
import org.apache.flink.runtime.util.EnvironmentInformation;
import org.apache.flink.table.data.RowData;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The admission table. Its other reader is the daemon's side, {@code daemon/pipeline/admission_test.go}. */
class AdmissionCasesTest {

    /** {@code -Dpenstock.admission.write=true} writes the plans instead of comparing them. */
    private static final boolean WRITE = Boolean.getBoolean("penstock.admission.write");

    /** The plans of tables that Flink 2.0 writes in another way, see {@link Nullability}. */
    private static final String NATIVE_2_0 = "native-2.0";

    private static final boolean IN_2_0 = EnvironmentInformation.getVersion().startsWith("2.0.");

    /** Reasons that no statement can bring about, and the tests that do. */
    private static final Set<String> OTHERWISE =
            Set.of(
                    // AdmissionTest
                    "Flink %s is not known to Penstock",
                    "the metadata 'headers' is written, and how",
                    "the metadata '%s' is written; native are",
                    // OptionalFormatsTest
                    "the classes of the format '%s' are not visible",
                    // ProtobufOptionsTest, and what no library has done yet
                    "Flink's protobuf format refuses the table",
                    "flink-protobuf is not the one that Penstock knows",
                    "the protobuf library is not one that Penstock knows",
                    "the descriptor of '%s' is damaged",
                    "'protobuf.message-class-name' is '%s', which does not load",
                    "'%s' is not a message class that protoc 26",
                    // FormatsTest
                    "Penstock does not know the option",
                    "the %s serializer that Flink made is not the one",
                    // make bundle-check: one of its layouts has the jar of the other connector
                    "the class %s is missing, so Penstock's jar is not the one");

    private static final DdlTables TABLES = new DdlTables();

    static Stream<Case> cases() {
        return AdmissionCases.read().stream();
    }

    @ParameterizedTest
    @MethodSource("cases")
    void theTableHolds(Case c) throws Exception {
        switch (c.verdictHere()) {
            case "native" -> {
                OpenWriter open = OpenWriter.parseFrom(sink(c).plan(SinkTables.context()).openWriter());
                requireSame(c, TextFormat.printer().printToString(open.toBuilder().clearKafka().build()));
            }
            case "invalid" -> {
                String messages = messages(assertThrows(
                        RuntimeException.class, () -> sink(c).plan(SinkTables.context())));
                assertTrue(messages.contains(c.words()), messages);
            }
            default -> {
                String reason = reason(c);
                assertTrue(reason.contains(c.words()), reason);
            }
        }
    }

    @Test
    void everyPlanThatIsCheckedInHasACase() throws IOException {
        assertEquals(names(c -> c.isNative()), files("native"));
        assertEquals(Set.of(), difference(files(NATIVE_2_0), files("native")));
        assertEquals(names(c -> c.verdict().endsWith("refused")), files("refused"));
    }

    @Test
    void everyReasonOfTheCodeHasACase() throws IOException {
        List<String> reasons = new ArrayList<>();
        for (Case c : AdmissionCases.read()) {
            if (c.verdictHere().startsWith("fallback")) {
                reasons.add(reason(c));
            }
        }
        List<String> unproven = new ArrayList<>();
        int found = 0;
        for (String format : reasonsOfTheCode()) {
            found++;
            Pattern text = Pattern.compile(Stream.of(format.split("%[0-9]*[a-zA-Z]", -1))
                    .map(Pattern::quote)
                    .collect(Collectors.joining(".*")));
            if (OTHERWISE.stream().noneMatch(format::startsWith)
                    && reasons.stream().noneMatch(reason -> text.matcher(reason).find())) {
                unproven.add(format);
            }
        }
        assertTrue(found > 20, "found only " + found + " reasons in the sources");
        assertEquals(List.of(), unproven);
    }

    private static String reason(Case c) {
        PenstockDynamicSink sink = sink(c);
        return assertThrows(NotNative.class, () -> sink.plan(SinkTables.context()), c.name()).getMessage();
    }

    private static PenstockDynamicSink sink(Case c) {
        return (PenstockDynamicSink) TABLES.sink(c.definition());
    }

    private static void requireSame(Case c, String plan) throws IOException {
        Path file = planOf("native", c);
        Path old = planOf(NATIVE_2_0, c);
        if (WRITE && !IN_2_0) {
            Files.writeString(file, plan);
        }
        assertTrue(Files.exists(file), "no " + file + "; run this test with -Dpenstock.admission.write=true");
        if (WRITE && IN_2_0 && !Files.readString(file).equals(plan)) {
            Files.writeString(old, plan);
        }
        assertEquals(Files.readString(IN_2_0 && Files.exists(old) ? old : file), plan);
    }

    private static Path planOf(String folder, Case c) {
        return AdmissionCases.FOLDER.resolve(folder).resolve(c.name() + ".txtpb");
    }

    private static Set<String> names(Predicate<Case> wanted) {
        return cases().filter(wanted).map(Case::name).collect(Collectors.toCollection(TreeSet::new));
    }

    private static Set<String> difference(Set<String> of, Set<String> without) {
        return of.stream().filter(name -> !without.contains(name)).collect(Collectors.toSet());
    }

    private static Set<String> files(String folder) throws IOException {
        try (Stream<Path> files = Files.list(AdmissionCases.FOLDER.resolve(folder))) {
            return files.map(f -> f.getFileName().toString().replace(".txtpb", ""))
                    .collect(Collectors.toCollection(TreeSet::new));
        }
    }

    /** The formats of the messages of every NotNative that the sources make. */
    private static List<String> reasonsOfTheCode() throws IOException {
        Pattern made = Pattern.compile("new NotNative\\(\\s*((?:\"(?:[^\"\\\\]|\\\\.)*\"[\\s+]*)+)");
        List<String> formats = new ArrayList<>();
        try (Stream<Path> files = Files.walk(Path.of("src", "main", "java"))) {
            for (Path file : files.filter(f -> f.toString().endsWith(".java")).toList()) {
                Matcher matcher = made.matcher(Files.readString(file));
                while (matcher.find()) {
                    formats.add(matcher.group(1).replaceAll("\"[\\s+]*\"", "").replaceAll("^\"|\"[\\s+]*$", ""));
                }
            }
        }
        return formats;
    }

    private static String messages(Throwable e) {
        StringBuilder messages = new StringBuilder();
        for (Throwable t = e; t != null; t = t.getCause()) {
            messages.append(t.getMessage()).append('\n');
        }
        return messages.toString();
    }

    /** A partitioner of a user. */
    public static final class FirstPartition implements KafkaPartitioner<RowData> {
        private static final long serialVersionUID = 1L;

        @Override
        public int partition(RowData row, byte[] key, byte[] value, String topic, int[] partitions) {
            return partitions[0];
        }
    }
}
