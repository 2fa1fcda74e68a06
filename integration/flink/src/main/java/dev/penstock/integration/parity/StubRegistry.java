package dev.penstock.integration.parity;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Executors;

/**
 * A schema registry that knows one thing: every schema has the id that stands in the registry's address. So the
 * comparison covers ids that a real registry would give only after a long life. Lives as long as the JVM.
 */
final class StubRegistry {
    private static final HttpServer SERVER = start();

    private StubRegistry() {}

    /** The address of the registry that gives this id. */
    static String url(int id) {
        return "http://127.0.0.1:" + SERVER.getAddress().getPort() + "/" + id;
    }

    private static HttpServer start() {
        // Or the body of each answer waits up to 40 ms for the client's kernel to acknowledge its header.
        System.setProperty("sun.net.httpserver.nodelay", "true");
        try {
            HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
            server.createContext("/", StubRegistry::answer);
            server.setExecutor(Executors.newSingleThreadExecutor(work -> {
                Thread thread = new Thread(work, "stub-registry");
                thread.setDaemon(true);
                return thread;
            }));
            server.start();
            return server;
        } catch (IOException e) {
            throw new IllegalStateException("no port for the stub of a schema registry", e);
        }
    }

    private static void answer(HttpExchange exchange) throws IOException {
        exchange.getRequestBody().readAllBytes();
        String id = exchange.getRequestURI().getPath().split("/")[1];
        byte[] body = ("{\"id\":" + id + "}").getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", "application/vnd.schemaregistry.v1+json");
        exchange.sendResponseHeaders(200, body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }
}
