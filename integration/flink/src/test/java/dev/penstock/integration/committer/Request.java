package dev.penstock.integration.committer;

import org.apache.flink.api.connector.sink2.Committer.CommitRequest;
import org.apache.flink.connector.kafka.sink.KafkaCommittable;

/** A commit request that remembers how the committer answered it last. */
final class Request implements CommitRequest<KafkaCommittable> {
    /** What a committer can say; saying nothing is success. */
    enum Answer { OK, RETRY_LATER, FAILED_KNOWN, FAILED_UNKNOWN }

    private final KafkaCommittable committable;
    private Answer answer = Answer.OK;
    private int retries = -1;

    Request(KafkaCommittable committable) {
        this.committable = committable;
    }

    /** To be called before each attempt. */
    Request again() {
        answer = Answer.OK;
        retries++;
        return this;
    }

    Answer answer() {
        return answer;
    }

    @Override
    public KafkaCommittable getCommittable() {
        return committable;
    }

    @Override
    public int getNumberOfRetries() {
        return retries;
    }

    @Override
    public void signalFailedWithKnownReason(Throwable t) {
        answer = Answer.FAILED_KNOWN;
    }

    @Override
    public void signalFailedWithUnknownReason(Throwable t) {
        answer = Answer.FAILED_UNKNOWN;
    }

    @Override
    public void retryLater() {
        answer = Answer.RETRY_LATER;
    }

    @Override
    public void updateAndRetryLater(KafkaCommittable updated) {
        answer = Answer.RETRY_LATER;
    }

    @Override
    public void signalAlreadyCommitted() {
        answer = Answer.OK;
    }
}
