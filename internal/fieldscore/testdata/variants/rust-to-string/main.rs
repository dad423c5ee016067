const SESSION: u32 = 10_000;
let consumer: StreamConsumer = ClientConfig::new()
    .set("group.id", "g")
    .set("session.timeout.ms", SESSION.to_string())
    .set("max.poll.interval.ms", "5000")
    .create()?;
