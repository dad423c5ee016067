import logging
import time
from kafka import KafkaConsumer, KafkaProducer, OffsetAndMetadata, TopicPartition
import kafka

print(kafka.version.__version__)
kafkaVersion = kafka.version
logger = logging.getLogger(__name__)

hosts = "localhost:9092"
topic = "blobMetadata"

consumer = KafkaConsumer(
    topic,
    group_id='test1',
    bootstrap_servers=hosts,
    max_poll_records=1,
    enable_auto_commit=False,
    max_poll_interval_ms=1000 * 3
)

producer = KafkaProducer(
    bootstrap_servers=hosts,
    key_serializer=lambda x: x.encode(),
    value_serializer=lambda x: x.encode()
)

logging.basicConfig(level=logging.INFO)
counter = 0
for consumerRecord in consumer:
    if consumerRecord:
        currentOffset: int = consumerRecord.offset
        meta = consumer.partitions_for_topic(topic)
        tp = TopicPartition(consumerRecord.topic, consumerRecord.partition)
        om = OffsetAndMetadata(consumerRecord.offset + 1, consumerRecord.timestamp)
        options = {tp: om}
        print(f'got new message ---------------------: {counter}')
        print(f'processing message --------------------  {consumerRecord}')
        time.sleep(1 * 10)  # just mimic long-running job in second
        consumer.commit(options)
