use rdkafka::config::ClientConfig;
fn main() {
    let c: StreamConsumer = ClientConfig::new().set("group.id", "g").set("session.timeout.ms", "1000").set("bootstrap.servers", "k:9092").create().unwrap();
}
