consumer.connect().then(() => consumer.subscribe({ topics, fromBeginning: false }));
consumer.connect().then(() => consumer.run({ eachMessage: handle }));
