import org.apache.kafka.streams.StreamsConfig;
class App {
  Properties p() {
    props.put(StreamsConfig.APPLICATION_ID_CONFIG, "app");
    props.put(StreamsConfig.consumerPrefix(ConsumerConfig.MAX_POLL_INTERVAL_MS_CONFIG), 60000);
    return props;
  }
}
