package dev.penstock.integration.parity;

import dev.penstock.proto.v1.CsvFormat;
import dev.penstock.proto.v1.Format;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import org.apache.flink.api.common.serialization.SerializationSchema;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.formats.csv.CsvFormatFactory;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.utils.TypeConversions;

/**
 * One setting of the options of Flink's {@code csv} format. The oracle comes out of Flink's factory, since what an
 * option does that is not set is decided there. Null means "not set".
 *
 * @param delimiter {@code field-delimiter}
 * @param quote {@code quote-character}
 * @param quotesDisabled {@code disable-quote-character}
 * @param element {@code array-element-delimiter}
 * @param escape {@code escape-character}
 * @param nullLiteral {@code null-literal}
 * @param scientific {@code write-bigdecimal-in-scientific-notation}
 */
record CsvOptions(
        Character delimiter,
        Character quote,
        boolean quotesDisabled,
        Character element,
        Character escape,
        String nullLiteral,
        Boolean scientific)
        implements FormatOptions {
    private static final String DELIMITERS = ",;|\t\u0001☃-1a \"\uffff";
    private static final String QUOTES = "'\"`~\u0002é";
    private static final String ELEMENTS = ";,|\t:\"\\☃";
    private static final String ESCAPES = "\\|\"'x,é";
    private static final String[] NULL_LITERALS = {"", "NULL", "n,a", "q\"\\", "\uD83D\uDE00"};

    static CsvOptions random(SplittableRandom random) {
        boolean quotesDisabled = random.nextInt(6) == 0;
        return new CsvOptions(
                character(random, DELIMITERS),
                // Flink's factory refuses a quote together with disabled quotes.
                quotesDisabled ? null : character(random, QUOTES),
                quotesDisabled,
                character(random, ELEMENTS),
                character(random, ESCAPES),
                random.nextBoolean() ? null : NULL_LITERALS[random.nextInt(NULL_LITERALS.length)],
                random.nextBoolean() ? null : random.nextBoolean());
    }

    private static Character character(SplittableRandom random, String from) {
        return random.nextBoolean() ? null : from.charAt(random.nextInt(from.length()));
    }

    @Override
    public SerializationSchema<RowData> oracle(RowType type) throws Exception {
        SerializationSchema<RowData> oracle = new CsvFormatFactory()
                .createEncodingFormat(null, Configuration.fromMap(tableOptions()))
                .createRuntimeEncoder(null, TypeConversions.fromLogicalToDataType(type));
        oracle.open(null);
        return oracle;
    }

    @Override
    public Map<String, String> tableOptions() {
        Map<String, String> options = new HashMap<>();
        if (delimiter != null) {
            options.put("field-delimiter", String.format("\\u%04x", (int) delimiter));
        }
        if (quotesDisabled) {
            options.put("disable-quote-character", "true");
        }
        put(options, "quote-character", quote);
        put(options, "array-element-delimiter", element);
        put(options, "escape-character", escape);
        put(options, "null-literal", nullLiteral);
        put(options, "write-bigdecimal-in-scientific-notation", scientific);
        return options;
    }

    private static void put(Map<String, String> options, String key, Object value) {
        if (value != null) {
            options.put(key, value.toString());
        }
    }

    @Override
    public Format message() {
        CsvFormat.Builder csv = CsvFormat.newBuilder()
                .setFieldDelimiter(codePoint(delimiter))
                .setQuoteCharacter(codePoint(quote))
                .setQuotesDisabled(quotesDisabled)
                .setArrayElementDelimiter(codePoint(element))
                .setEscapeCharacter(codePoint(escape))
                .setDecimalScientific(Boolean.TRUE.equals(scientific));
        if (nullLiteral != null) {
            csv.setNullLiteral(nullLiteral);
        }
        return Format.newBuilder().setCsv(csv).build();
    }

    private static int codePoint(Character c) {
        return c == null ? 0 : c;
    }
}
