use rdkafka::config::ClientConfig;
use rdkafka::consumer::{BaseConsumer, Consumer};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let consumer: BaseConsumer = ClientConfig::new()
        .set("group.id", "some_group")
        .create()?;
    consumer.subscribe(&["some_topic"])?;
    for message in &consumer {
        println!("{:?}", message?);
    }
    Ok(())
}
