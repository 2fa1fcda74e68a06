package dev.penstock.session;

import com.google.protobuf.ByteString;
import dev.penstock.arena.Layout;
import dev.penstock.arena.StateWord;
import dev.penstock.proto.v1.AttachLine;
import dev.penstock.proto.v1.Error;
import dev.penstock.proto.v1.ErrorKind;
import dev.penstock.proto.v1.Hello;
import dev.penstock.proto.v1.LeaseGrant;
import dev.penstock.proto.v1.LeaseReturned;
import dev.penstock.proto.v1.SessionReply;
import dev.penstock.proto.v1.SessionRequest;
import dev.penstock.proto.v1.SinkServiceGrpc;
import dev.penstock.proto.v1.Welcome;
import dev.penstock.proto.v1.WriteEvent;
import dev.penstock.proto.v1.WriteRequest;
import dev.penstock.proto.v1.WriterOpened;
import io.grpc.Server;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollServerDomainSocketChannel;
import io.grpc.netty.shaded.io.netty.channel.unix.DomainSocketAddress;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;

/** A daemon with both sockets that keeps no promises but those that a test scripts. */
final class FakeDaemon implements AutoCloseable {

    static final long ARENA_ID = 0x1122334455667788L;
    static final int SESSION_ID = 7;
    static final int FIRST_SLOT = 100;
    static final int SEGMENT_BYTES = (4 << 20) + Layout.SEGMENT_HEADER_BYTES;
    static final ByteString TOKEN = ByteString.copyFromUtf8("secret");

    private static final VarHandle LONGS =
            MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    final Path folder;
    final List<Hello> hellos = new CopyOnWriteArrayList<>();
    final List<AttachLine> attaches = new CopyOnWriteArrayList<>();
    final List<WriteRequest> requests = new CopyOnWriteArrayList<>();
    final AtomicInteger leases = new AtomicInteger();
    final AtomicInteger returns = new AtomicInteger();
    final AtomicInteger streamsEnded = new AtomicInteger();

    volatile int mostLeases = Integer.MAX_VALUE;
    volatile int slotCount = 16;
    volatile long creditBytes = 4 << 20;
    /** Ends the connection of the session when set, as a daemon that dies. */
    volatile boolean hangUp;
    /** When set, every connection is answered with it at once and closed, without a look at Hello. */
    volatile Error refusalAtAccept;
    /** What becomes of the connection of a line; null: the daemon offers none. */
    volatile LineScript line;

    /** Reacts to everything but Open; does nothing unless a test says so. */
    volatile BiConsumer<WriteRequest, StreamObserver<WriteEvent>> onRequest = (request, events) -> {};

    /** The daemon's half of a line, from LineAttached on. */
    interface LineScript {
        void run(SessionPeer.Connection connection) throws Exception;
    }

    private final SessionPeer peer;
    private final EventLoopGroup loop = new EpollEventLoopGroup(1);
    private final Server server;
    private volatile ByteBuffer table;

    FakeDaemon(Path folder) throws IOException {
        this.folder = folder;
        this.peer = new SessionPeer(folder.resolve(SessionSettings.SESSION_SOCKET), this::serve);
        Path api = folder.resolve(SessionSettings.API_SOCKET);
        Files.deleteIfExists(api);
        this.server = NettyServerBuilder.forAddress(new DomainSocketAddress(api.toString()))
                .channelType(EpollServerDomainSocketChannel.class)
                .bossEventLoopGroup(loop)
                .workerEventLoopGroup(loop)
                .directExecutor()
                .addService(new Sink())
                .build()
                .start();
    }

    SessionSettings settings() {
        return new SessionSettings(folder, 64 << 20, "tm-1", "2.2.1", "2.18.2", Duration.ofSeconds(30));
    }

    List<Throwable> faults() {
        return peer.faults;
    }

    /** The daemon's half of the table: takes a PARKED slot and settles it at once. */
    void settle(int slot) {
        int at = Layout.SEGMENT_HEADER_BYTES + (slot - FIRST_SLOT) * Layout.SLOT_BYTES;
        long word = (long) LONGS.getAcquire(table, at);
        if (StateWord.state(word) != Layout.STATE_PARKED) {
            throw new AssertionError("slot " + slot + " is " + StateWord.describe(word) + ", not PARKED");
        }
        LONGS.setRelease(table, at, StateWord.of(StateWord.generation(word) + 1, Layout.STATE_FREE, 0));
    }

    /** Takes a PARKED slot and keeps it. */
    void claim(int slot) {
        int at = Layout.SEGMENT_HEADER_BYTES + (slot - FIRST_SLOT) * Layout.SLOT_BYTES;
        long word = (long) LONGS.getAcquire(table, at);
        LONGS.setRelease(table, at, StateWord.of(StateWord.generation(word), Layout.STATE_CLAIMED, 0));
    }

    /** Slots of the table that are in this state. */
    int count(int state) {
        int found = 0;
        for (int i = 0; i < slotCount; i++) {
            int at = Layout.SEGMENT_HEADER_BYTES + i * Layout.SLOT_BYTES;
            found += StateWord.state((long) LONGS.getAcquire(table, at)) == state ? 1 : 0;
        }
        return found;
    }

    private void serve(SessionPeer.Connection connection) throws Exception {
        if (refusalAtAccept != null) {
            connection.write(SessionReply.newBuilder().setRefused(refusalAtAccept).build());
            return;
        }
        SessionRequest first = connection.read();
        if (first.hasAttach()) {
            attaches.add(first.getAttach());
            line.run(connection);
            return;
        }
        hellos.add(first.getHello());
        Path file = SegmentFile.table(folder, ARENA_ID, 1, FIRST_SLOT, slotCount);
        connection.write(SessionReply.newBuilder().setWelcome(welcome(Files.size(file))).setCarriesFd(true).build());
        connection.writeDescriptor(file);
        table = map(file);
        while (!hangUp) {
            SessionRequest request = connection.read();
            if (request == null) {
                return;
            }
            answer(connection, request);
        }
    }

    private void answer(SessionPeer.Connection connection, SessionRequest request) throws IOException {
        if (request.hasReturnLease()) {
            returns.incrementAndGet();
            connection.write(SessionReply.newBuilder()
                    .setReturned(LeaseReturned.newBuilder().setSegmentId(request.getReturnLease().getSegmentId()))
                    .build());
        } else if (leases.get() >= mostLeases) {
            connection.write(SessionReply.newBuilder()
                    .setRefused(error(ErrorKind.DENIED, "arena.capacity 512MiB is leased out"))
                    .build());
        } else {
            int id = 10 + leases.getAndIncrement();
            connection.write(SessionReply.newBuilder()
                    .setLease(LeaseGrant.newBuilder().setSegmentId(id).setSegmentBytes(SEGMENT_BYTES))
                    .setCarriesFd(true)
                    .build());
            connection.writeDescriptor(SegmentFile.data(folder, ARENA_ID, id, SEGMENT_BYTES));
        }
    }

    static Error error(ErrorKind kind, String message) {
        return Error.newBuilder().setKind(kind).setMessage(message).build();
    }

    private Welcome welcome(long tableBytes) {
        return Welcome.newBuilder()
                .setProtocol(1)
                .setArenaId(ARENA_ID)
                .setSessionId(SESSION_ID)
                .setToken(TOKEN)
                .setTableSegmentId(1)
                .setTableSegmentBytes(tableBytes)
                .setFirstSlot(FIRST_SLOT)
                .setSlotCount(slotCount)
                .setMaxBatchBytes(SEGMENT_BYTES - Layout.SEGMENT_HEADER_BYTES)
                .setDaemonVersion("0.1.0-fake")
                .build();
    }

    private static ByteBuffer map(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            return channel.map(FileChannel.MapMode.READ_WRITE, 0, channel.size());
        }
    }

    @Override
    public void close() throws InterruptedException {
        hangUp = true;
        peer.close();
        server.shutdownNow();
        server.awaitTermination(5, TimeUnit.SECONDS);
        loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).await(5, TimeUnit.SECONDS);
    }

    /** Accepts every writer and records what it is asked. */
    private final class Sink extends SinkServiceGrpc.SinkServiceImplBase {
        @Override
        public StreamObserver<WriteRequest> write(StreamObserver<WriteEvent> events) {
            return new StreamObserver<>() {
                @Override
                public void onNext(WriteRequest request) {
                    requests.add(request);
                    if (request.hasOpen() && creditBytes > 0) {
                        events.onNext(WriteEvent.newBuilder()
                                .setOpened(WriterOpened.newBuilder()
                                        .setWriterId(1)
                                        .setCreditBytes(creditBytes)
                                        .setEncoder("json")
                                        .setLine(line != null)
                                        .setEngine("fake"))
                                .build());
                    } else {
                        onRequest.accept(request, events);
                    }
                }

                @Override
                public void onError(Throwable cancelled) {
                    streamsEnded.incrementAndGet();
                }

                @Override
                public void onCompleted() {
                    streamsEnded.incrementAndGet();
                    events.onCompleted();
                }
            };
        }
    }
}
