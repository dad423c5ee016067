package lab;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.springframework.kafka.core.DefaultKafkaConsumerFactory;
import org.springframework.kafka.listener.AcknowledgingMessageListener;
import org.springframework.kafka.listener.ContainerProperties;
import org.springframework.kafka.listener.KafkaMessageListenerContainer;
import org.springframework.kafka.listener.MessageListener;

/**
 * A listener container of Spring for Apache Kafka. Its thread polls; the laboratory's consumer beneath it obeys before each
 * poll, so that a stall is what a listener that takes too long is. Commits: sync is Spring's own BATCH, record its RECORD.
 */
public final class Spring {
    private final Commands commands;
    private final CountDownLatch closing = new CountDownLatch(1);
    private volatile Polled consumer;
    private volatile long perPoll;
    private volatile long perRecord;

    private Spring(Options o) {
        perPoll = o.millis("per-poll", 0);
        perRecord = o.millis("per-record", 0);
        commands = new Commands(closing::countDown);
    }

    /** The consumer that the container polls. */
    private final class Polled extends KafkaConsumer<byte[], byte[]> {
        private boolean had;

        Polled(Map<String, Object> settings) {
            super(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        }

        @Override
        public ConsumerRecords<byte[], byte[]> poll(Duration timeout) {
            try {
                for (String[] c = commands.next(); c != null; c = commands.next()) {
                    obey(c[0], c[1].strip());
                }
                if (had) {
                    commands.work(perPoll);
                }
            } catch (InterruptedException e) {
                throw new InterruptException(e);
            }
            ConsumerRecords<byte[], byte[]> records = super.poll(timeout.toMillis() > 200 ? Duration.ofMillis(200) : timeout);
            had = !records.isEmpty();
            return records;
        }
    }

    private void obey(String command, String argument) throws InterruptedException {
        Events.say("obeys", "command", command, "argument", argument);
        switch (command) {
            case "stall" -> {
                commands.work(Long.parseLong(argument));
                Events.say("stalled");
            }
            case "per-poll" -> perPoll = Long.parseLong(argument);
            case "per-record" -> perRecord = Long.parseLong(argument);
            default -> throw new IllegalArgumentException("unknown command " + command);
        }
    }

    private final class Listener implements ConsumerRebalanceListener {
        @Override
        public void onPartitionsAssigned(Collection<TopicPartition> added) {
            Events.say("assigned", "partitions", consumer.assignment(), "added", added,
                "member", consumer.groupMetadata().memberId(), "generation", consumer.groupMetadata().generationId());
        }

        @Override
        public void onPartitionsRevoked(Collection<TopicPartition> gone) {
            Events.say("revoked", "partitions", gone);
        }

        @Override
        public void onPartitionsLost(Collection<TopicPartition> gone) {
            Events.say("lost", "partitions", gone);
        }
    }

    private void work() {
        try {
            commands.work(perRecord);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void run(Options o) throws InterruptedException {
        Map<String, Object> settings = new HashMap<>();
        Consumer.configuration(o).forEach((k, v) -> settings.put(k.toString(), v));
        DefaultKafkaConsumerFactory<byte[], byte[]> factory = new DefaultKafkaConsumerFactory<>(settings,
            new ByteArrayDeserializer(), new ByteArrayDeserializer()) {
            @Override
            protected org.apache.kafka.clients.consumer.Consumer<byte[], byte[]> createRawConsumer(Map<String, Object> with) {
                consumer = new Polled(with);
                return consumer;
            }
        };
        ContainerProperties p = new ContainerProperties(o.need("topics").split(","));
        p.setConsumerRebalanceListener(new Listener());
        switch (o.get("commit", "auto")) {
            case "record" -> p.setAckMode(ContainerProperties.AckMode.RECORD);
            case "none" -> p.setAckMode(ContainerProperties.AckMode.MANUAL);
            default -> p.setAckMode(ContainerProperties.AckMode.BATCH);
        }
        if (o.get("commit", "auto").equals("none")) {
            p.setMessageListener((AcknowledgingMessageListener<byte[], byte[]>) (record, ack) -> work());
        } else {
            p.setMessageListener((MessageListener<byte[], byte[]>) record -> work());
        }
        KafkaMessageListenerContainer<byte[], byte[]> container = new KafkaMessageListenerContainer<>(factory, p);
        container.setBeanName("lab");
        container.start();
        closing.await();
        container.stop();
        Events.say("closed");
        commands.done();
    }

    public static void main(String[] args) throws InterruptedException {
        Options o = new Options(args);
        new Spring(o).run(o);
    }
}
