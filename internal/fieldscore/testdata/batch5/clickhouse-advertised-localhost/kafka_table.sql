CREATE TABLE consumer_user_log_action (message String) ENGINE = Kafka
SETTINGS kafka_broker_list = '192.168.3.23:29092', kafka_topic_list = 'user_log_action', kafka_group_name = 'ch_user_log', kafka_format = 'JSONEachRow';
