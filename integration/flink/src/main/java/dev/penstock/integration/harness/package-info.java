/**
 * Starts and stops the real parts that tests, demo and benchmarks run on: a Kafka broker, penstockd and Flink,
 * each as child processes or, for Flink, inside this JVM. Nothing here knows what is measured or judged.
 */
package dev.penstock.integration.harness;
