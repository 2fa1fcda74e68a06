package dev.penstock.flink.table;

import dev.penstock.proto.v1.CsvFormat;
import dev.penstock.proto.v1.Format;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.commons.text.StringEscapeUtils;
import org.apache.flink.api.common.serialization.SerializationSchema;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.formats.csv.CsvFormatOptions;
import org.apache.flink.formats.csv.CsvRowDataSerializationSchema;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.types.logical.RowType;

/**
 * The options of Flink's {@code csv} format that change bytes (formats.md 4.1). As in {@code CsvFormatFactory}, an
 * option that is not set is not read: what the format then does is not always what the option's documented default
 * says.
 */
final class CsvOptions {

    /** The value of the option {@code format}. */
    static final String IDENTIFIER = "csv";

    private static final Set<String> KNOWN =
            Set.of(
                    CsvFormatOptions.FIELD_DELIMITER.key(),
                    CsvFormatOptions.DISABLE_QUOTE_CHARACTER.key(),
                    CsvFormatOptions.QUOTE_CHARACTER.key(),
                    CsvFormatOptions.ARRAY_ELEMENT_DELIMITER.key(),
                    CsvFormatOptions.ESCAPE_CHARACTER.key(),
                    CsvFormatOptions.NULL_LITERAL.key(),
                    CsvFormatOptions.WRITE_BIGDECIMAL_IN_SCIENTIFIC_NOTATION.key(),
                    // These two are about reading.
                    CsvFormatOptions.ALLOW_COMMENTS.key(),
                    CsvFormatOptions.IGNORE_PARSE_ERRORS.key());

    private final Configuration options;
    private final CsvFormat.Builder message = CsvFormat.newBuilder();
    private final CsvRowDataSerializationSchema.Builder serializer;

    private CsvOptions(Configuration options, RowType rowType) {
        this.options = options;
        this.serializer = new CsvRowDataSerializationSchema.Builder(rowType);
    }

    /** Reads the options and proves them as {@link JsonOptions#parse} does. */
    static Format parse(Map<String, String> options, RowType rowType, SerializationSchema<RowData> stock)
            throws NotNative {
        FormatRules.refuseUnknown(IDENTIFIER, options, KNOWN::contains);
        CsvOptions csv = new CsvOptions(Configuration.fromMap(options), rowType);
        csv.readCharacters();
        csv.readTexts();
        // Flink's equals leaves out the notation of decimals.
        if (!FormatRules.same(csv.serializer.build(), stock)) {
            throw FormatRules.unproven(IDENTIFIER);
        }
        return Format.newBuilder().setCsv(csv.message).build();
    }

    private void readCharacters() throws NotNative {
        Optional<Character> delimiter = character(CsvFormatOptions.FIELD_DELIMITER, true);
        delimiter.ifPresent(serializer::setFieldDelimiter);
        delimiter.ifPresent(message::setFieldDelimiter);
        if (options.get(CsvFormatOptions.DISABLE_QUOTE_CHARACTER)) {
            serializer.disableQuoteCharacter();
            message.setQuotesDisabled(true);
        } else {
            Optional<Character> quote = character(CsvFormatOptions.QUOTE_CHARACTER, false);
            quote.ifPresent(serializer::setQuoteCharacter);
            quote.ifPresent(message::setQuoteCharacter);
        }
        Optional<Character> element = character(CsvFormatOptions.ARRAY_ELEMENT_DELIMITER, false);
        element.map(String::valueOf).ifPresent(serializer::setArrayElementDelimiter);
        element.ifPresent(message::setArrayElementDelimiter);
        Optional<Character> escape = character(CsvFormatOptions.ESCAPE_CHARACTER, false);
        escape.ifPresent(serializer::setEscapeCharacter);
        escape.ifPresent(message::setEscapeCharacter);
    }

    private void readTexts() throws NotNative {
        Optional<String> nullLiteral = options.getOptional(CsvFormatOptions.NULL_LITERAL);
        if (nullLiteral.isPresent()) {
            FormatRules.requireUnicode(IDENTIFIER, CsvFormatOptions.NULL_LITERAL.key(), nullLiteral.get());
            serializer.setNullLiteral(nullLiteral.get());
            message.setNullLiteral(nullLiteral.get());
        }
        Optional<Boolean> scientific = options.getOptional(CsvFormatOptions.WRITE_BIGDECIMAL_IN_SCIENTIFIC_NOTATION);
        scientific.ifPresent(serializer::setWriteBigDecimalInScientificNotation);
        scientific.ifPresent(message::setDecimalScientific);
    }

    /** The one character of an option; Flink has checked that there is one and not more. */
    private Optional<Character> character(ConfigOption<String> option, boolean escaped) throws NotNative {
        Optional<String> value = options.getOptional(option);
        if (value.isEmpty()) {
            return Optional.empty();
        }
        char c = (escaped ? StringEscapeUtils.unescapeJava(value.get()) : value.get()).charAt(0);
        if (c == 0 || Character.isSurrogate(c)) {
            throw new NotNative(
                    "'%s.%s' is U+%04X; native are all characters of the basic plane but U+0000",
                    IDENTIFIER, option.key(), (int) c);
        }
        return Optional.of(c);
    }
}
