package dev.penstock.integration.parity;

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.table.types.logical.RowType;

/** What is compared: the values of one format, with its random types and options, or whole records. */
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
    DEBEZIUM_AVRO_CONFLUENT("debezium-avro-confluent"),
    /** Whole records of {@code kafka} tables: keys, projections, metadata, topics. */
    RECORDS("records"),
    /** The same of {@code upsert-kafka} tables. */
    UPSERT("upsert");

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

    /** Whether records are compared with everything that is in them, not only the values of one format. */
    public boolean wholeRecords() {
        return this == RECORDS || this == UPSERT;
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

    /** A random table. */
    ParitySubject random(SplittableRandom random) {
        return switch (this) {
            case RECORDS -> new RecordSubject(RandomTable.random(random, false), random.split());
            case UPSERT -> new RecordSubject(RandomTable.random(random, true), random.split());
            default -> {
                ParityTable table = randomTable(random);
                yield new ValueSubject(this, table.type(), table.options(), random.split());
            }
        };
    }

    /** Columns that the format takes, nearly always, and options of it. */
    ParityTable randomTable(SplittableRandom random) {
        return this == PROTOBUF
                ? ProtobufTables.random(random.split())
                : new ParityTable(randomType(random.split()), randomOptions(random));
    }

    /** Whether it is avro, with a registry or without: all have the same rules for types and names. */
    boolean isAvro() {
        return switch (this) {
            case AVRO, AVRO_CONFLUENT, DEBEZIUM_AVRO_CONFLUENT -> true;
            default -> false;
        };
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

    private FormatOptions randomOptions(SplittableRandom random) {
        return switch (this) {
            case CSV -> CsvOptions.random(random);
            case RAW -> new RawOptions(random.nextBoolean());
            case AVRO, AVRO_CONFLUENT, DEBEZIUM_AVRO_CONFLUENT -> AvroOptions.random(this, random);
            default -> JsonOptions.random(this, random);
        };
    }
}
