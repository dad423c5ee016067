var config = new Dictionary<string, object>
{
    { "group.id", "DeleteMePlease" },
    { "bootstrap.servers", "localhost:9092" }
};

using (var consumer = new Consumer<Null, string>(config, null, new StringDeserializer(Encoding.UTF8)))
{
    consumer.OnPartitionsAssigned += (_, partitions) =>
    {
         consumer.Assign(partitions);
    };

    consumer.Assign(new[] { new TopicPartition(topic, 0) });
}
