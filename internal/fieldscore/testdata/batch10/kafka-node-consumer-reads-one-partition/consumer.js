const { Consumer } = require('kafka-node');

const consumerOptions = {
  kafkaHost,
  autoCommit: false,
  fromOffset: 'earliest'
};
const consumer = new Consumer(Object.assign({ id: '1' }, consumerOptions), ['topic']);
