package dev.penstock.integration.harness;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** How child JVMs are started: this JVM's own java, and the flags that Flink's distribution carries. */
public final class JavaCommand {
    private static final List<String> EXPORTS = List.of(
            "java.rmi/sun.rmi.registry", "java.security.jgss/sun.security.krb5");
    private static final List<String> OPENS = List.of(
            "java.lang", "java.net", "java.io", "java.nio", "sun.nio.ch", "java.lang.reflect", "java.text", "java.time",
            "java.util", "java.util.concurrent", "java.util.concurrent.atomic", "java.util.concurrent.locks");

    private JavaCommand() {}

    /** The java launcher of the JDK that runs this code. */
    public static String java() {
        return Path.of(System.getProperty("java.home"), "bin", "java").toString();
    }

    /** The module flags of Flink's default configuration (env.java.opts.all of flink-dist). */
    public static List<String> flinkModuleFlags() {
        List<String> flags = new ArrayList<>();
        EXPORTS.forEach(name -> flags.add("--add-exports=" + name + "=ALL-UNNAMED"));
        OPENS.forEach(name -> flags.add("--add-opens=java.base/" + name + "=ALL-UNNAMED"));
        return flags;
    }
}
