package dev.penstock.flink.security;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Makes key stores as users do, by the tool of the running JDK. */
final class Keytool {

    private final Path folder;

    Keytool(Path folder) {
        this.folder = folder;
    }

    /** A store with one self-signed key, alias me; the key has the password of the store unless more says otherwise. */
    Path keyStore(String file, String type, String password, String... more) throws Exception {
        Path store = folder.resolve(file);
        List<String> arguments =
                new ArrayList<>(
                        List.of(
                                "-genkeypair", "-alias", "me", "-keyalg", "EC", "-groupname", "secp256r1",
                                "-dname", "CN=me", "-storetype", type, "-keystore", store.toString(),
                                "-storepass", password));
        arguments.addAll(Arrays.asList(more));
        run(arguments.toArray(String[]::new));
        return store;
    }

    /** A store that trusts the certificate of a key store of the same password. */
    Path trustStore(String file, String type, Path of, String password, String... more) throws Exception {
        Path certificate = folder.resolve(file + ".cer");
        Path store = folder.resolve(file);
        run("-exportcert", "-alias", "me", "-keystore", of.toString(), "-storepass", password, "-file",
                certificate.toString());
        List<String> arguments =
                new ArrayList<>(
                        List.of(
                                "-importcert", "-noprompt", "-alias", "ca", "-storetype", type, "-keystore",
                                store.toString(), "-storepass", password, "-file", certificate.toString()));
        arguments.addAll(Arrays.asList(more));
        run(arguments.toArray(String[]::new));
        return store;
    }

    void run(String... arguments) throws Exception {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
        command.addAll(Arrays.asList(arguments));
        Path output = Files.createTempFile(folder, "keytool", ".txt");
        Process process =
                new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile()).start();
        if (!process.waitFor(60, TimeUnit.SECONDS)) {
            process.destroyForcibly();
            throw new IllegalStateException("keytool does not end: " + command);
        }
        if (process.exitValue() != 0) {
            throw new IllegalStateException(command + ": " + Files.readString(output));
        }
    }
}
