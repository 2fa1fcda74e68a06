package dev.penstock.flink.sink;

import java.io.IOException;

/** This task cannot write natively; the message is a reason that a user can act on. */
final class NotNativeException extends IOException {

    private static final long serialVersionUID = 1L;

    NotNativeException(String reason) {
        super(reason);
    }
}
