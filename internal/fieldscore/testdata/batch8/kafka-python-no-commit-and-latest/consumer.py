consumer = KafkaConsumer('meters.energy-prices', group_id="pricesGroup", bootstrap_servers=Config.KAFKA_BROKER_ENDPOINT, consumer_timeout_ms=100, enable_auto_commit=False)

# Consume events until the program receives an exit signal
while not exitEvent.wait(timeout=0.01):
  try:
    msg = next(consumer)
    event = json.loads(msg.value)
    processEvent(event)
    # consumer.commit() # Consumer not committing, should keep receiving the same events after restart
  except StopIteration:
    pass

consumer.close(autocommit=False)
