/**
 * Penstock's Kafka sink. It delegates committer, serializers and co-location to the stock {@code KafkaSink} and
 * replaces only the writer's record path.
 */
package dev.penstock.flink.sink;
