package dev.penstock.integration.bench;

import java.util.List;

/**
 * What one leg runs, passed to its JVM as plain arguments.
 *
 * @param sinkOptions the beginning of the sink's WITH clause: the connector and what belongs to it alone
 * @param rate rows per second, 0 = as fast as they are taken
 * @param checkpointMillis the checkpoint interval
 */
record LegSettings(String sinkOptions, int parallelism, long rows, long rate, int checkpointMillis, String topic,
        String brokers, long daemonPid, long brokerPid) {

    List<String> arguments() {
        return List.of(sinkOptions, Integer.toString(parallelism), Long.toString(rows), Long.toString(rate),
                Integer.toString(checkpointMillis), topic, brokers, Long.toString(daemonPid), Long.toString(brokerPid));
    }

    static LegSettings parse(String[] args) {
        return new LegSettings(args[0], Integer.parseInt(args[1]), Long.parseLong(args[2]), Long.parseLong(args[3]),
                Integer.parseInt(args[4]), args[5], args[6], Long.parseLong(args[7]), Long.parseLong(args[8]));
    }
}
