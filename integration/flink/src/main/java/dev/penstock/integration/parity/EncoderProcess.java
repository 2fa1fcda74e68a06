package dev.penstock.integration.parity;

import dev.penstock.flink.sink.RunningVersions;
import dev.penstock.integration.harness.Workspace;
import dev.penstock.proto.v1.Hello;
import dev.penstock.proto.v1.OpenWriter;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The Go encoder as a child process; the protocol of its pipe stands in {@code integration/parity/encoder/main.go}.
 * Every request has a deadline, after which the process is killed. Not safe for concurrent use.
 */
final class EncoderProcess implements AutoCloseable {
    /** Answers to a batch: values alone, or whole records. */
    private static final String BATCH = "" + EncoderAnswer.VALUES + EncoderAnswer.RECORDS;
    private static final Duration DEADLINE = Duration.ofSeconds(60);

    private final Process process;
    private final OutputStream out;
    private final DataInputStream in;
    private final ExecutorService pipe = Executors.newSingleThreadExecutor(work -> {
        Thread thread = new Thread(work, "parity-encoder-pipe");
        thread.setDaemon(true);
        return thread;
    });

    /** The encoder refused a request; the message is its own. */
    static final class RefusedException extends Exception {
        private static final long serialVersionUID = 1L;

        RefusedException(String message) {
            super(message);
        }
    }

    private EncoderProcess(Process process) {
        this.process = process;
        this.out = new BufferedOutputStream(process.getOutputStream(), 1 << 16);
        this.in = new DataInputStream(new BufferedInputStream(process.getInputStream(), 1 << 16));
    }

    /** Starts the encoder that {@code make build} made. */
    static EncoderProcess start() throws IOException {
        return new EncoderProcess(new ProcessBuilder(Workspace.parityEncoder().toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT).start());
    }

    /** Sets schema and format of the batches that follow. */
    void open(OpenWriter writer) throws IOException, RefusedException {
        RunningVersions versions = RunningVersions.current();
        byte[] hello = Hello.newBuilder()
                .setFlinkVersion(versions.flink())
                .setJacksonVersion(versions.jackson())
                .setJvmFeatureVersion(versions.jvm())
                .build()
                .toByteArray();
        byte[] message = writer.toByteArray();
        ByteBuffer request = request('S', 4 + hello.length + message.length);
        request.putInt(hello.length).put(hello).put(message);
        expect("O", call(request));
    }

    /** Tells the ids that a schema registry gave; once for each {@link #open} with a format that needs one. */
    void defineSchemas(SchemaNumbers ids) throws IOException, RefusedException {
        if (ids.key().isPresent()) {
            defineSchema('K', ids.key().getAsInt());
        }
        if (ids.value().isPresent()) {
            defineSchema('I', ids.value().getAsInt());
        }
    }

    private void defineSchema(char part, int id) throws IOException, RefusedException {
        ByteBuffer request = request(part, 4);
        request.putInt(id);
        expect("O", call(request));
    }

    /** Encodes a batch and returns one record for each row, in the order of the rows. */
    WholeRecord[] encode(int schemaTag, ByteBuffer batch) throws IOException, RefusedException {
        ByteBuffer request = request('B', 4 + batch.remaining());
        request.putInt(schemaTag).put(batch);
        return EncoderAnswer.read(expect(BATCH, call(request)));
    }

    private static ByteBuffer request(char kind, int bytes) {
        ByteBuffer request = ByteBuffer.allocate(5 + bytes).order(ByteOrder.LITTLE_ENDIAN);
        return request.putInt(1 + bytes).put((byte) kind);
    }

    private ByteBuffer call(ByteBuffer request) throws IOException {
        Future<byte[]> answer = pipe.submit(() -> {
            out.write(request.array());
            out.flush();
            int length = Integer.reverseBytes(in.readInt());
            byte[] bytes = new byte[length];
            in.readFully(bytes);
            return bytes;
        });
        try {
            return ByteBuffer.wrap(answer.get(DEADLINE.toSeconds(), TimeUnit.SECONDS)).order(ByteOrder.LITTLE_ENDIAN);
        } catch (TimeoutException e) {
            process.destroyForcibly();
            throw new IOException("the parity encoder gave no answer within " + DEADLINE.toSeconds() + " s", e);
        } catch (ExecutionException e) {
            String what = e.getCause() instanceof EOFException ? "ended" : "broke the pipe";
            throw new IOException("the parity encoder " + what + "; its standard error says why", e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while waiting for the parity encoder", e);
        }
    }

    private static ByteBuffer expect(String kinds, ByteBuffer answer) throws IOException, RefusedException {
        char got = (char) answer.get(0);
        if (got == 'E') {
            throw new RefusedException(StandardCharsets.UTF_8.decode(answer.position(1)).toString());
        }
        if (kinds.indexOf(got) < 0) {
            throw new IOException("the parity encoder answered '" + got + "' instead of one of '" + kinds + "'");
        }
        return answer;
    }

    @Override
    public void close() throws IOException {
        out.close(); // the end of its input is what ends it
        try {
            if (!process.waitFor(DEADLINE.toSeconds(), TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
        pipe.shutdownNow();
    }
}
