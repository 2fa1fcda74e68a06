package dev.penstock.bundle;

import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;

/**
 * A bundle jar as Flink loads it: with Flink's classes, the connector's and a protobuf-java of the user's in the parent, and none of
 * the libraries that the jar brings itself.
 */
final class InstalledJar implements AutoCloseable {

    private final URLClassLoader loader;

    InstalledJar(Flavour flavour) throws MalformedURLException {
        loader = new URLClassLoader(new URL[] {flavour.jar().toUri().toURL()}, new WithoutPenstock());
    }

    ClassLoader loader() {
        return loader;
    }

    Class<?> load(String name) throws ClassNotFoundException {
        Class<?> type = Class.forName(name, true, loader);
        if (type.getClassLoader() != loader) {
            throw new IllegalStateException(name + " comes from " + type.getClassLoader());
        }
        return type;
    }

    @Override
    public void close() throws IOException {
        loader.close();
    }

    /** The class path of the test without what the jar has inside, except the user's protobuf library. */
    private static final class WithoutPenstock extends ClassLoader {
        private static final List<String> HIDDEN =
                List.of("dev.penstock.", "io.grpc.", "io.perfmark.", "com.google.common.", "com.google.gson.");

        WithoutPenstock() {
            super(InstalledJar.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (HIDDEN.stream().anyMatch(name::startsWith)) {
                throw new ClassNotFoundException(name);
            }
            return super.loadClass(name, resolve);
        }

        /** Penstock's classes stand on the class path of the test with service files of their own. */
        @Override
        public Enumeration<URL> getResources(String name) throws IOException {
            return name.startsWith("META-INF/services/") ? Collections.emptyEnumeration() : super.getResources(name);
        }
    }
}
