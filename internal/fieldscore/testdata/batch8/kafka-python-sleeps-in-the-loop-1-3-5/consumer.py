from kafka import KafkaProducer, KafkaConsumer, TopicPartition, OffsetAndMetadata
import logging
import time
import sys

logger = logging.getLogger()
logger.setLevel(logging.INFO)
ch = logging.StreamHandler(sys.stdout)
ch.setLevel(logging.INFO)
formatter = logging.Formatter('%(asctime)s - %(name)s - %(levelname)s - %(message)s')
ch.setFormatter(formatter)
logger.addHandler(ch)

def kafka_cons():
    con = KafkaConsumer('my-topic', bootstrap_servers='localhost:9092',
                        enable_auto_commit=False, group_id = 'cons2', auto_offset_reset = 'earliest'
                        , session_timeout_ms = 39000, heartbeat_interval_ms=7000)

    for message in con:
        logger.info(message)
        topic_partition = TopicPartition(message.topic, message.partition)
        # partition_list = []
        # partition_list.append(topic_partition)
        # con.assign(partition_list)
        time.sleep(25)
        options = {}
        logger.info(message.offset)
        options[topic_partition] = OffsetAndMetadata(message.offset+1, 0)
        con.commit(options)
        logger.info("---------- commiting offset")
kafka_cons()
