package com.example;

import static org.apache.kafka.clients.consumer.ConsumerConfig.*;

public class Consumer {
    public static void main(String[] args) {
        Properties props = new Properties();
        props.put(BOOTSTRAP_SERVERS_CONFIG, "localhost:9092");
        props.put(GROUP_ID_CONFIG, "orders");
        props.put(SESSION_TIMEOUT_MS_CONFIG, "10000");
        props.put(HEARTBEAT_INTERVAL_MS_CONFIG, "9000");
        KafkaConsumer<String, String> consumer = new KafkaConsumer<>(props);
    }
}
