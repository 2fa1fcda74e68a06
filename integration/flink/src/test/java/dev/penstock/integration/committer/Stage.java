package dev.penstock.integration.committer;

import dev.penstock.integration.committer.Scenario.Variant;
import dev.penstock.integration.harness.BrokerProcess;
import dev.penstock.integration.harness.BrokerRelease;
import dev.penstock.integration.harness.Topics;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** One broker with every variant and committer on it, played to the end at the same time: they mostly wait. */
final class Stage implements AutoCloseable {
    private static final long STEP_SECONDS = 150;

    private final BrokerProcess broker;
    private final Topics topics;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final List<Scenario> scenarios = new ArrayList<>();

    private Stage(BrokerRelease release) {
        broker = BrokerProcess.start(release);
        topics = new Topics(broker.bootstrapServers());
    }

    /** Starts a broker of this release and plays all scenarios. */
    static Stage play(BrokerRelease release) throws Exception {
        Stage stage = new Stage(release);
        try {
            stage.run();
            return stage;
        } catch (Throwable t) {
            stage.close();
            throw t;
        }
    }

    Scenario scenario(Variant variant, Committers committer) {
        return scenarios.stream().filter(s -> s.variant() == variant && s.committer() == committer)
                .findFirst().orElseThrow();
    }

    @Override
    public void close() throws Exception {
        for (Scenario scenario : scenarios) {
            scenario.close();
        }
        threads.shutdownNow();
        topics.close();
        broker.close();
    }

    private void run() throws Exception {
        List<Callable<Scenario>> seals = new ArrayList<>();
        for (Variant variant : Variant.values()) {
            for (Committers committer : Committers.values()) {
                seals.add(() -> new Scenario(variant, committer, broker, topics));
            }
        }
        scenarios.addAll(all(seals));
        broker.process().pause();
        try {
            each(Scenario::commitWhileStopped);
        } finally {
            broker.process().resume();
        }
        each(Scenario::commitAwake);
    }

    private interface Step {
        void play(Scenario scenario) throws Exception;
    }

    private void each(Step step) throws Exception {
        List<Callable<Void>> work = new ArrayList<>();
        for (Scenario scenario : scenarios) {
            work.add(() -> {
                step.play(scenario);
                return null;
            });
        }
        all(work);
    }

    private <T> List<T> all(List<Callable<T>> work) throws Exception {
        List<T> results = new ArrayList<>();
        for (Future<T> future : threads.invokeAll(work, STEP_SECONDS, TimeUnit.SECONDS)) {
            results.add(future.get());
        }
        return results;
    }
}
