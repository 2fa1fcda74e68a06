/**
 * The demonstration behind {@code make demo}: the same SQL script with the stock sink and with Penstock's, on a
 * cluster of processes, with a TaskManager killed in the middle.
 */
package dev.penstock.integration.demo;
