package dev.penstock.flink.table;

/**
 * Why a table is not written natively. The message is shown to users: it names the option, the value and what to do.
 */
final class NotNative extends Exception {

    private static final long serialVersionUID = 1L;

    NotNative(String reason) {
        super(reason);
    }

    NotNative(String format, Object... arguments) {
        super(String.format(format, arguments));
    }
}
