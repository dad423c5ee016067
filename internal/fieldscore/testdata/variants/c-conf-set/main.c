#include <librdkafka/rdkafka.h>
int main() {
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_conf_set(conf, "group.id", "g", errstr, sizeof(errstr));
    rd_kafka_conf_set(conf, "session.timeout.ms", "10000", errstr, sizeof(errstr));
    if (rd_kafka_conf_set(conf, "heartbeat.interval.ms", "9000", errstr, sizeof(errstr)) != RD_KAFKA_CONF_OK) return 1;
}
