/**
 * The Java half of the Go command integration/probe: Kafka's own producer on the same records.
 */
package dev.penstock.integration.probe;
