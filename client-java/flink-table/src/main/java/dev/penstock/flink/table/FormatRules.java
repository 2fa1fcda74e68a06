package dev.penstock.flink.table;

import java.io.IOException;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.apache.flink.api.common.serialization.SerializationSchema;
import org.apache.flink.table.data.RowData;
import org.apache.flink.util.InstantiationUtil;

/** What holds for the options of every format. */
final class FormatRules {

    private FormatRules() {}

    /**
     * Refuses an option that nobody has looked at: it may change bytes.
     *
     * @param options the format's options without prefix
     */
    static void refuseUnknown(String format, Map<String, String> options, Predicate<String> known) throws NotNative {
        for (String option : new TreeSet<>(options.keySet())) {
            if (!known.test(option)) {
                throw new NotNative("Penstock does not know the option '%s.%s'; leave it away", format, option);
            }
        }
    }

    /** Refuses text that does not survive the way to the daemon, where strings are UTF-8. */
    static void requireUnicode(String format, String option, String value) throws NotNative {
        boolean halved =
                value.codePoints().anyMatch(c -> c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE);
        if (halved) {
            throw new NotNative(
                    "'%s.%s' has half of a surrogate pair; only whole characters are native", format, option);
        }
    }

    /**
     * Whether two serializers do the same, where Flink's {@code equals} leaves something out: the serialized form, in
     * which they travel to the tasks, has everything.
     */
    static boolean same(SerializationSchema<RowData> ours, SerializationSchema<RowData> stock) {
        return ours.equals(stock) && sameForm(ours, stock);
    }

    /** Whether two serializers have one serialized form; for those that have no {@code equals}. */
    static boolean sameForm(SerializationSchema<RowData> ours, SerializationSchema<RowData> stock) {
        try {
            return Arrays.equals(
                    InstantiationUtil.serializeObject(ours), InstantiationUtil.serializeObject(stock));
        } catch (IOException e) {
            return false;
        }
    }

    /** The reason when the options that were read do not make the serializer that the stock sink uses. */
    static NotNative unproven(String format) {
        return new NotNative(
                "the %s serializer that Flink made is not the one that the table's options describe; write the '%s.'"
                        + " options into the table, not only into the compiled plan",
                format, format);
    }
}
