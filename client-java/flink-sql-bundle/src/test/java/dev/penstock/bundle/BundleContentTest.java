package dev.penstock.bundle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.jar.JarFile;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What lies in the jars, and under which names. */
class BundleContentTest {

    private static final String SHADED = "dev/penstock/shaded/";
    private static final long LARGEST_BYTES = 25 << 20;
    /** A short name as a class file has it: tag, length in two bytes, text. */
    private static final Pattern CONSTANT = Pattern.compile("\\x01\\x00([\\x04-\\x28])([A-Za-z_][A-Za-z_0-9]*)");

    @ParameterizedTest
    @EnumSource
    void everyPackageIsPenstocks(Flavour flavour) {
        List<String> foreign = flavour.files().stream()
                .filter(name -> !name.startsWith("dev/penstock/") && !name.startsWith("META-INF/")).toList();
        assertEquals(List.of(), foreign);
    }

    /** A library that is new here needs a line in NOTICE, and perhaps a licence. */
    @ParameterizedTest
    @EnumSource
    void theLibrariesAreTheKnownOnes(Flavour flavour) {
        assertEquals(
                Set.of("com/google/common", "com/google/gson", "com/google/protobuf", "com/google/thirdparty", "io/grpc",
                        "io/perfmark"),
                flavour.files().stream().filter(name -> name.startsWith(SHADED))
                        .map(name -> name.substring(SHADED.length()).split("/"))
                        .map(parts -> parts[0].equals("io") ? "io/" + parts[1] : parts[0] + "/" + parts[1] + "/" + parts[2])
                        .collect(Collectors.toCollection(TreeSet::new)));
    }

    /** Also what was compiled last: each name in a constant of a class stands in the jar's class, too, unless it has a package. */
    @ParameterizedTest
    @EnumSource
    void everyClassOfPenstockIsInside(Flavour flavour) throws IOException {
        Set<String> lacking = new TreeSet<>();
        int compared = 0;
        try (JarFile jar = new JarFile(flavour.jar().toFile())) {
            for (String module : List.of("arena", "session", "flink-sink", "flink-table")) {
                Path classes = Path.of("..", module, "target", "classes");
                for (Path file : classFiles(classes)) {
                    String name = classes.relativize(file).toString();
                    ZipEntry entry = jar.getEntry(name);
                    String inside = entry == null ? "" : text(jar.getInputStream(entry).readAllBytes());
                    CONSTANT.matcher(text(Files.readAllBytes(file))).results()
                            .filter(m -> m.group(1).charAt(0) == m.group(2).length() && !inside.contains(m.group()))
                            // Of an empty table, which the shade plugin leaves out.
                            .filter(m -> !m.group(2).equals("LocalVariableTable"))
                            .forEach(m -> lacking.add(name + " lacks " + m.group(2)));
                    compared++;
                }
            }
        }
        assertTrue(compared > 100, "only " + compared + " classes were compiled");
        assertEquals(Set.of(), lacking, flavour.jar() + " is older than the classes: run `make jars`");
    }

    private static List<Path> classFiles(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(file -> file.toString().endsWith(".class")).toList();
        }
    }

    /** Names in a class file are ASCII, one byte each. */
    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }

    @ParameterizedTest
    @EnumSource
    void theJarIsSmall(Flavour flavour) throws IOException {
        long bytes = Files.size(flavour.jar());
        assertTrue(bytes < LARGEST_BYTES, bytes + " bytes");
    }

    @ParameterizedTest
    @EnumSource
    void servicesAreUnderTheNewNames(Flavour flavour) {
        String services = "META-INF/services/";
        String grpc = "dev.penstock.shaded.io.grpc.";
        assertEquals(
                Set.of("org.apache.flink.table.factories.Factory", grpc + "LoadBalancerProvider",
                        grpc + "ManagedChannelProvider", grpc + "NameResolverProvider", grpc + "ServerProvider"),
                flavour.files().stream().filter(name -> name.startsWith(services))
                        .map(name -> name.substring(services.length())).collect(Collectors.toSet()));
        Set<String> inside = new HashSet<>(flavour.files());
        for (String file : flavour.files()) {
            if (file.startsWith(services)) {
                for (String provider : flavour.lines(file)) {
                    assertTrue(inside.contains(provider.replace('.', '/') + ".class"), file + " names " + provider);
                }
            }
        }
        // One is of grpc-core, the other of grpc-netty-shaded.
        assertEquals(
                Set.of(grpc + "internal.DnsNameResolverProvider", grpc + "netty.shaded.io.grpc.netty.UdsNameResolverProvider"),
                Set.copyOf(flavour.lines(services + grpc + "NameResolverProvider")));
    }

    /** Also in text that reflection turns into a class; what is looked for is a package with a slash or a dot. */
    @ParameterizedTest
    @EnumSource
    void noClassKeepsAnOldName(Flavour flavour) throws IOException {
        List<String> old = flavour == Flavour.KAFKA
                ? List.of("io/grpc/", "com/google/", "io/perfmark/")
                : List.of("io/grpc/", "com/google/", "io/perfmark/", "org/apache/kafka/");
        Set<String> prefixes = Set.of("dev/penstock/shaded/", "org/apache/flink/kafka/shaded/");
        Set<String> found = new TreeSet<>();
        int kafka = 0;
        try (JarFile jar = new JarFile(flavour.jar().toFile())) {
            for (ZipEntry entry : jar.stream().filter(e -> e.getName().endsWith(".class")).toList()) {
                String text = text(jar.getInputStream(entry).readAllBytes());
                if (entry.getName().startsWith("dev/penstock/flink/") && text.contains(flavour.kafka() + "clients/")) {
                    kafka++;
                }
                for (String name : old) {
                    for (int at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
                        int end = at;
                        if (prefixes.stream().noneMatch(prefix -> text.startsWith(prefix, end - prefix.length()))
                                && isStartOfName(text, at)) {
                            found.add(entry.getName() + " has " + text.substring(at, Math.min(at + 50, text.length())));
                        }
                    }
                }
            }
        }
        assertEquals(Set.of(), found);
        assertTrue(kafka > 3, "only " + kafka + " classes name " + flavour.kafka());
    }

    /** In a descriptor a name begins after L; in a constant, after its length. */
    private static boolean isStartOfName(String text, int at) {
        char before = at == 0 ? 0 : text.charAt(at - 1);
        return before == 'L' || before < ' ';
    }

    /** Of what Flink, its connector and its logging have, nothing may come twice. */
    @ParameterizedTest
    @EnumSource
    void nothingOfFlinkIsInside(Flavour flavour) {
        for (String foreign : List.of("/org/apache/", "/org/slf4j/", "/org/xerial/", "/com/fasterxml/", "/net/jpountz/")) {
            List<String> found = flavour.files().stream()
                    .filter(name -> ("/" + name).contains(foreign) && !name.startsWith("META-INF/services/")).toList();
            assertEquals(List.of(), found);
        }
    }

    @ParameterizedTest
    @EnumSource
    void licenceAndNoticeAreOfWhatIsInside(Flavour flavour) throws IOException {
        String notice = String.join("\n", flavour.lines("META-INF/NOTICE"));
        assertTrue(String.join("\n", flavour.lines("META-INF/LICENSE")).contains("Apache License"));
        assertTrue(flavour.lines("META-INF/licenses/LICENSE.protobuf").size() > 10);
        assertFalse(notice.contains("${"), notice);
        Set<String> inside = new HashSet<>(flavour.files());
        int named = 0;
        for (String element : System.getProperty("java.class.path").split(File.pathSeparator)) {
            Path jar = Path.of(element);
            if (element.endsWith(".jar") && isInside(jar, inside)) {
                String coordinates = ":" + jar.getParent().getParent().getFileName() + ":" + jar.getParent().getFileName();
                assertTrue((notice + "\n").matches("(?s).*\\Q" + coordinates + "\\E[,\n].*"), "NOTICE lacks " + coordinates);
                named++;
            }
        }
        assertTrue(named >= 11, "only " + named + " libraries were recognized");
    }

    private static boolean isInside(Path jar, Set<String> inside) throws IOException {
        try (JarFile file = new JarFile(jar.toFile())) {
            return file.stream().map(ZipEntry::getName).filter(name -> name.endsWith(".class")
                            && !name.startsWith("META-INF/") && !name.equals("module-info.class"))
                    .findFirst().map(name -> inside.contains(SHADED + name)).orElse(false);
        }
    }
}
