package dev.penstock.integration.harness;

import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;

/** A submitted job, seen through REST. */
public final class FlinkJob {
    private static final Set<String> ENDED = Set.of("FINISHED", "FAILED", "CANCELED");

    private final FlinkRest rest;
    private final String id;
    private final Diagnosis diagnosis;

    /**
     * The job of this id.
     *
     * @param diagnosis what to say beside the job's own failures when a wait for it is in vain
     */
    FlinkJob(FlinkRest rest, String id, Diagnosis diagnosis) {
        this.rest = rest;
        this.id = id;
        this.diagnosis = diagnosis;
    }

    public String id() {
        return id;
    }

    /** Flink's JobStatus by name. */
    public String state() throws IOException {
        return rest.get("/jobs/" + id).path("state").asText();
    }

    /** Waits for the end of the job, whatever it is, and returns the state. */
    public String awaitEnd(Duration timeout) {
        String[] state = {"?"};
        Deadline.in(timeout).await("the end of job " + id, () -> {
            state[0] = state();
            return ENDED.contains(state[0]);
        }, () -> "; its state is " + state[0] + explanation());
        return state[0];
    }

    /** Waits until the job has finished well. */
    public void awaitFinished(Duration timeout) {
        String state = awaitEnd(timeout);
        if (!state.equals("FINISHED")) {
            throw new IllegalStateException("job " + id + " ended as " + state + explanation());
        }
    }

    /** Waits until this many checkpoints are complete, counted since the job was submitted. */
    public void awaitCheckpoints(int count, Duration timeout) {
        awaitProgress(count + " complete checkpoints", () -> completedCheckpoints() >= count, timeout);
    }

    /** Waits for something that only a running job can do; fails at once when the job has ended. */
    public void awaitProgress(String what, Deadline.Condition condition, Duration timeout) {
        Deadline.in(timeout).await(what + " of job " + id, () -> {
            if (condition.isMet()) {
                return true;
            }
            String state = state();
            if (ENDED.contains(state)) {
                throw new Deadline.Impossible("job " + id + " ended as " + state + " before " + what + explanation());
            }
            return false;
        }, this::explanation);
    }

    /** Waits until every subtask has restored its state and runs. */
    public void awaitRunning(Duration timeout) {
        awaitProgress("all subtasks running", () -> {
            for (JsonNode vertex : rest.vertices(id)) {
                if (vertex.path("tasks").path("RUNNING").asInt() != vertex.path("parallelism").asInt()) {
                    return false;
                }
            }
            return !rest.vertices(id).isEmpty();
        }, timeout);
    }

    public long completedCheckpoints() throws IOException {
        return rest.get("/jobs/" + id + "/checkpoints").path("counts").path("completed").asLong();
    }

    /** Waits until a checkpoint is complete that was triggered after a moment, in milliseconds since the epoch. */
    public void awaitCheckpointAfter(long millis, Duration timeout) {
        awaitProgress("a checkpoint after " + Instant.ofEpochMilli(millis),
                () -> latestCheckpoint().path("trigger_timestamp").asLong() > millis, timeout);
    }

    /**
     * Where the newest retained checkpoint of an ended job lies. REST only says in which folder: it answers from a
     * cache, and the checkpoint that it names may have been subsumed.
     */
    public String checkpointPath() throws IOException {
        Path known = Path.of(URI.create(latestCheckpoint().path("external_path").asText()));
        try (Stream<Path> all = Files.list(known.getParent())) {
            return all.filter(p -> Files.exists(p.resolve("_metadata")))
                    .max(Comparator.comparingLong(FlinkJob::checkpointNumber))
                    .orElseThrow(() -> new IOException("no checkpoint is left in " + known.getParent()))
                    .toUri().toString();
        }
    }

    /** Of a folder like chk-12. */
    private static long checkpointNumber(Path folder) {
        return Long.parseLong(folder.getFileName().toString().substring("chk-".length()));
    }

    private JsonNode latestCheckpoint() throws IOException {
        return rest.get("/jobs/" + id + "/checkpoints").path("latest").path("completed");
    }

    /** End-to-end milliseconds of all complete checkpoints that the history still holds, in order of their ids. */
    public long[] checkpointMillis() throws IOException {
        List<JsonNode> history = new ArrayList<>();
        rest.get("/jobs/" + id + "/checkpoints").path("history").forEach(history::add);
        return history.stream()
                .filter(c -> c.path("status").asText().equals("COMPLETED"))
                .sorted((a, b) -> Long.compare(a.path("id").asLong(), b.path("id").asLong()))
                .mapToLong(c -> c.path("end_to_end_duration").asLong())
                .toArray();
    }

    /** How often the whole job was restarted. */
    public long restarts() throws IOException {
        JsonNode metrics = rest.get("/jobs/" + id + "/metrics?get=numRestarts");
        return metrics.path(0).path("value").asLong();
    }

    /** Wall milliseconds from submission to end, or until now. */
    public long durationMillis() throws IOException {
        return rest.get("/jobs/" + id).path("duration").asLong();
    }

    /** Names of all vertices; they carry the sink's operator name and with it the reason of a fallback. */
    public List<String> vertexNames() throws IOException {
        return rest.vertices(id).stream().map(v -> v.path("name").asText()).toList();
    }

    /** Resource ids of the TaskManagers that run the vertex whose name contains the given word. */
    public Set<String> taskManagersOf(String word) throws IOException {
        Set<String> ids = new LinkedHashSet<>();
        for (JsonNode vertex : rest.vertices(id)) {
            if (!vertex.path("name").asText().contains(word)) {
                continue;
            }
            rest.get("/jobs/" + id + "/vertices/" + vertex.path("id").asText()).path("subtasks").forEach(subtask -> {
                if (subtask.path("status").asText().equals("RUNNING")) {
                    ids.add(subtask.path("taskmanager-id").asText());
                }
            });
        }
        return ids;
    }

    /**
     * Sum over subtasks of an operator's metric, by the last part of its name; 0 while REST does not know it.
     *
     * @param operatorWord found in the operator part of the metric's name, for example "Writer"
     */
    public long vertexMetric(String operatorWord, String metric) throws IOException {
        return subtaskMetric(operatorWord, metric).values().stream().mapToLong(Long::longValue).sum();
    }

    /** The same by the metric's whole name, which begins with the subtask's number; without those that REST does not know. */
    public Map<String, Long> subtaskMetric(String operatorWord, String metric) throws IOException {
        Map<String, Long> values = new TreeMap<>();
        for (JsonNode vertex : rest.vertices(id)) {
            String path = "/jobs/" + id + "/vertices/" + vertex.path("id").asText() + "/metrics";
            for (JsonNode entry : rest.get(path)) {
                String name = entry.path("id").asText();
                if (name.contains(operatorWord) && name.endsWith("." + metric)) {
                    values.put(name, rest.get(path + "?get=" + URLEncoder.encode(name, StandardCharsets.UTF_8))
                            .path(0).path("value").asLong());
                }
            }
        }
        return values;
    }

    /** Whether the job has failed at least once, also when it has gone on or ended since. */
    public boolean hasFailed() throws IOException {
        return !exceptions().path("exceptionHistory").path("entries").isEmpty();
    }

    /** The exceptions that the JobManager remembers, newest first, as one text. */
    public String failures() {
        try {
            return exceptions().toString();
        } catch (IOException e) {
            return "(no exceptions known: " + e + ")";
        }
    }

    /** What a person wants to know of a job that does not do what it should; starts a new line, throws nothing. */
    private String explanation() {
        return new Diagnosis()
                .with("TaskManagers", () -> rest.taskManagers() + " registered")
                .with("failures of the job, newest first", () -> Diagnosis.causes(exceptions()))
                .text() + diagnosis.text();
    }

    private JsonNode exceptions() throws IOException {
        return rest.get("/jobs/" + id + "/exceptions?maxExceptions=5");
    }

    public void cancel(Duration timeout) throws IOException {
        rest.cancel(id);
        awaitEnd(timeout);
    }

    /** Stops the job with a savepoint and returns where that lies. */
    public String stopWithSavepoint(Path folder, Duration timeout) throws IOException {
        String location = savepoint("stop", "{\"targetDirectory\":\"" + folder.toUri() + "\",\"drain\":false}", timeout);
        awaitFinished(timeout);
        return location;
    }

    /**
     * Takes a savepoint of the job, which goes on, and returns where that lies. Flink tells the tasks nothing of its
     * end, so that what they have prepared for it stays uncommitted.
     */
    public String savepoint(Path folder, Duration timeout) throws IOException {
        return savepoint("savepoints",
                "{\"target-directory\":\"" + folder.toUri() + "\",\"cancel-job\":false}", timeout);
    }

    private String savepoint(String how, String body, Duration timeout) throws IOException {
        String trigger = rest.post("/jobs/" + id + "/" + how, body).path("request-id").asText();
        String[] location = new String[1];
        Deadline.in(timeout).await("the savepoint of job " + id, () -> {
            JsonNode answer = rest.get("/jobs/" + id + "/savepoints/" + trigger);
            JsonNode operation = answer.path("operation");
            if (operation.has("failure-cause")) {
                throw new Deadline.Impossible("no savepoint: " + operation.path("failure-cause"));
            }
            location[0] = operation.path("location").asText(null);
            return location[0] != null;
        }, this::explanation);
        return location[0];
    }
}
