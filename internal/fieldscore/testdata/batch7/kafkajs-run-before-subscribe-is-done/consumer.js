  consumer.subscribe({ topic: /.*-sensors-control/i });
  consumer.subscribe({ topic: /.*-rule-alerts/i });

  consumer.run({ eachMessage: dataHandler });
