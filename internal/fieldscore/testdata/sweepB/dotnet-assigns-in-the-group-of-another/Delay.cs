var config = new ConsumerConfig { BootstrapServers = "b", GroupId = "retry", EnableAutoCommit = false };
using var primary = new ConsumerBuilder<string, string>(config).Build();
primary.Subscribe("primary");
foreach (var p in new[] { 0, 1, 2 })
{
    var delay = new ConsumerBuilder<string, string>(config).Build();
    delay.Assign(new TopicPartition("retry", p));
    var r = delay.Consume(token);
    delay.Commit(r);
}
