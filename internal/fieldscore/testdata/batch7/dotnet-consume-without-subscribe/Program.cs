var config = new List<KeyValuePair<string, object>>();
config.Add(new KeyValuePair<string, object>("bootstrap.servers", "localhost:9092"));
config.Add(new KeyValuePair<string, object>("group.id", "myGroup"));

var consumer = new Consumer(config);

consumer.Consume(out msg);
