const kafka = require("node-rdkafka");

const consumer = new kafka.KafkaConsumer(
  {
    // debug: "all",
    "metadata.broker.list": "192.168.0.4:9092",
    "group.id": "mygroup",
    "partition.assignment.strategy": "roundrobin",
    "session.timeout.ms": 10000,
    "heartbeat.interval.ms": 3000,
    "group.protocol.type": "consumer",
     "max.poll.interval.ms": 300000,
    "enable.auto.commit": true,
    "auto.commit.interval.ms": 3000,
    rebalance_cb: function (err, assignment) {
      if (err) {
        console.log(err);
      }
      console.log("REBALANCED : ", assignment);
    },
    offset_commit_cb: function (err, topicPartitions) {
      if (err) {
        console.log(err);
      }
      console.log("COMMITED : ", topicPartitions);
    },
  },
  {
    "auto.offset.reset": "latest",
  }
);

consumer.connect({}, (err, data) => {
  if (err) {
    console.log(err);
  }

  console.log("CONNECT : ", data);
});
