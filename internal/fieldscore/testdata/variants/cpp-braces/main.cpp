#include <cppkafka/cppkafka.h>
Configuration config = {
    { "metadata.broker.list", "k:9092" }, { "group.id", "g" },
    { "session.timeout.ms", 10000 }, { "heartbeat.interval.ms", 10000 }
};
