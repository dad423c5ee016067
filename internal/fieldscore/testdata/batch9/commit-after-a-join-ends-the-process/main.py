consumer.commit(message=message, asynchronous=False)
