package dev.penstock.integration.harness;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Key stores and trust stores in one folder, made by the JDK's keytool as users make them. */
public final class Stores {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    private final Path folder;
    private final String password;

    /**
     * Makes stores below a folder.
     *
     * @param password of every store and key
     */
    public Stores(Path folder, String password) {
        this.folder = folder;
        this.password = password;
    }

    /** A store with one key and its self-signed certificate, good for 127.0.0.1. */
    public Path key(String file, String type, String commonName, String... more) {
        List<String> arguments = new ArrayList<>(List.of("-genkeypair", "-alias", "me", "-keyalg", "RSA", "-keysize",
                "2048", "-dname", "CN=" + commonName, "-ext", "SAN=ip:127.0.0.1", "-storetype", type,
                // Without it the tool asks for one where the type has passwords of keys.
                "-keypass", password));
        arguments.addAll(Arrays.asList(more));
        run(file, arguments);
        return folder.resolve(file);
    }

    /** A store that trusts the certificates of key stores of this folder. */
    public Path trust(String file, String type, Path... keys) {
        String certificate = folder.resolve(file + ".cer").toString();
        for (int i = 0; i < keys.length; i++) {
            run(keys[i].getFileName().toString(), List.of("-exportcert", "-rfc", "-alias", "me", "-file", certificate));
            run(file, List.of("-importcert", "-noprompt", "-alias", "ca" + i, "-storetype", type, "-file", certificate));
        }
        return folder.resolve(file);
    }

    /** The certificate of a trust store of this folder as PEM; the last one, if it has several. */
    public static Path certificateOf(Path trust) {
        return trust.resolveSibling(trust.getFileName() + ".cer");
    }

    private void run(String store, List<String> arguments) {
        List<String> command = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "keytool").toString()));
        command.addAll(arguments);
        command.addAll(List.of("-keystore", folder.resolve(store).toString(), "-storepass", password));
        ChildProcess.run(command, TIMEOUT);
    }
}
