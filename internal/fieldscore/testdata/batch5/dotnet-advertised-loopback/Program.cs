using Confluent.Kafka;

var config = new ConsumerConfig
{
    GroupId = "custom-group",
    BootstrapServers = "203.0.113.17:9092",
    AutoOffsetReset = AutoOffsetReset.Earliest
};

using (var consumer = new ConsumerBuilder<Ignore, string>(config).Build())
{
    consumer.Subscribe("my-topic");
    while (true)
    {
        var result = consumer.Consume();
        Console.WriteLine(result.Value);
    }
}
