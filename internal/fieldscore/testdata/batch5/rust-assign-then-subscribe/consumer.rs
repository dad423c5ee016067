use rdkafka::config::{ClientConfig, RDKafkaLogLevel};
use rdkafka::consumer::Consumer;
use rdkafka::TopicPartitionList;

pub fn build(brokers: &str, group_id: &str, topics: &[&str]) -> LoggingConsumer {
    let consumer: LoggingConsumer = ClientConfig::new()
        .set("group.id", group_id)
        .set("bootstrap.servers", brokers)
        .set("enable.partition.eof", "false")
        .set("session.timeout.ms", "6000")
        .set("enable.auto.commit", "true")
        .set("auto.offset.reset", "earliest")
        .set_log_level(RDKafkaLogLevel::Debug)
        .create_with_context(CustomContext)
        .expect("Consumer creation failed");

    let mut topic_partitions_list = TopicPartitionList::new();
    topic_partitions_list.add_partition(&topics[0], 0);
    consumer.assign(&topic_partitions_list);

    consumer.subscribe(&topics.to_vec())
        .expect("Can't subscribe to specified topics");
    consumer
}
