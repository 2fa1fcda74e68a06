/** JMH benchmarks of what Penstock does on Flink's task thread, next to what the stock sink does there. */
package dev.penstock.bench;
