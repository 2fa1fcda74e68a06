package dev.penstock.integration.harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * A real schema registry (Apicurio, schemas in memory) as a child process on loopback, with the API of Confluent's.
 * Thread safe.
 */
public final class RegistryProcess implements AutoCloseable {
    private static final Duration START_TIMEOUT = Duration.ofSeconds(120);
    private static final Duration STOP_TIMEOUT = Duration.ofSeconds(20);
    private static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(20);

    private final Path folder = Workspace.temporary("registry");
    private final int port = FreePorts.one();
    private final HttpClient http = HttpClient.newHttpClient();
    private ChildProcess process;

    private RegistryProcess() {}

    /** Starts a registry and waits until it answers. */
    public static RegistryProcess start() {
        RegistryProcess registry = new RegistryProcess();
        try {
            registry.launch();
            return registry;
        } catch (RuntimeException e) {
            registry.close();
            throw e;
        }
    }

    private void launch() {
        Path jars = Workspace.registryFolder();
        ChildProcess started = ChildProcess.start(
                "registry",
                List.of(JavaCommand.java(), "-Xmx512m", "-Dquarkus.http.host=127.0.0.1", "-Dquarkus.http.port=" + port,
                        "-cp", jars + "/*:" + jars.resolve("lib") + "/*", "io.quarkus.runner.GeneratedMain"),
                Map.of(),
                folder.resolve("registry.log"));
        process = started;
        Deadline.in(START_TIMEOUT).await("the schema registry at " + url(), () -> {
            started.requireAlive();
            try {
                return subjects().startsWith("[");
            } catch (UncheckedIOException e) {
                return false;
            }
        }, started::logTail);
    }

    /** The value of a format's option {@code url}. */
    public String url() {
        return "http://127.0.0.1:" + port + "/apis/ccompat/v6";
    }

    /** The names of all subjects, as JSON. */
    public String subjects() {
        return send(HttpRequest.newBuilder(URI.create(url() + "/subjects")).GET());
    }

    /** The latest version of a subject, as JSON with its id and its schema. */
    public String latest(String subject) {
        return send(HttpRequest.newBuilder(subject(subject, "/versions/latest")).GET());
    }

    /** Registers a schema and returns the answer, JSON with its id. */
    public String register(String subject, String avro) {
        String body = "{\"schema\":\"" + avro.replace("\"", "\\\"") + "\"}";
        return send(json(subject(subject, "/versions")).POST(HttpRequest.BodyPublishers.ofString(body)));
    }

    /** Sets the compatibility rule of a subject that exists, for example BACKWARD. */
    public void requireCompatibility(String subject, String level) {
        URI config = URI.create(url() + "/config/" + encode(subject));
        send(json(config).PUT(HttpRequest.BodyPublishers.ofString("{\"compatibility\":\"" + level + "\"}")));
    }

    private URI subject(String subject, String rest) {
        return URI.create(url() + "/subjects/" + encode(subject) + rest);
    }

    private static String encode(String subject) {
        return URLEncoder.encode(subject, StandardCharsets.UTF_8);
    }

    private static HttpRequest.Builder json(URI uri) {
        return HttpRequest.newBuilder(uri).header("Content-Type", "application/vnd.schemaregistry.v1+json");
    }

    private String send(HttpRequest.Builder request) {
        try {
            var answer = http.send(request.timeout(REQUEST_TIMEOUT).build(), BodyHandlers.ofString());
            if (answer.statusCode() != 200) {
                throw new IOException(answer.uri() + " answers " + answer.statusCode() + ": " + answer.body());
            }
            return answer.body();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while asking the schema registry", e);
        }
    }

    @Override
    public void close() {
        if (process != null && process.isAlive()) {
            process.stop(STOP_TIMEOUT);
        }
        Workspace.delete(folder);
    }
}
