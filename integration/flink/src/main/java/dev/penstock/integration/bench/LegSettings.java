package dev.penstock.integration.bench;

import java.util.List;

/**
 * What one leg runs, passed to its JVM as plain arguments.
 *
 * @param sinkOptions the beginning of the sink's WITH clause: the connector and what belongs to it alone
 */
record LegSettings(String sinkOptions, int parallelism, long rows, String topic, String brokers, long daemonPid,
        long brokerPid) {

    List<String> arguments() {
        return List.of(sinkOptions, Integer.toString(parallelism), Long.toString(rows), topic, brokers,
                Long.toString(daemonPid), Long.toString(brokerPid));
    }

    static LegSettings parse(String[] args) {
        return new LegSettings(args[0], Integer.parseInt(args[1]), Long.parseLong(args[2]), args[3], args[4],
                Long.parseLong(args[5]), Long.parseLong(args[6]));
    }
}
