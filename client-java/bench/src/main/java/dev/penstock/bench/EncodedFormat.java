package dev.penstock.bench;

import com.google.protobuf.DescriptorProtos.FileDescriptorSet;
import dev.penstock.bench.messages.Bid;
import dev.penstock.proto.v1.AvroFormat;
import dev.penstock.proto.v1.CsvFormat;
import dev.penstock.proto.v1.Format;
import dev.penstock.proto.v1.JsonFormat;
import dev.penstock.proto.v1.ProtobufFormat;
import dev.penstock.proto.v1.RawFormat;
import java.util.Arrays;
import java.util.Locale;
import org.apache.flink.api.common.serialization.SerializationSchema;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.formats.avro.AvroFormatFactory;
import org.apache.flink.formats.common.TimestampFormat;
import org.apache.flink.formats.csv.CsvFormatFactory;
import org.apache.flink.formats.json.JsonFormatOptions.MapNullKeyMode;
import org.apache.flink.formats.json.JsonRowDataSerializationSchema;
import org.apache.flink.formats.protobuf.PbFormatConfig;
import org.apache.flink.formats.protobuf.serialize.PbRowDataSerializationSchema;
import org.apache.flink.formats.raw.RawFormatSerializationSchema;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.binary.BinaryRowData;
import org.apache.flink.table.runtime.typeutils.RowDataSerializer;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.utils.TypeConversions;

/** The value formats of {@code make bench-encode}, with their default options. A further format is one entry here. */
enum EncodedFormat {
    JSON(
            BidRows.TYPE,
            Format.newBuilder().setJson(JsonFormat.getDefaultInstance()),
            type -> new JsonRowDataSerializationSchema(
                    type, TimestampFormat.SQL, MapNullKeyMode.FAIL, "null", false, false)),
    CSV(
            BidRows.TYPE,
            Format.newBuilder().setCsv(CsvFormat.getDefaultInstance()),
            type -> new CsvFormatFactory()
                    .createEncodingFormat(null, new Configuration())
                    .createRuntimeEncoder(null, TypeConversions.fromLogicalToDataType(type))),
    AVRO(
            BidRows.TYPE,
            Format.newBuilder().setAvro(AvroFormat.getDefaultInstance()),
            type -> new AvroFormatFactory()
                    .createEncodingFormat(null, new Configuration())
                    .createRuntimeEncoder(null, TypeConversions.fromLogicalToDataType(type))),
    /** Protobuf takes no TIMESTAMP: {@code dateTime} is a BIGINT. */
    PROTOBUF(
            BidRows.NUMERIC_TYPE,
            Format.newBuilder().setProtobuf(ProtobufFormat.newBuilder()
                    .setFileDescriptorSet(FileDescriptorSet.newBuilder()
                            .addFile(Bid.getDescriptor().getFile().toProto())
                            .build()
                            .toByteString())
                    .setMessageName(Bid.getDescriptor().getFullName())),
            type -> new PbRowDataSerializationSchema(type, new PbFormatConfig.PbFormatConfigBuilder()
                    .messageClassName(Bid.class.getName())
                    .build())),
    /** Raw takes one column: {@code extra}. */
    RAW(
            RowType.of(BidRows.TYPE.getTypeAt(BidRows.EXTRA)),
            Format.newBuilder().setRaw(RawFormat.getDefaultInstance()),
            type -> new RawFormatSerializationSchema(type.getTypeAt(0), "UTF-8", true));

    private interface Serializer {
        SerializationSchema<RowData> create(RowType type);
    }

    private final RowType type;
    private final Format message;
    private final Serializer serializer;

    EncodedFormat(RowType type, Format.Builder message, Serializer serializer) {
        this.type = type;
        this.message = message.build();
        this.serializer = serializer;
    }

    /** The name of the format in Flink, which names its files and figures. */
    String identifier() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    static EncodedFormat of(String identifier) {
        return Arrays.stream(values())
                .filter(format -> format.identifier().equals(identifier))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no format '" + identifier + "'"));
    }

    /** The type of the rows. */
    RowType type() {
        return type;
    }

    /** The format as the daemon gets it. */
    Format message() {
        return message;
    }

    /** Flink's own serializer, opened. */
    SerializationSchema<RowData> flink() throws Exception {
        SerializationSchema<RowData> flink = serializer.create(type);
        flink.open(null);
        return flink;
    }

    /** The first {@code count} bids, those of a smaller count included, as they come from Flink's network. */
    BinaryRowData[] rows(int count) {
        BinaryRowData[] bids = BidRows.binary(count, 1);
        if (type == BidRows.TYPE) {
            return bids;
        }
        RowDataSerializer rows = new RowDataSerializer(type);
        return Arrays.stream(bids).map(bid -> rows.toBinaryRow(ofType(bid)).copy()).toArray(BinaryRowData[]::new);
    }

    private RowData ofType(RowData bid) {
        return type == BidRows.NUMERIC_TYPE ? BidRows.numeric(bid) : GenericRowData.of(bid.getString(BidRows.EXTRA));
    }
}
