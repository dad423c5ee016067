@Configuration
@EnableKafka
@EnableTransactionManagement
public class KafkaConsumeConfig {

    public Map<String, Object> consumeConfigs() {
        Map<String, Object> props = new HashMap<>(100);
        props.put(ConsumerConfig.GROUP_ID_CONFIG, "kafka-group-id");

        props.put(ConsumerConfig.GROUP_INSTANCE_ID_CONFIG, "group-instance-id-one");

        props.put(ConsumerConfig.MAX_POLL_RECORDS_CONFIG, Integer.MAX_VALUE);

        props.put(ConsumerConfig.MAX_POLL_INTERVAL_MS_CONFIG,60000);

        props.put(ConsumerConfig.SESSION_TIMEOUT_MS_CONFIG, 90000);
        props.put(ConsumerConfig.HEARTBEAT_INTERVAL_MS_CONFIG,3000);

        props.put(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG,"127.0.0.1:9092");
        props.put(ConsumerConfig.CLIENT_DNS_LOOKUP_CONFIG, "default");

        props.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG,"false");

        props.put(ConsumerConfig.AUTO_COMMIT_INTERVAL_MS_CONFIG,6000);

        props.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG,"latest");

        props.put(ConsumerConfig.FETCH_MIN_BYTES_CONFIG,22129120);

        props.put(ConsumerConfig.FETCH_MAX_BYTES_CONFIG,326872323);

        props.put(ConsumerConfig.FETCH_MAX_WAIT_MS_CONFIG,5000);

        props.put(ConsumerConfig.METADATA_MAX_AGE_CONFIG,30);
        props.put(ConsumerConfig.MAX_PARTITION_FETCH_BYTES_CONFIG,52428800);

        props.put(ConsumerConfig.CLIENT_ID_CONFIG, "kafka-client-one");

        props.put(ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG,org.apache.kafka.common.serialization.StringDeserializer.class);
        props.put(ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG,org.apache.kafka.common.serialization.StringDeserializer.class);

        props.put(ConsumerConfig.CONNECTIONS_MAX_IDLE_MS_CONFIG,6000);

        props.put(ConsumerConfig.REQUEST_TIMEOUT_MS_CONFIG,6000);

        props.put(ConsumerConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, 3000);

        props.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG,"read_committed");
        return props;
    }

    @Bean("kafkaListenerContainerFactory")
    public ConcurrentKafkaListenerContainerFactory<?, ?> kafkaListenerContainerFactory() {
        ConcurrentKafkaListenerContainerFactory<Object, Object> factory = new ConcurrentKafkaListenerContainerFactory<>();
        factory.setAckDiscarded(false);
        factory.setConcurrency(10);
        factory.setBatchListener(true);
        factory.setMissingTopicsFatal(false);
        factory.setAutoStartup(true);
        factory.getContainerProperties().setPollTimeout(3000);
        factory.getContainerProperties().setAckMode(ContainerProperties.AckMode.MANUAL_IMMEDIATE);
        factory.getContainerProperties().setAckCount(10);
        factory.getContainerProperties().setAckTime(10000);
        factory.setConsumerFactory(consumerFactory());
        return factory;
    }

    @Bean
    public ConsumerFactory<Object, Object> consumerFactory() {
        DefaultKafkaConsumerFactory defaultKafkaConsumerFactory = new DefaultKafkaConsumerFactory(consumeConfigs());
        return defaultKafkaConsumerFactory;
    }
}
