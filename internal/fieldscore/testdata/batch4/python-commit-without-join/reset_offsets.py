from confluent_kafka import Consumer, TopicPartition

consumer = Consumer({"bootstrap.servers": "broker.example.org:9092", "group.id": "loader", "enable.auto.commit": False})
offsets = {k: v + 1 for k, v in offsets.items()}
par_list = []
for par, offset in partitions.items():
    par_list.append(TopicPartition(topic, int(par), offset))
consumer.commit(offsets=par_list, asynchronous=False)
