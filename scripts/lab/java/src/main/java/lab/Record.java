package lab;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.ListGroupsOptions;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.SubscriptionPattern;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;

/**
 * Drives a broker to write every type of record that its version of the group coordinator knows, then prints the raw
 * records of __consumer_offsets. A step that the broker does not support is named on standard error and left out.
 */
public final class Record {
    private static final Duration TICK = Duration.ofMillis(100);
    private final String bootstrap;
    private final Admin admin;
    private int failures;
    private int format;

    private Record(String bootstrap) {
        this.bootstrap = bootstrap;
        admin = Admin.create(Map.of("bootstrap.servers", bootstrap));
    }

    /** A step and the oldest broker that can take it; an unexpected failure makes the recording fail. */
    private void step(String name, boolean supported, Callable<Void> body) {
        if (!supported) {
            System.err.println("skipped  " + name + ": this version has none");
            return;
        }
        try {
            body.call();
            System.err.println("done     " + name);
        } catch (Exception | LinkageError e) {
            failures++;
            System.err.println("FAILED   " + name + ": " + e);
        }
    }

    // ---- clients ------------------------------------------------------------------------------------------------

    private Properties base(String group, String client) {
        Properties p = new Properties();
        p.setProperty("bootstrap.servers", bootstrap);
        p.setProperty("group.id", group);
        p.setProperty("client.id", client);
        return p;
    }

    private KafkaConsumer<byte[], byte[]> classic(String group, String client, String assignor, String instance) {
        Properties p = base(group, client);
        p.setProperty("auto.offset.reset", "earliest");
        p.setProperty("enable.auto.commit", "false");
        p.setProperty("session.timeout.ms", "10000");
        p.setProperty("max.poll.interval.ms", "20000");
        p.setProperty("partition.assignment.strategy", "org.apache.kafka.clients.consumer." + assignor);
        if (instance != null) {
            p.setProperty("group.instance.id", instance);
        }
        return new KafkaConsumer<>(p, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    private KafkaConsumer<byte[], byte[]> next(String group, String client, String instance) {
        Properties p = base(group, client);
        p.setProperty("auto.offset.reset", "earliest");
        p.setProperty("enable.auto.commit", "false");
        p.setProperty("group.protocol", "consumer");
        p.setProperty("max.poll.interval.ms", "20000");
        p.setProperty("client.rack", "rack-1");
        if (instance != null) {
            p.setProperty("group.instance.id", instance);
        }
        return new KafkaConsumer<>(p, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    /** Polls all the consumers in turn until the condition holds. */
    @SafeVarargs
    private static void pollUntil(Callable<Boolean> condition, KafkaConsumer<byte[], byte[]>... consumers) throws Exception {
        long end = System.nanoTime() + 60_000_000_000L;
        while (!condition.call()) {
            if (System.nanoTime() > end) {
                throw new IllegalStateException("not reached within 60 s");
            }
            for (KafkaConsumer<byte[], byte[]> c : consumers) {
                c.poll(TICK);
            }
        }
    }

    private static boolean has(KafkaConsumer<?, ?> c, int partitions) {
        return c.assignment().size() == partitions;
    }

    private static void await(Callable<Boolean> condition) throws Exception {
        long end = System.nanoTime() + 60_000_000_000L;
        while (!condition.call()) {
            if (System.nanoTime() > end) {
                throw new IllegalStateException("not reached within 60 s");
            }
            Thread.sleep(100);
        }
    }

    // ---- steps --------------------------------------------------------------------------------------------------

    private Void topics() throws Exception {
        admin.createTopics(List.of(new NewTopic("orders", 4, (short) 1), new NewTopic("rx.one", 2, (short) 1),
            new NewTopic("gone", 2, (short) 1))).all().get();
        try (KafkaProducer<byte[], byte[]> producer = producer(null)) {
            for (int i = 0; i < 40; i++) {
                for (String topic : List.of("orders", "rx.one", "gone")) {
                    producer.send(new ProducerRecord<>(topic, ("k" + i).getBytes(StandardCharsets.UTF_8), ("v" + i).getBytes(StandardCharsets.UTF_8)));
                }
            }
        }
        return null;
    }

    private KafkaProducer<byte[], byte[]> producer(String transactionalId) {
        Properties p = new Properties();
        p.setProperty("bootstrap.servers", bootstrap);
        p.setProperty("enable.idempotence", Boolean.toString(format >= 11));
        if (transactionalId != null) {
            p.setProperty("transactional.id", transactionalId);
        }
        return new KafkaProducer<>(p, new ByteArraySerializer(), new ByteArraySerializer());
    }

    /** Range: a join, a second join, a commit with metadata, a leave, and a group that becomes empty. */
    private Void eager() throws Exception {
        try (KafkaConsumer<byte[], byte[]> a = classic("eager", "eager-1", "RangeAssignor", null)) {
            a.subscribe(List.of("orders", "gone"));
            pollUntil(() -> has(a, 6), a);
            a.commitSync(Map.of(new TopicPartition("orders", 0), new OffsetAndMetadata(3, "checkpoint é 😀")));
            try (KafkaConsumer<byte[], byte[]> b = classic("eager", "eager-2", "RangeAssignor", null)) {
                b.subscribe(List.of("orders"));
                pollUntil(() -> has(b, 2), a, b);
                b.commitSync();
            }
            pollUntil(() -> has(a, 6), a);
            a.commitSync();
        }
        return null;
    }

    /** Cooperative: two generations for a join, static ids, a restart of a static member, racks. */
    private Void cooperative() throws Exception {
        KafkaConsumer<byte[], byte[]> a = classic("coop", "coop-1", "CooperativeStickyAssignor", "pod-1");
        KafkaConsumer<byte[], byte[]> b = classic("coop", "coop-2", "CooperativeStickyAssignor", "pod-2");
        a.subscribe(List.of("orders"));
        pollUntil(() -> has(a, 4), a);
        b.subscribe(List.of("orders"));
        pollUntil(() -> has(a, 2) && has(b, 2), a, b);
        b.commitSync();
        b.close();
        KafkaConsumer<byte[], byte[]> again = classic("coop", "coop-2", "CooperativeStickyAssignor", "pod-2");
        again.subscribe(List.of("orders"));
        pollUntil(() -> has(again, 2), a, again);
        again.close();
        a.close();
        return null;
    }

    private Void transactions() throws Exception {
        try (KafkaConsumer<byte[], byte[]> a = classic("txn", "txn-1", "RangeAssignor", null);
                KafkaProducer<byte[], byte[]> p = producer("txn-producer")) {
            a.subscribe(List.of("orders"));
            pollUntil(() -> has(a, 4), a);
            p.initTransactions();
            for (boolean commit : new boolean[] {true, false, true}) {
                p.beginTransaction();
                p.sendOffsetsToTransaction(Map.of(new TopicPartition("orders", 1), new OffsetAndMetadata(commit ? 7 : 999)), a.groupMetadata());
                if (commit) {
                    p.commitTransaction();
                } else {
                    p.abortTransaction();
                }
            }
        }
        return null;
    }

    /** Tombstones: of an offset, of a group, and of the offsets of a topic that was deleted. */
    private Void deletions() throws Exception {
        try (KafkaConsumer<byte[], byte[]> a = classic("deleted", "deleted-1", "RangeAssignor", null)) {
            a.subscribe(List.of("orders"));
            pollUntil(() -> has(a, 4), a);
            a.commitSync(a.assignment().stream().collect(Collectors.toMap(tp -> tp, tp -> new OffsetAndMetadata(1))));
        }
        admin.deleteConsumerGroupOffsets("deleted", Set.of(new TopicPartition("orders", 2))).all().get();
        admin.deleteConsumerGroups(List.of("deleted")).all().get();
        admin.deleteTopics(List.of("gone")).all().get();
        return null;
    }

    /** An OffsetCommit of version 2 with a retention time, which only old clients send: the one way to a value of version 1. */
    private Void commitWithRetention() throws Exception {
        String coordinator = bootstrap.split(",")[0];
        ByteBuffer b = ByteBuffer.allocate(256);
        b.putShort((short) 8).putShort((short) 2).putInt(1);
        put(b, "old-client");
        put(b, "retained");
        b.putInt(-1);
        put(b, "");
        b.putLong(86_400_000L).putInt(1);
        put(b, "orders");
        b.putInt(1).putInt(3).putLong(11);
        put(b, "kept for a day");
        b.flip();
        int at = coordinator.lastIndexOf(':');
        try (Socket s = new Socket()) {
            s.connect(new InetSocketAddress(coordinator.substring(0, at), Integer.parseInt(coordinator.substring(at + 1))), 5000);
            s.setSoTimeout(10_000);
            DataOutputStream out = new DataOutputStream(s.getOutputStream());
            out.writeInt(b.remaining());
            out.write(b.array(), 0, b.remaining());
            DataInputStream in = new DataInputStream(s.getInputStream());
            byte[] answer = new byte[in.readInt()];
            in.readFully(answer);
            short error = ByteBuffer.wrap(answer).getShort(answer.length - 2);
            if (error != 0) {
                throw new IOException("OffsetCommit v2 answered with error " + error);
            }
        }
        return null;
    }

    private static void put(ByteBuffer b, String s) {
        byte[] bytes = s.getBytes(StandardCharsets.UTF_8);
        b.putShort((short) bytes.length).put(bytes);
    }

    /** KIP-848: joins, a revocation, a change of subscription, commits, a leave, deletion of the group. */
    private Void consumerGroup() throws Exception {
        KafkaConsumer<byte[], byte[]> a = next("next", "next-1", null);
        KafkaConsumer<byte[], byte[]> b = next("next", "next-2", null);
        a.subscribe(List.of("orders"));
        pollUntil(() -> has(a, 4), a);
        a.commitSync();
        b.subscribe(List.of("orders"));
        pollUntil(() -> has(a, 2) && has(b, 2), a, b);
        b.subscribe(List.of("orders", "rx.one"));
        pollUntil(() -> b.assignment().contains(new TopicPartition("rx.one", 0)), a, b);
        b.commitSync();
        b.close();
        pollUntil(() -> has(a, 4), a);
        admin.createPartitions(Map.of("rx.one", NewPartitions.increaseTo(3))).all().get();
        a.subscribe(List.of("rx.one"));
        pollUntil(() -> has(a, 3), a);
        a.close();
        return null;
    }

    /** A static member that leaves for a while (epoch -2) and comes back, then for good. */
    private Void consumerGroupStatic() throws Exception {
        for (int round = 0; round < 2; round++) {
            KafkaConsumer<byte[], byte[]> a = next("next-static", "next-static-1", "pod-1");
            a.subscribe(List.of("orders"));
            pollUntil(() -> has(a, 4), a);
            a.close();
        }
        KafkaConsumer<byte[], byte[]> a = next("next-static", "next-static-1", "pod-1");
        a.subscribe(List.of("orders"));
        pollUntil(() -> has(a, 4), a);
        a.close(CloseOptions.groupMembershipOperation(CloseOptions.GroupMembershipOperation.LEAVE_GROUP));
        return null;
    }

    private Void regex() throws Exception {
        KafkaConsumer<byte[], byte[]> a = next("next-regex", "next-regex-1", null);
        a.subscribe(new SubscriptionPattern("rx[.].*"));
        pollUntil(() -> !a.assignment().isEmpty(), a);
        admin.createTopics(List.of(new NewTopic("rx.two", 1, (short) 1))).all().get();
        // The broker looks for new topics at most every 10 minutes by default: a change of the pattern makes it look now.
        a.subscribe(new SubscriptionPattern("rx[.](one|two)"));
        pollUntil(() -> a.assignment().contains(new TopicPartition("rx.two", 0)), a);
        a.close();
        return null;
    }

    /** Online upgrade and downgrade: a classic member inside a consumer group, and the way back. */
    private Void migration() throws Exception {
        KafkaConsumer<byte[], byte[]> old = classic("migrating", "old-1", "CooperativeStickyAssignor", null);
        old.subscribe(List.of("orders"));
        pollUntil(() -> has(old, 4), old);
        KafkaConsumer<byte[], byte[]> young = next("migrating", "new-1", null);
        young.subscribe(List.of("orders"));
        pollUntil(() -> has(old, 2) && has(young, 2), old, young);
        young.close();
        pollUntil(() -> has(old, 4), old);
        old.close();
        return null;
    }

    private Void deleteConsumerGroups() throws Exception {
        try (KafkaConsumer<byte[], byte[]> a = next("next-deleted", "next-deleted-1", null)) {
            a.subscribe(List.of("orders"));
            pollUntil(() -> has(a, 4), a);
            a.commitSync();
        }
        admin.deleteConsumerGroups(List.of("next-deleted")).all().get();
        return null;
    }

    private void group(String name, String key, String value) throws Exception {
        admin.incrementalAlterConfigs(Map.of(new ConfigResource(ConfigResource.Type.GROUP, name),
            List.of(new AlterConfigOp(new ConfigEntry(key, value), AlterConfigOp.OpType.SET)))).all().get();
    }

    private KafkaShareConsumer<byte[], byte[]> share(String group, String client) {
        return new KafkaShareConsumer<>(base(group, client), new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    private Void shareGroup() throws Exception {
        group("shared", "share.auto.offset.reset", "earliest");
        KafkaShareConsumer<byte[], byte[]> a = share("shared", "shared-1");
        KafkaShareConsumer<byte[], byte[]> b = share("shared", "shared-2");
        a.subscribe(List.of("orders"));
        long end = System.nanoTime() + 60_000_000_000L;
        int seen = 0;
        while (seen < 20 && System.nanoTime() < end) {
            seen += a.poll(TICK).count();
        }
        b.subscribe(List.of("orders", "rx.one"));
        seen = 0;
        while (seen < 5 && System.nanoTime() < end) {
            a.poll(TICK);
            seen += b.poll(TICK).count();
        }
        b.close();
        a.poll(TICK);
        a.close();
        if (seen == 0) {
            throw new IllegalStateException("the share group read nothing");
        }
        return null;
    }

    private Void deleteShareGroup() throws Exception {
        admin.deleteShareGroups(List.of("shared")).all().get();
        return null;
    }

    private KafkaStreams application(String instance, boolean protocol) throws IOException {
        Properties p = new Properties();
        p.setProperty(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrap);
        p.setProperty(StreamsConfig.APPLICATION_ID_CONFIG, protocol ? "streams" : "streams-classic");
        p.setProperty("client.id", instance);
        if (protocol) {
            p.setProperty("group.protocol", "streams");
        }
        Path state = Files.createTempDirectory("kgdiag-streams");
        p.setProperty(StreamsConfig.STATE_DIR_CONFIG, state.toString());
        p.put(StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, Serdes.ByteArraySerde.class);
        p.put(StreamsConfig.DEFAULT_VALUE_SERDE_CLASS_CONFIG, Serdes.ByteArraySerde.class);
        p.setProperty("auto.offset.reset", "earliest");
        p.setProperty("application.server", "localhost:4711");
        p.setProperty("client.tag.zone", "a");
        StreamsBuilder b = new StreamsBuilder();
        b.<byte[], byte[]>stream("orders").selectKey((k, v) -> v).groupByKey().count();
        return new KafkaStreams(b.build(), p);
    }

    private Void streams(boolean protocol) throws Exception {
        if (protocol) {
            group("streams", "streams.num.standby.replicas", "1");
        }
        List<KafkaStreams> all = new ArrayList<>();
        for (String name : List.of("app-1", "app-2")) {
            KafkaStreams s = application(name, protocol);
            all.add(s);
            s.start();
            await(() -> s.state() == KafkaStreams.State.RUNNING);
        }
        KafkaStreams first = all.get(0);
        await(() -> first.state() == KafkaStreams.State.RUNNING);
        await(() -> first.metadataForLocalThreads().stream().mapToInt(t -> t.activeTasks().size()).sum() <= 5);
        all.get(1).close();
        await(() -> first.metadataForLocalThreads().stream().mapToInt(t -> t.activeTasks().size()).sum() >= 8);
        first.close();
        return null;
    }

    private Void deleteStreams() throws Exception {
        admin.deleteStreamsGroups(List.of("streams")).all().get();
        return null;
    }

    // ---- the dump -----------------------------------------------------------------------------------------------

    /** Prints partition, offset, timestamp, key type, key and value (hex, or TOMBSTONE), aborted records included. */
    private void dump(String title) {
        Properties p = new Properties();
        p.setProperty("bootstrap.servers", bootstrap);
        p.setProperty("exclude.internal.topics", "false");
        p.setProperty("isolation.level", "read_uncommitted");
        p.setProperty(ConsumerConfig.MAX_POLL_RECORDS_CONFIG, "10000");
        List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>();
        try (KafkaConsumer<byte[], byte[]> c = new KafkaConsumer<>(p, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            List<TopicPartition> parts = c.partitionsFor("__consumer_offsets").stream()
                .map(i -> new TopicPartition(i.topic(), i.partition())).collect(Collectors.toList());
            c.assign(parts);
            c.seekToBeginning(parts);
            Map<TopicPartition, Long> ends = c.endOffsets(parts);
            while (parts.stream().anyMatch(tp -> c.position(tp) < ends.get(tp))) {
                c.poll(TICK).forEach(records::add);
            }
        }
        records.sort((x, y) -> x.partition() != y.partition() ? Integer.compare(x.partition(), y.partition()) : Long.compare(x.offset(), y.offset()));
        HexFormat hex = HexFormat.of();
        System.out.println("# partition\toffset\ttimestamp_ms\tkey_type\tkey_hex\tvalue_hex (" + title + ")");
        for (ConsumerRecord<byte[], byte[]> r : records) {
            System.out.println(r.partition() + "\t" + r.offset() + "\t" + r.timestamp() + "\t" + ByteBuffer.wrap(r.key()).getShort()
                + "\t" + hex.formatHex(r.key()) + "\t" + (r.value() == null ? "TOMBSTONE" : hex.formatHex(r.value())));
        }
        Map<Short, Long> types = records.stream().collect(Collectors.groupingBy(r -> ByteBuffer.wrap(r.key()).getShort(), Collectors.counting()));
        System.err.println(records.size() + " records; types " + new TreeSet<>(types.keySet()).stream()
            .map(t -> t + ":" + types.get(t)).collect(Collectors.joining(" ")));
    }

    /** 4.1.1 is 401, 0.10.0 is 10, 2.1-IV0 is 201. */
    private static int release(String version) {
        String[] v = version.split("[.-]");
        return Integer.parseInt(v[0]) * 100 + Integer.parseInt(v[1]);
    }

    private void run(Options o) throws InterruptedException, ExecutionException {
        int version = release(o.need("version"));
        format = o.has("writes-as") ? release(o.get("writes-as", "")) : version;
        boolean share = o.has("share");
        step("topics", true, this::topics);
        if (!share) {
            steps(version);
        }
        step("share group", version >= 401 || share, this::shareGroup);
        if (!share) {
            step("share group, deleted", version >= 401, this::deleteShareGroup);
            step("streams group", version >= 401, () -> streams(true));
            step("streams group, deleted", version >= 401, this::deleteStreams);
        }
        dump("Apache Kafka " + o.need("version") + (o.has("writes-as") ? " with inter.broker.protocol.version " + o.get("writes-as", "") : "")
            + ", written by scripts/record-offsets");
        admin.close();
        if (failures > 0) {
            System.err.println(failures + " steps failed");
            System.exit(1);
        }
    }

    private void steps(int version) {
        step("classic group, range", true, this::eager);
        step("classic group, cooperative, static", format >= 203, this::cooperative);
        step("commit with retention time", version < 400, this::commitWithRetention);
        step("transactions", format >= 11, this::transactions);
        step("deletions", true, this::deletions);
        step("streams application, classic", format >= 203, () -> streams(false));
        step("consumer group", version >= 307, this::consumerGroup);
        step("consumer group, static", version >= 307, this::consumerGroupStatic);
        step("consumer group, deleted", version >= 308, this::deleteConsumerGroups);
        step("migration", version >= 308, this::migration);
        step("consumer group, regex", version >= 400, this::regex);
    }

    public static void main(String[] args) throws Exception {
        Options o = new Options(args);
        new Record(o.need("bootstrap")).run(o);
    }
}
