package lab;

import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;

/** A Kafka Streams application of two sub-topologies with a store. "assigned" is said when it is running. */
public final class Streams {
    private Streams() {}

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
        StreamsBuilder b = new StreamsBuilder();
        b.<byte[], byte[]>stream(o.list("topics")).selectKey((k, v) -> v).groupByKey().count();

        CountDownLatch closing = new CountDownLatch(1);
        KafkaStreams streams = new KafkaStreams(b.build(), p);
        Commands commands = new Commands(closing::countDown);
        streams.setStateListener((now, before) -> {
            if (now == KafkaStreams.State.RUNNING) {
                Events.say("assigned");
            }
            if (now == KafkaStreams.State.ERROR) {
                Events.say("error", "message", "the application is in state ERROR");
                closing.countDown();
            }
        });
        streams.start();
        closing.await();
        streams.close();
        Events.say("closed");
        commands.done();
    }
}
