batch = consumer.consume(num_messages=500, timeout=1.0)
for msg in batch:
    send_receipt(msg)
consumer.commit(asynchronous=False)
