package dev.penstock.integration.judge;

import dev.penstock.integration.judge.TopicContents.RowId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Compares whole topics. A row is one record; its id is a counter from 0 in one column of the value. */
public final class TopicJudge {
    private static final int MAX_EXAMPLES = 5;
    private static final Duration READ_TIMEOUT = Duration.ofSeconds(120);

    private final String bootstrapServers;
    private final RowId rowId;
    private final boolean comparesTimestamps;

    /**
     * Judges topics of one broker.
     *
     * @param comparesTimestamps true when the table writes the {@code timestamp} metadata column; otherwise each
     *     producer stamps its own records and only the run's period can be checked
     */
    public TopicJudge(String bootstrapServers, RowId rowId, boolean comparesTimestamps) {
        this.bootstrapServers = bootstrapServers;
        this.rowId = rowId;
        this.comparesTimestamps = comparesTimestamps;
    }

    /** Reads a topic as a read_committed consumer sees it now. */
    public TopicContents read(String topic) {
        return TopicContents.read(bootstrapServers, topic, rowId, comparesTimestamps, READ_TIMEOUT);
    }

    /**
     * Judges a topic by row ids alone.
     *
     * @param expectedRows ids 0 .. expectedRows-1 must be there
     */
    public Verdict judge(TopicContents ours, long expectedRows) {
        List<String> examples = new ArrayList<>();
        long lost = ours.missingIds(expectedRows);
        if (lost > 0) {
            examples.add("first lost row: " + ours.firstMissing(expectedRows));
        }
        return new Verdict(ours.records(), lost, ours.duplicatedIds(), 0, examples);
    }

    /**
     * Judges a topic by row ids and by bytes against what stock wrote from the same input.
     *
     * @param fromMillis start of our run; with its end the limits of our timestamps where they are not compared
     */
    public Verdict judge(TopicContents stock, TopicContents ours, long expectedRows, long fromMillis, long toMillis) {
        Verdict byId = judge(ours, expectedRows);
        List<String> examples = new ArrayList<>(byId.examples());
        long differing = surplus(ours, stock, "not written by stock: ", examples)
                + surplus(stock, ours, "only written by stock: ", examples);
        if (!comparesTimestamps && !ours.isWithin(fromMillis, toMillis)) {
            differing++;
            examples.add("timestamps " + ours.timestamps() + " outside of " + fromMillis + " to " + toMillis);
        }
        return new Verdict(byId.rows(), byId.lost(), byId.duplicated(), differing, examples);
    }

    /** How many records of the one multiset have no partner in the other. */
    private static long surplus(TopicContents one, TopicContents other, String words, List<String> examples) {
        long surplus = 0;
        for (Map.Entry<RecordHash, Integer> entry : one.counts().entrySet()) {
            int more = entry.getValue() - other.counts().getOrDefault(entry.getKey(), 0);
            if (more > 0) {
                surplus += more;
                if (examples.size() < MAX_EXAMPLES) {
                    examples.add(words + more + " x the record at " + one.place(entry.getKey()));
                }
            }
        }
        return surplus;
    }
}
