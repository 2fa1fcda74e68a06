package dev.penstock.integration.harness;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalDouble;

/** CPU time of a process as Linux accounts it (proc(5), /proc/PID/stat, fields utime and stime). */
public final class ProcStat {
    /** USER_HZ, which Linux fixes at 100 for every architecture that Penstock runs on. */
    private static final double TICKS_PER_SECOND = 100.0;
    /** Of the fields after the command name, which is in parentheses and may itself hold blanks. */
    private static final int UTIME = 11;

    private ProcStat() {}

    /** Seconds of CPU, user and system, all threads; empty when the process is gone. */
    public static OptionalDouble cpuSeconds(long pid) {
        try {
            String stat = Files.readString(Path.of("/proc/" + pid + "/stat"));
            String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
            return OptionalDouble.of(
                    (Long.parseLong(fields[UTIME]) + Long.parseLong(fields[UTIME + 1])) / TICKS_PER_SECOND);
        } catch (IOException e) {
            return OptionalDouble.empty();
        }
    }
}
