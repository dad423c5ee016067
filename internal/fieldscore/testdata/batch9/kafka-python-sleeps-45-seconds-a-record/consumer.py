import os
import time
import logging

from kafka import KafkaConsumer
import json

logger = logging.getLogger('chat_bot_logger')

if __name__ == '__main__':
    logger.setLevel('INFO')
    logger.warning("Consumer start.")

    consumer = KafkaConsumer('my-topic',
                             client_id='client1',
                             group_id='my-group',
                             bootstrap_servers=['localhost:9092'],
                             value_deserializer=lambda v: json.loads(v.decode('ascii')),
                             key_deserializer=lambda v: json.loads(v.decode('ascii')),
                             max_poll_records=1000)
    #                         request_timeout_ms=305000 * 100)

    consumer.topics()
    consumer.subscribe(topics='find_cat')
    consumer.subscription()

    for msg in consumer:
        dir(msg)
        logger.info(f'partition {msg.partition}, msg.offset {msg.offset} \\n msg.key  {msg.key} msg.value {msg.value}')
        #consumer.commit()

        print('%d: %d: k=%s v=%s' % (msg.partition,
                                    msg.offset,
                                    msg.key,
                                    msg.value))
        print(msg.topic)
        time.sleep(45)
        if os.path.exists(msg.value['answer_dir']):
            matched_path = '/home/user/images/1.jpg'
            with open(matched_path, "rb") as f:
                photo = f.read()
