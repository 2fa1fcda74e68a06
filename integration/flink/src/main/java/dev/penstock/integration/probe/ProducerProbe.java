package dev.penstock.integration.probe;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Produces what it is told to, one transaction for each line of standard input, with the producer's defaults as Flink's
 * sink has them, and answers each with a line. The lines are {@code transactional-id topic compression rows file
 * value-bytes}, the answer is {@code LEG nanoseconds}, from the first send to the end of the flush; the transaction is
 * committed after that. The file holds values of that size, which are sent in turn.
 */
public final class ProducerProbe {
    private ProducerProbe() {}

    /** The argument is the broker's address. */
    public static void main(String[] args) throws IOException {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] f = line.split(" ");
            byte[][] values = values(Path.of(f[4]), Integer.parseInt(f[5]));
            System.out.println("LEG " + produce(args[0], f[0], f[1], f[2], Long.parseLong(f[3]), values));
        }
    }

    private static byte[][] values(Path file, int size) throws IOException {
        byte[] all = Files.readAllBytes(file);
        byte[][] values = new byte[all.length / size][size];
        for (int i = 0; i < values.length; i++) {
            System.arraycopy(all, i * size, values[i], 0, size);
        }
        return values;
    }

    private static long produce(
            String servers, String id, String topic, String compression, long rows, byte[][] values) {
        Map<String, Object> settings = new HashMap<>();
        settings.put(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, servers);
        settings.put(ProducerConfig.TRANSACTIONAL_ID_CONFIG, id);
        settings.put(ProducerConfig.COMPRESSION_TYPE_CONFIG, compression);
        try (KafkaProducer<byte[], byte[]> producer =
                new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer())) {
            producer.initTransactions();
            producer.beginTransaction();
            Exception[] failure = new Exception[1];
            long start = System.nanoTime();
            for (long i = 0; i < rows; i++) {
                // A failure also fails the commit below; the callback is what Flink's writer has.
                producer.send(new ProducerRecord<>(topic, values[(int) (i % values.length)]),
                        (metadata, e) -> failure[0] = e == null ? failure[0] : e);
            }
            producer.flush();
            long nanos = System.nanoTime() - start;
            if (failure[0] != null) {
                throw new IllegalStateException("a record was not delivered", failure[0]);
            }
            producer.commitTransaction();
            return nanos;
        }
    }
}
