package dev.penstock.integration.parity;

import dev.penstock.flink.columns.NullKeys;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.table.types.logical.RowType;

/** The value formats that are compared, with their random types and options. */
public enum ParityFormat {
    JSON("json"),
    DEBEZIUM_JSON("debezium-json"),
    CANAL_JSON("canal-json"),
    MAXWELL_JSON("maxwell-json"),
    OGG_JSON("ogg-json"),
    CSV("csv"),
    RAW("raw"),
    PROTOBUF("protobuf"),
    AVRO("avro"),
    AVRO_CONFLUENT("avro-confluent"),
    DEBEZIUM_AVRO_CONFLUENT("debezium-avro-confluent");

    private final String identifier;

    ParityFormat(String identifier) {
        this.identifier = identifier;
    }

    /**
     * The format with this identifier.
     *
     * @throws IllegalArgumentException when there is none; the message names those that there are
     */
    public static ParityFormat of(String identifier) {
        return Stream.of(values())
                .filter(format -> format.identifier.equals(identifier))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no format '" + identifier + "': use " + names()));
    }

    /** The identifiers of all formats, for a usage text. */
    static String names() {
        return Arrays.stream(values()).map(ParityFormat::identifier).collect(Collectors.joining("|"));
    }

    /** The value of the table option {@code format}. */
    public String identifier() {
        return identifier;
    }

    /** Whether the format has a place for row kinds; all other formats are for inserts only. */
    boolean changelog() {
        return switch (this) {
            case JSON, CSV, RAW, PROTOBUF, AVRO, AVRO_CONFLUENT -> false;
            default -> true;
        };
    }

    /** Whether there are rows of admitted types that Flink's serializer refuses; raw has none. */
    public boolean refusesRows() {
        return this != RAW;
    }

    ParityTable randomTable(SplittableRandom random) {
        if (this == PROTOBUF) {
            return ProtobufTables.random(random.split());
        }
        RowType type = randomType(random.split());
        return new ParityTable(type, randomOptions(random));
    }

    private RowType randomType(SplittableRandom random) {
        RandomTypes types = new RandomTypes(random);
        return switch (this) {
            case CSV -> types.csvRecord();
            case RAW -> types.rawRecord();
            case AVRO -> types.avroRecord(random.nextBoolean());
            case AVRO_CONFLUENT, DEBEZIUM_AVRO_CONFLUENT -> types.avroRecord(true);
            default -> types.record();
        };
    }

    /** How the sink's columns carry null keys of maps for this format. */
    NullKeys nullKeys() {
        return switch (this) {
            case AVRO, AVRO_CONFLUENT, DEBEZIUM_AVRO_CONFLUENT -> NullKeys.AS_TEXT;
            default -> NullKeys.NULL;
        };
    }

    private FormatOptions randomOptions(SplittableRandom random) {
        return switch (this) {
            case CSV -> CsvOptions.random(random);
            case RAW -> new RawOptions(random.nextBoolean());
            case AVRO, AVRO_CONFLUENT, DEBEZIUM_AVRO_CONFLUENT -> AvroOptions.random(this, random);
            default -> JsonOptions.random(this, random);
        };
    }
}
