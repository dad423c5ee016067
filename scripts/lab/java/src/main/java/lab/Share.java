package lab;

import java.time.Duration;
import java.util.Properties;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** A member of a share group. It has no listener for assignments: "assigned" is said at the first record. */
public final class Share {
    private Share() {}

    public static void main(String[] args) {
        Options o = new Options(args);
        Properties p = new Properties();
        p.setProperty("bootstrap.servers", o.need("bootstrap"));
        p.setProperty("group.id", o.need("group"));
        o.copy("client-id", p, "client.id");
        o.copy("rack", p, "client.rack");
        p.putAll(o.extra);
        KafkaShareConsumer<byte[], byte[]> consumer = new KafkaShareConsumer<>(p, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        Commands commands = new Commands(consumer::wakeup);
        boolean said = false;
        try {
            consumer.subscribe(o.list("topics"));
            while (!commands.isClosing()) {
                try {
                    if (!consumer.poll(Duration.ofMillis(200)).isEmpty() && !said) {
                        Events.say("assigned");
                        said = true;
                    }
                } catch (WakeupException e) {
                    // The loop's condition says whether to go on.
                }
            }
        } catch (RuntimeException e) {
            Events.say("error", "message", e.toString());
        } finally {
            consumer.close();
            Events.say("closed");
            commands.done();
        }
    }
}
