import asyncio, time
from aiokafka import AIOKafkaConsumer

async def main():
    consumer = AIOKafkaConsumer(
        'my-topic',
        bootstrap_servers='localhost:9092',
        group_id='my-aiokafka-group',
        session_timeout_ms=10000,
        heartbeat_interval_ms=3000,
        enable_auto_commit=True,
    )
    await consumer.start()
    try:
        async for msg in consumer:
            time.sleep(15)
            print(msg.value)
    finally:
        await consumer.stop()

asyncio.run(main())
