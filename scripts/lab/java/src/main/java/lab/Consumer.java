package lab;

import java.time.Duration;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.regex.Pattern;
import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.SubscriptionPattern;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RebalanceInProgressException;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** A consumer that works at a given pace, commits in a given way, and stalls when it is told to. */
public final class Consumer {
    private static final Map<String, String> ASSIGNORS = Map.of(
        "range", "org.apache.kafka.clients.consumer.RangeAssignor",
        "roundrobin", "org.apache.kafka.clients.consumer.RoundRobinAssignor",
        "sticky", "org.apache.kafka.clients.consumer.StickyAssignor",
        "cooperative-sticky", "org.apache.kafka.clients.consumer.CooperativeStickyAssignor");

    private final KafkaConsumer<byte[], byte[]> consumer;
    private final Commands commands;
    private String commit;
    private long perPoll;
    private long perRecord;

    private Consumer(Options o) {
        commit = o.get("commit", "auto");
        perPoll = o.millis("per-poll", 0);
        perRecord = o.millis("per-record", 0);
        consumer = new KafkaConsumer<>(configuration(o), new ByteArrayDeserializer(), new ByteArrayDeserializer());
        commands = new Commands(consumer::wakeup);
        if (o.has("pattern")) { // matched by the client, from its metadata
            consumer.subscribe(Pattern.compile(o.need("pattern")), new Listener());
        } else if (o.has("regex")) { // matched by the broker (KIP-848)
            consumer.subscribe(new SubscriptionPattern(o.need("regex")), new Listener());
        } else {
            consumer.subscribe(o.list("topics"), new Listener());
        }
    }

    /** The client's settings; Spring's container takes the same. */
    static Properties configuration(Options o) {
        Properties p = new Properties();
        p.setProperty("bootstrap.servers", o.need("bootstrap"));
        p.setProperty("group.id", o.need("group"));
        p.setProperty("auto.offset.reset", "earliest");
        p.setProperty("enable.auto.commit", Boolean.toString(o.get("commit", "auto").equals("auto")));
        o.copy("client-id", p, "client.id");
        o.copy("instance-id", p, "group.instance.id");
        o.copy("protocol", p, "group.protocol");
        o.copy("session", p, "session.timeout.ms");
        o.copy("heartbeat", p, "heartbeat.interval.ms");
        o.copy("max-poll", p, "max.poll.interval.ms");
        o.copy("max-records", p, "max.poll.records");
        o.copy("rack", p, "client.rack");
        if (o.has("assignor")) {
            if (o.get("protocol", "classic").equals("consumer")) {
                o.copy("assignor", p, "group.remote.assignor");
            } else {
                p.setProperty("partition.assignment.strategy", ASSIGNORS.getOrDefault(o.need("assignor"), o.need("assignor")));
            }
        }
        p.putAll(o.extra);
        return p;
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

    private void run() throws InterruptedException {
        try {
            while (!commands.isClosing()) {
                for (String[] c = commands.next(); c != null; c = commands.next()) {
                    obey(c[0], c[1].strip());
                }
                try {
                    process(consumer.poll(Duration.ofMillis(200)));
                } catch (WakeupException e) {
                    // The loop's condition says whether to go on.
                } catch (CommitFailedException | RebalanceInProgressException e) {
                    Events.say("commit-failed", "message", e.getMessage());
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

    private void obey(String command, String argument) throws InterruptedException {
        Events.say("obeys", "command", command, "argument", argument);
        switch (command) {
            case "stall" -> commands.work(Long.parseLong(argument));
            case "per-poll" -> perPoll = Long.parseLong(argument);
            case "per-record" -> perRecord = Long.parseLong(argument);
            case "commit" -> commit = argument;
            case "subscribe" -> consumer.subscribe(List.of(argument.split(",")), new Listener());
            case "enforce" -> consumer.enforceRebalance("asked for by the laboratory");
            case "pause" -> consumer.pause(consumer.assignment());
            case "resume" -> consumer.resume(consumer.paused());
            default -> throw new IllegalArgumentException("unknown command " + command);
        }
        if (command.equals("stall")) {
            Events.say("stalled");
        }
    }

    private void process(ConsumerRecords<byte[], byte[]> records) throws InterruptedException {
        for (ConsumerRecord<byte[], byte[]> r : records) {
            if (commands.isClosing()) {
                return;
            }
            commands.work(perRecord);
            if (commit.equals("record")) {
                consumer.commitSync(Collections.singletonMap(new TopicPartition(r.topic(), r.partition()),
                    new OffsetAndMetadata(r.offset() + 1)));
            }
        }
        if (!records.isEmpty()) {
            commands.work(perPoll);
            if (commit.equals("sync")) {
                consumer.commitSync();
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        new Consumer(new Options(args)).run();
    }
}
