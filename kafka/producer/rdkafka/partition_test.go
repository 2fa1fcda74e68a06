package rdkafka_test

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"penstock.dev/penstock/kafka/producer"
)

// keyPartition is one line of testdata/key_partitions.txt.
type keyPartition struct {
	key   []byte
	place int32
}

// keyPartitions are the lines by number of partitions.
func keyPartitions(t *testing.T) map[int][]keyPartition {
	t.Helper()
	file, err := os.Open("testdata/key_partitions.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	table := map[int][]keyPartition{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		f := strings.Split(lines.Text(), "\t")
		key, keyErr := hex.DecodeString(f[0])
		of, ofErr := strconv.Atoi(f[1])
		place, placeErr := strconv.Atoi(f[2])
		if keyErr != nil || ofErr != nil || placeErr != nil {
			t.Fatalf("line %q", lines.Text())
		}
		table[of] = append(table[of], keyPartition{key, int32(place)})
	}
	if len(table) < 3 {
		t.Fatalf("the table has only %d numbers of partitions", len(table))
	}
	return table
}

// TestKeysGoWhereJavaPutsThem produces the keys of the table, plainly and with timestamps, which takes the other way through C.
func TestKeysGoWhereJavaPutsThem(t *testing.T) {
	b, e := realBroker(t), newEngine(t)
	for of, keys := range keyPartitions(t) {
		topic := fmt.Sprintf("keys-%d", of)
		createTopic(t, b, topic, int32(of), nil)
		r := &producer.Records{Topic: topic}
		var fields [][]byte
		want := map[string]int32{}
		for _, k := range keys {
			fields = append(fields, k.key)
			want[string(k.key)] = k.place
		}
		r.Keys, r.KeyOffsets, r.KeyNulls = column(fields...)
		r.Values, r.ValueOffsets, _ = column(fields...)
		o := mustOpen(t, e, config(b.Addr()), topic+"-0-1")
		mustProduce(t, o, r)
		r.Timestamps = slices.Repeat([]int64{producer.NoTimestamp, 5}, len(keys))[:len(keys)]
		mustProduce(t, o, r)
		for _, s := range sealAndRead(t, o, topic, 2*len(keys), 2*len(keys)) {
			if place, ok := want[string(s.Key)]; !ok || s.Partition != place || s.Key == nil {
				t.Errorf("of %d: key %x is in partition %d, Java says %d", of, s.Key, s.Partition, place)
			}
		}
	}
}

// TestFixedPartition: all records of a subtask go to one partition of each topic, keys or not.
func TestFixedPartition(t *testing.T) {
	b, e := realBroker(t), newEngine(t)
	createTopic(t, b, "fixed-3", 3, nil)
	createTopic(t, b, "fixed-5", 5, nil)
	cfg := config(b.Addr())
	cfg.Topics, cfg.Fixed = []string{"fixed-3", "fixed-5"}, producer.NewFixed(8)
	o := mustOpen(t, e, cfg, "fixed-0-1")
	for _, topic := range cfg.Topics {
		for round := range 20 {
			r := rows(topic, "x", 10)
			if round%2 == 0 {
				r.Keys, r.KeyOffsets = r.Values, r.ValueOffsets
			}
			if round%3 == 0 {
				r.Timestamps = slices.Repeat([]int64{9}, 10)
			}
			mustProduce(t, o, r)
		}
	}
	first := sealAndRead(t, o, "fixed-3", 400, 200)
	for _, s := range append(first, committed(t, "fixed-5", 200)...) {
		if want := map[string]int32{"fixed-3": 2, "fixed-5": 3}[s.Topic]; s.Partition != want {
			t.Fatalf("a record of %s is in partition %d, want %d", s.Topic, s.Partition, want)
		}
	}
}

func TestFixedPartitionOfAnUnknownTopicIsAnError(t *testing.T) {
	b, e := realBroker(t), newEngine(t)
	cfg := config(b.Addr())
	cfg.MaxBlock, cfg.Fixed = 2*time.Second, producer.NewFixed(0)
	o := mustOpen(t, e, cfg, "fixed-unknown-0-1")
	defer o.Discard()
	err := o.Produce(testContext(t, 30*time.Second), rows("no-such-topic", "x", 1))
	check(t, err, producer.FailEpoch, `topic "no-such-topic"`, "sink.partitioner", "properties.max.block.ms = 2000")
}
