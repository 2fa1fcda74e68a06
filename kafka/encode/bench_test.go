package encode

import (
	"fmt"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"

	"penstock.dev/penstock/columnar"
)

const bidRows = 4096

// bidType is the bid of the Nexmark benchmark.
func bidType() *columnar.Type {
	bigint := &columnar.Type{Kind: columnar.BigInt, Nullable: true}
	text := &columnar.Type{Kind: columnar.VarChar, Nullable: true}
	at := &columnar.Type{Kind: columnar.Timestamp, Nullable: true, Precision: 3}
	return &columnar.Type{
		Kind:       columnar.Row,
		Children:   []*columnar.Type{bigint, bigint, bigint, text, text, at, text},
		FieldNames: []string{"auction", "bidder", "price", "channel", "url", "dateTime", "extra"},
	}
}

type bid struct {
	auction, bidder, price, at int64
	channel, url, extra        string
}

func bids() []bid {
	const letters = "abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	rows := make([]bid, bidRows)
	seed := uint64(42)
	next := func() uint64 {
		seed = seed*6364136223846793005 + 1442695040888963407
		return seed >> 33
	}
	for i := range rows {
		extra := make([]byte, 80+next()%40)
		for k := range extra {
			extra[k] = letters[next()%uint64(len(letters))]
		}
		rows[i] = bid{
			auction: 1000 + int64(next()%100_000), bidder: 1000 + int64(next()%1_000_000), price: 100 + int64(next()%100_000_000),
			at: 1_700_000_000_000 + int64(i)*37, channel: fmt.Sprintf("channel-%d", next()%10_000),
			url: fmt.Sprintf("https://www.nexmark.com/%x/item.htm?query=1", next()), extra: string(extra),
		}
	}
	return rows
}

func bidBatch(tb testing.TB) *columnar.Batch {
	b := columnar.NewBuilder(bidType())
	for _, r := range bids() {
		b.Append(0, r.auction, r.bidder, r.price, r.channel, r.url, columnar.TimestampValue{Millis: r.at}, r.extra)
	}
	batch, err := columnar.Parse(b.Finish(1), bidType(), 1)
	if err != nil {
		tb.Fatal(err)
	}
	return &batch
}

func BenchmarkBid(b *testing.B) { benchmarkBid(b, mustCompile(b, bidType(), JSONOptions{})) }

func BenchmarkBidCSV(b *testing.B) { benchmarkBid(b, mustCompileCSV(b, bidType(), CSVOptions{})) }

func BenchmarkBidAvro(b *testing.B) { benchmarkBid(b, mustCompileAvro(b, bidType(), AvroOptions{})) }

func BenchmarkBidDebezium(b *testing.B) {
	plan, err := CompileChangelog(EnvelopeDebezium, bidType(), JSONOptions{})
	if err != nil {
		b.Fatal(err)
	}
	benchmarkBid(b, plan)
}

func BenchmarkBidProtobuf(b *testing.B) {
	file, err := protodesc.NewFile(&descriptorpb.FileDescriptorProto{
		Name: proto.String("bid.proto"), Syntax: proto.String("proto3"),
		MessageType: []*descriptorpb.DescriptorProto{{Name: proto.String("Bid"), Field: bidFields()}},
	}, nil)
	if err != nil {
		b.Fatal(err)
	}
	// The format has no TIMESTAMP; the time is milliseconds.
	typ, batch := bidType(), bidBatch(b)
	typ.Children[5] = typ.Children[0]
	batch.Columns[5] = batch.Columns[5].Children[0]
	plan, err := CompileProtobuf(typ, ProtobufOptions{Message: file.Messages().Get(0)})
	if err != nil {
		b.Fatal(err)
	}
	benchmarkBatch(b, plan, batch)
}

func bidFields() []*descriptorpb.FieldDescriptorProto {
	var fields []*descriptorpb.FieldDescriptorProto
	for i, name := range bidType().FieldNames {
		kind := descriptorpb.FieldDescriptorProto_TYPE_INT64
		if bidType().Children[i].Kind == columnar.VarChar {
			kind = descriptorpb.FieldDescriptorProto_TYPE_STRING
		}
		fields = append(fields, &descriptorpb.FieldDescriptorProto{
			Name: proto.String(name), Number: proto.Int32(int32(i + 1)), Type: kind.Enum(),
			Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(),
		})
	}
	return fields
}

func benchmarkBid(b *testing.B, plan *Plan) { benchmarkBatch(b, plan, bidBatch(b)) }

func benchmarkBatch(b *testing.B, plan *Plan, batch *columnar.Batch) {
	e := NewEncoder(plan)
	out, err := e.Encode(batch, AllRows(batch))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(out.Values)))
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		if _, err := e.Encode(batch, AllRows(batch)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)*bidRows/b.Elapsed().Seconds(), "rows/s")
	b.ReportMetric(float64(len(out.Values))/bidRows, "B/row")
}
