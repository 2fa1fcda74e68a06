package dev.penstock.integration.minicluster;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.penstock.integration.harness.Workspace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The fenced blocks of README.md and the guides. */
final class GuideBlocks {
    private static final String COMMENT = " +-- .*";

    private GuideBlocks() {}

    /** The blocks of one page in a language; of sql without its comments. */
    static List<String> of(String page, String language) throws IOException {
        List<String> blocks = new ArrayList<>();
        Matcher block = Pattern.compile("(?ms)^ *```" + language + "\\n(.*?)^ *```")
                .matcher(Files.readString(Workspace.root().resolve(page)));
        while (block.find()) {
            blocks.add(language.equals("sql") ? block.group(1).replaceAll(COMMENT, "") : block.group(1));
        }
        return blocks;
    }

    /** How many blocks of a language each page has that has any. */
    static Map<String, Integer> count(String language) throws IOException {
        Path root = Workspace.root();
        Map<String, Integer> counts = new TreeMap<>();
        try (Stream<Path> guides = Stream.concat(Stream.of(root.resolve("README.md"), root.resolve("examples/README.md")),
                Files.list(root.resolve("docs")))) {
            for (Path page : guides.filter(file -> file.toString().endsWith(".md")).toList()) {
                String name = root.relativize(page).toString();
                int count = of(name, language).size();
                if (count > 0) {
                    counts.put(name, count);
                }
            }
        }
        return counts;
    }

    /** Puts what a test needs in the place of what a guide shows. */
    static String replaced(String block, String part, String by) {
        assertTrue(block.contains(part), () -> "no " + part + " in\n" + block);
        return block.replace(part, by);
    }
}
