# Image of penstockd, the daemon alone: `make image`. `make image-check` lints this file and runs its build step on exactly what
# .dockerignore lets in.

# The release of Debian must not be newer than the one below: the program is linked against its C library.
FROM docker.io/library/golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN make daemon

# librdkafka is inside of the program and needs libc and libm; certificates are for token endpoints. There is no shell.
FROM gcr.io/distroless/base-nossl-debian12:nonroot
LABEL org.opencontainers.image.title="penstockd" \
      org.opencontainers.image.description="The record path of Flink's exactly-once Kafka sinks, outside of the JVM" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /src/build/penstockd /usr/bin/penstockd
COPY LICENSE /usr/share/doc/penstock/LICENSE
# Flink's own image runs as 9999, and daemon and TaskManager must be one user.
USER 9999:9999
ENTRYPOINT ["/usr/bin/penstockd"]
CMD ["run"]
