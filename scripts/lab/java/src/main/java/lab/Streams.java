package lab;

import java.util.Properties;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.Record;

/**
 * A Kafka Streams application of two sub-topologies with a store, or, with --plain true, of one that works at a given pace
 * and obeys while it has records. "assigned" is said when it is running.
 */
public final class Streams {
    private Streams() {}

    /** Works one record at a time, on the stream thread: while it stalls, nothing is polled. */
    private static final class Work implements Processor<byte[], byte[], Void, Void> {
        private final Pace pace;

        Work(Pace pace) {
            this.pace = pace;
        }

        @Override
        public void process(Record<byte[], byte[]> record) {
            try {
                pace.obey();
                pace.commands.work(pace.perRecord);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** What the commands change. */
    private static final class Pace {
        private Commands commands;
        private volatile long perRecord;

        private void obey() throws InterruptedException {
            for (String[] c = commands.next(); c != null; c = commands.next()) {
                String argument = c[1].strip();
                Events.say("obeys", "command", c[0], "argument", argument);
                switch (c[0]) {
                    case "stall" -> {
                        commands.work(Long.parseLong(argument));
                        Events.say("stalled");
                    }
                    case "per-record" -> perRecord = Long.parseLong(argument);
                    default -> throw new IllegalArgumentException("unknown command " + c[0]);
                }
            }
        }
    }

    private static Set<TopicPartition> assigned(KafkaStreams streams) {
        return streams.metadataForLocalThreads().stream().flatMap(t -> t.activeTasks().stream())
            .flatMap(t -> t.topicPartitions().stream()).collect(Collectors.toSet());
    }

    public static void main(String[] args) throws InterruptedException {
        Options o = new Options(args);
        Properties p = new Properties();
        p.setProperty(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, o.need("bootstrap"));
        p.setProperty(StreamsConfig.APPLICATION_ID_CONFIG, o.need("group"));
        p.setProperty(StreamsConfig.STATE_DIR_CONFIG, o.need("state-dir"));
        p.put(StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, Serdes.ByteArraySerde.class);
        p.put(StreamsConfig.DEFAULT_VALUE_SERDE_CLASS_CONFIG, Serdes.ByteArraySerde.class);
        p.setProperty("auto.offset.reset", "earliest");
        o.copy("client-id", p, "client.id");
        o.copy("protocol", p, "group.protocol");
        p.putAll(o.extra);
        for (String key : new String[] {"session:session.timeout.ms", "heartbeat:heartbeat.interval.ms", "max-poll:max.poll.interval.ms"}) {
            String[] pair = key.split(":");
            o.copy(pair[0], p, pair[1]);
        }
        Pace pace = new Pace();
        pace.perRecord = o.millis("per-record", 0);
        StreamsBuilder b = new StreamsBuilder();
        if (o.has("plain")) {
            b.<byte[], byte[]>stream(o.list("topics")).process(() -> new Work(pace));
        } else {
            b.<byte[], byte[]>stream(o.list("topics")).selectKey((k, v) -> v).groupByKey().count();
        }

        CountDownLatch closing = new CountDownLatch(1);
        KafkaStreams streams = new KafkaStreams(b.build(), p);
        Commands commands = new Commands(closing::countDown);
        pace.commands = commands;
        AtomicReference<Set<TopicPartition>> said = new AtomicReference<>(Set.of());
        streams.setStateListener((now, before) -> {
            if (now == KafkaStreams.State.RUNNING) {
                said.set(assigned(streams));
                Events.say("assigned", "partitions", said.get());
            }
            if (now == KafkaStreams.State.ERROR) {
                Events.say("error", "message", "the application is in state ERROR");
                closing.countDown();
            }
        });
        streams.start();
        while (!closing.await(1, TimeUnit.SECONDS)) { // a cooperative change need not stop the running
            Set<TopicPartition> now = assigned(streams);
            if (streams.state() == KafkaStreams.State.RUNNING && !now.equals(said.getAndSet(now))) {
                Events.say("assigned", "partitions", now);
            }
        }
        streams.close();
        Events.say("closed");
        commands.done();
    }
}
