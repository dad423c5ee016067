const Kafka = require('node-rdkafka')

const consumer = new Kafka.KafkaConsumer({
  'group.id': 'kafka-testing',
  'metadata.broker.list': 'localhost:9092',
  'rebalance_cb': function (err, assignment) {
    if (err.code === Kafka.CODES.ERRORS.ERR__ASSIGN_PARTITIONS) {
      this.assign(assignment)
      setInterval(() => { consumer.consume(1) }, 45 * 1000)
    } else if (err.code === Kafka.CODES.ERRORS.ERR__REVOKE_PARTITIONS) {
      this.unassign()
    }
  }
})
consumer.connect()
consumer.on('ready', function () { consumer.subscribe(['example-topic']) })
