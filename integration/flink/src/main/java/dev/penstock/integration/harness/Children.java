package dev.penstock.integration.harness;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * All processes that this JVM has started. None outlives it: a shutdown hook ends them when the JVM ends by itself,
 * and one watching shell ends them when the JVM is killed, which it learns from the end of its standard input.
 */
final class Children {
    /** Reads "+pid" and "-pid"; at the end of input ends every pid that is still on the list. */
    private static final String WATCHER = """
            trap '' INT TERM HUP
            pids=' '
            while read -r line; do
              case $line in
                +*) pids="$pids${line#+} " ;;
                -*) p=${line#-}; pids="${pids%% $p *} ${pids#* $p }" ;;
              esac
            done
            for p in $pids; do kill -9 "$p" 2>/dev/null; done
            """;

    private static final Set<Process> RUNNING = ConcurrentHashMap.newKeySet();
    private static final Process WATCH = startWatcher();

    private Children() {}

    /** Takes a started process under watch until it ends. */
    static void adopt(Process process) {
        RUNNING.add(process);
        tell("+" + process.pid());
        process.onExit().thenAccept(ended -> {
            RUNNING.remove(ended);
            tell("-" + ended.pid());
        });
    }

    private static Process startWatcher() {
        try {
            Process watcher = new ProcessBuilder("sh", "-c", WATCHER)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            Runtime.getRuntime().addShutdownHook(new Thread(Children::endAll, "end-children"));
            return watcher;
        } catch (IOException e) {
            throw new UncheckedIOException("cannot start the watching shell", e);
        }
    }

    private static void endAll() {
        for (Process process : RUNNING) {
            process.destroyForcibly();
        }
    }

    private static synchronized void tell(String line) {
        try {
            OutputStream in = WATCH.getOutputStream();
            in.write((line + "\n").getBytes(StandardCharsets.US_ASCII));
            in.flush();
        } catch (IOException e) {
            // Without its watcher a killed harness would leave processes behind; better to know now.
            throw new UncheckedIOException("the watching shell has ended", e);
        }
    }
}
