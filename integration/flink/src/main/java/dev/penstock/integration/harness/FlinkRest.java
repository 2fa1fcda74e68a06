package dev.penstock.integration.harness;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;

/** Flink's REST interface, as far as the harness asks it; the same for MiniCluster and for processes. Thread safe. */
public final class FlinkRest {
    private static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(60);
    private static final ObjectMapper JSON = new ObjectMapper();

    private final HttpClient http = HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(10)).build();
    private final String host;
    private final int port;

    public FlinkRest(String host, int port) {
        this.host = host;
        this.port = port;
    }

    public String host() {
        return host;
    }

    public int port() {
        return port;
    }

    /** GET; the path starts with a slash. */
    public JsonNode get(String path) throws IOException {
        return send(path, HttpRequest.newBuilder().GET());
    }

    /** POST of a JSON text. */
    public JsonNode post(String path, String body) throws IOException {
        return send(path, HttpRequest.newBuilder().header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(body)));
    }

    /** Requests the cancellation of a job. */
    public void cancel(String jobId) throws IOException {
        send("/jobs/" + jobId, HttpRequest.newBuilder().method("PATCH", HttpRequest.BodyPublishers.noBody()));
    }

    /** Registered TaskManagers. */
    public int taskManagers() throws IOException {
        return get("/overview").path("taskmanagers").asInt();
    }

    /** The vertices of a job, as /jobs/:id lists them. */
    public List<JsonNode> vertices(String jobId) throws IOException {
        List<JsonNode> vertices = new ArrayList<>();
        get("/jobs/" + jobId).path("vertices").forEach(vertices::add);
        return vertices;
    }

    private JsonNode send(String path, HttpRequest.Builder request) throws IOException {
        URI uri = URI.create("http://" + host + ":" + port + path);
        try {
            HttpResponse<String> response = http.send(request.uri(uri).timeout(REQUEST_TIMEOUT).build(),
                    HttpResponse.BodyHandlers.ofString());
            if (response.statusCode() / 100 != 2) {
                throw new IOException(uri + " answered " + response.statusCode() + ": " + response.body());
            }
            return response.body().isEmpty() ? JSON.nullNode() : JSON.readTree(response.body());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted: " + uri, e);
        }
    }
}
