package dev.penstock.integration.bench;

import java.util.Locale;

/** Kinds of legs in the order in which they alternate. */
enum LegKind {
    STOCK, PENSTOCK, PENSTOCK_COLD;

    String key() {
        return name().toLowerCase(Locale.ROOT);
    }
}
