package dev.penstock.flink.sink;

import java.util.ArrayDeque;
import java.util.Queue;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.util.function.ThrowingRunnable;

/** A mailbox whose mails run when the test says so. */
final class ManualMailbox implements MailboxExecutor {

    private final Queue<ThrowingRunnable<? extends Exception>> mails = new ArrayDeque<>();

    @Override
    public void execute(
            MailOptions options, ThrowingRunnable<? extends Exception> mail, String description, Object... arguments) {
        mails.add(mail);
    }

    void runAll() throws Exception {
        while (!mails.isEmpty()) {
            mails.poll().run();
        }
    }

    @Override
    public void yield() {}

    @Override
    public boolean tryYield() {
        return false;
    }

    @Override
    public boolean shouldInterrupt() {
        return false;
    }
}
