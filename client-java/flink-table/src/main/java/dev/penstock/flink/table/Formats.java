package dev.penstock.flink.table;

import dev.penstock.proto.v1.Format;
import java.util.Map;
import java.util.Optional;
import org.apache.flink.api.common.serialization.SerializationSchema;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.types.logical.RowType;

/** The formats of keys and values that are native, by the identifier that the table names. */
final class Formats {

    private static final String NATIVE =
            "json, debezium-json, canal-json, maxwell-json, ogg-json, csv, raw, protobuf, avro, avro-confluent"
                    + " and debezium-avro-confluent";

    private Formats() {}

    /**
     * The daemon's form of a table's format.
     *
     * @param rowType the fields of this part of the records, with the names that the format sees
     * @param stock the stock sink's serializer for {@code rowType}, with which the options are proven
     * @throws NotNative when the format or one of its options is not native
     */
    static Format admit(FormatChoice choice, RowType rowType, SerializationSchema<RowData> stock) throws NotNative {
        try {
            return parse(choice, rowType, stock);
        } catch (LinkageError e) {
            // The formats are optional jars, and Flink may load them where Penstock's classes do not see them.
            throw new NotNative(
                    "the classes of the format '%s' are not visible to Penstock (%s); put the format's jar into the"
                            + " folder of Penstock's",
                    choice.identifier(), e.getMessage());
        }
    }

    private static Format parse(FormatChoice choice, RowType rowType, SerializationSchema<RowData> stock)
            throws NotNative {
        String identifier = choice.identifier();
        Map<String, String> options = choice.options();
        switch (identifier) {
            case CsvOptions.IDENTIFIER:
                return CsvOptions.parse(options, rowType, stock);
            case RawOptions.IDENTIFIER:
                return RawOptions.parse(options, rowType, stock);
            case ProtobufOptions.IDENTIFIER:
                return ProtobufOptions.parse(options, rowType, stock);
            case AvroOptions.IDENTIFIER:
                return AvroOptions.parse(options, rowType, stock);
            case SchemaRegistry.AVRO, SchemaRegistry.DEBEZIUM:
                return RegistryAvroOptions.parse(identifier, options, rowType, stock);
            default:
                Optional<JsonFamily> json = JsonFamily.of(identifier);
                if (json.isEmpty()) {
                    throw new NotNative("the %s format is '%s'; native are %s", choice.part(), identifier, NATIVE);
                }
                return JsonOptions.parse(json.get(), options, rowType, stock).toProto();
        }
    }
}
