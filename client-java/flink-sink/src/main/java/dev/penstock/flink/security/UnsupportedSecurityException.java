package dev.penstock.flink.security;

/** The connections cannot be protected as the properties say; the message names the property and what to do. */
public final class UnsupportedSecurityException extends Exception {

    private static final long serialVersionUID = 1L;

    UnsupportedSecurityException(String format, Object... arguments) {
        super(String.format(format, arguments));
    }
}
