package dev.penstock.flink.sink;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RunningVersionsTest {

    /** Runs in every line of Flink, see target test-flink-lines. */
    @Test
    void thisProcessIsKnown() {
        assertEquals(Optional.empty(), RunningVersions.current().unknown());
    }

    @ParameterizedTest
    @CsvSource({
        "2.0.0, 2.15.3, 17", "2.0.2, 2.15.3, 21", "2.1.2, 2.18.2, 17", "2.2.0, 2.18.2, 17", "2.2.11, 2.18.2, 25",
        "2.3.0, 2.20.1, 17"
    })
    void releases(String flink, String jackson, int jvm) {
        assertEquals(Optional.empty(), new RunningVersions(flink, jackson, jvm).unknown());
    }

    @ParameterizedTest
    @CsvSource({
        "2.4.0, 2.20.1, 17, 'Flink 2.4.0 is not known; known are the releases of [2.0, 2.1, 2.2, 2.3]'",
        "1.20.4, 2.14.2, 17, 'Flink 1.20.4 is not known; known are the releases of [2.0, 2.1, 2.2, 2.3]'",
        "2.2-SNAPSHOT, 2.18.2, 17, 'Flink 2.2-SNAPSHOT is not known; known are the releases of [2.0, 2.1, 2.2, 2.3]'",
        "2.2.1-vendor, 2.18.2, 17, 'Flink 2.2.1-vendor is not known; known are the releases of [2.0, 2.1, 2.2, 2.3]'",
        "<unknown>, 2.18.2, 17, 'Flink <unknown> is not known; known are the releases of [2.0, 2.1, 2.2, 2.3]'",
        "2.0.2, 2.18.2, 17, Flink 2.0.2 with the shaded Jackson 2.18.2 is not known; known is Jackson 2.15.3",
        "2.2.1, 2.20.1, 17, Flink 2.2.1 with the shaded Jackson 2.20.1 is not known; known is Jackson 2.18.2",
        "2.2.1, 2.18.2, 16, a JVM of version 16 is not known; known are 17 to 25",
        "2.2.1, 2.18.2, 26, a JVM of version 26 is not known; known are 17 to 25"
    })
    void everythingElseHasAReason(String flink, String jackson, int jvm, String reason) {
        String text = new RunningVersions(flink, jackson, jvm).unknown().orElse("none");
        assertEquals(reason, text.replace(" to Penstock", ""));
    }
}
