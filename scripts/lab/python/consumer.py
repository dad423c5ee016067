"""A consumer of one of three Python clients, which works at a given pace and stalls when it is told to.

The options, the commands on standard input and the events on standard output are those of scripts/lab/README.md.
"""

import argparse
import asyncio
import json
import logging
import queue
import signal
import sys
import threading
import time


def say(event, **fields):
    print(json.dumps({"event": event, "ts": int(time.time() * 1000), **fields}), flush=True)


def names(partitions):
    return sorted(f"{p.topic}-{p.partition}" for p in partitions)


def convert(value):
    """Extra settings arrive as text; the pure Python clients want numbers and booleans as such."""
    if value in ("true", "false"):
        return value == "true"
    return int(value) if value.lstrip("-").isdigit() else value


class Commands:
    """Lines on standard input, and signals. The end of standard input closes the client."""

    def __init__(self):
        self.queue = queue.SimpleQueue()
        self.closing = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: self.closing.set())
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in sys.stdin:
            if line.strip() == "close":
                break
            self.queue.put(line)
        self.closing.set()

    def next(self):
        try:
            command, _, argument = self.queue.get_nowait().strip().partition(" ")
        except queue.Empty:
            return None
        say("obeys", command=command, argument=argument)
        return command, argument

    def work(self, millis):
        """Blocks as a busy application does; a close ends it early."""
        if millis > 0:
            self.closing.wait(millis / 1000)


class Pace:
    """How the application works, which commands change while it runs."""

    def __init__(self, o):
        self.commit, self.per_poll, self.per_record = o.commit, o.per_poll, o.per_record

    def obey(self, command, argument):
        if command == "per-poll":
            self.per_poll = int(argument)
        elif command == "per-record":
            self.per_record = int(argument)
        elif command == "commit":
            self.commit = argument
        else:
            return False
        return True


def confluent(o, commands, pace):
    from confluent_kafka import Consumer, KafkaException

    conf = {
        "bootstrap.servers": o.bootstrap,
        "group.id": o.group,
        "auto.offset.reset": "earliest",
        "enable.auto.commit": o.commit == "auto",
    }
    for key, value in {
        "client.id": o.client_id,
        "group.instance.id": o.instance_id,
        "partition.assignment.strategy": o.assignor if o.protocol != "consumer" else None,
        "group.remote.assignor": o.assignor if o.protocol == "consumer" else None,
        "group.protocol": o.protocol,
        "session.timeout.ms": o.session,
        "heartbeat.interval.ms": o.heartbeat,
        "max.poll.interval.ms": o.max_poll,
        "client.rack": o.rack,
        **o.extra,
    }.items():
        if value is not None:
            conf[key] = value
    consumer = Consumer(conf)

    held = set()  # a cooperative or KIP-848 assignment names only what is new

    def assigned(c, partitions):
        held.update(names(partitions))
        say("assigned", partitions=sorted(held), added=names(partitions), member=c.memberid())

    def gone(event):
        def callback(_, partitions):
            held.difference_update(names(partitions))
            say(event, partitions=names(partitions))

        return callback

    def subscribe(topics):
        consumer.subscribe(topics, on_assign=assigned, on_revoke=gone("revoked"), on_lost=gone("lost"))

    subscribe(o.topics.split(","))
    while not commands.closing.is_set():
        while (c := commands.next()) is not None:
            if pace.obey(*c):
                continue
            if c[0] == "stall":
                commands.work(int(c[1]))
                say("stalled")
            elif c[0] == "subscribe":
                subscribe(c[1].split(","))
            else:
                raise ValueError(f"unknown command {c[0]}")
        records = consumer.consume(o.max_records or 100, 0.2)
        good = [r for r in records if r.error() is None]
        for r in records:
            if r.error() is not None:
                say("error", message=str(r.error()))
        try:
            for r in good:
                if commands.closing.is_set():
                    break
                commands.work(pace.per_record)
                if pace.commit == "record":
                    consumer.commit(message=r, asynchronous=False)
            if good:
                commands.work(pace.per_poll)
                if pace.commit == "sync":
                    consumer.commit(asynchronous=False)
        except KafkaException as e:
            say("commit-failed", message=str(e))
    consumer.close()


def kafka_python(o, commands, pace):
    from kafka import ConsumerRebalanceListener, KafkaConsumer
    from kafka.coordinator.assignors.range import RangePartitionAssignor
    from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
    from kafka.errors import KafkaError

    conf = {
        "bootstrap_servers": o.bootstrap.split(","),
        "group_id": o.group,
        "auto_offset_reset": "earliest",
        "enable_auto_commit": o.commit == "auto",
    }
    assignors = {"range": [RangePartitionAssignor], "roundrobin": [RoundRobinPartitionAssignor]}
    for key, value in {
        "client_id": o.client_id,
        "group_instance_id": o.instance_id,
        "partition_assignment_strategy": assignors[o.assignor] if o.assignor else None,
        "session_timeout_ms": o.session,
        "heartbeat_interval_ms": o.heartbeat,
        "max_poll_interval_ms": o.max_poll,
        "max_poll_records": o.max_records,
        **{k: convert(v) for k, v in o.extra.items()},
    }.items():
        if value is not None:
            conf[key] = value
    consumer = KafkaConsumer(**conf)

    class Listener(ConsumerRebalanceListener):
        def on_partitions_assigned(self, assigned):
            say("assigned", partitions=names(assigned), added=names(assigned))

        def on_partitions_revoked(self, revoked):
            say("revoked", partitions=names(revoked))

    consumer.subscribe(o.topics.split(","), listener=Listener())
    while not commands.closing.is_set():
        while (c := commands.next()) is not None:
            if pace.obey(*c):
                continue
            if c[0] == "stall":
                commands.work(int(c[1]))
                say("stalled")
            elif c[0] == "subscribe":
                consumer.subscribe(c[1].split(","), listener=Listener())
            else:
                raise ValueError(f"unknown command {c[0]}")
        try:
            records = [r for batch in consumer.poll(200).values() for r in batch]
            for _ in records:
                if commands.closing.is_set():
                    break
                commands.work(pace.per_record)
            if records:
                commands.work(pace.per_poll)
                if pace.commit in ("sync", "record"):
                    consumer.commit()
        except KafkaError as e:
            say("commit-failed", message=str(e))
    consumer.close()


async def aio(o, commands, pace):
    from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener
    from aiokafka.errors import KafkaError

    conf = {
        "bootstrap_servers": o.bootstrap.split(","),
        "group_id": o.group,
        "auto_offset_reset": "earliest",
        "enable_auto_commit": o.commit == "auto",
    }
    for key, value in {
        "client_id": o.client_id,
        "group_instance_id": o.instance_id,
        "session_timeout_ms": o.session,
        "heartbeat_interval_ms": o.heartbeat,
        "max_poll_interval_ms": o.max_poll,
        "max_poll_records": o.max_records,
        **{k: convert(v) for k, v in o.extra.items()},
    }.items():
        if value is not None:
            conf[key] = value
    consumer = AIOKafkaConsumer(**conf)

    class Listener(ConsumerRebalanceListener):
        async def on_partitions_assigned(self, assigned):
            say("assigned", partitions=names(assigned), added=names(assigned))

        async def on_partitions_revoked(self, revoked):
            say("revoked", partitions=names(revoked))

    async def work(millis):
        """An awaited stall: heartbeats and commits go on. `block` stops the event loop instead."""
        end = time.monotonic() + millis / 1000
        while time.monotonic() < end and not commands.closing.is_set():
            await asyncio.sleep(min(0.05, max(0, end - time.monotonic())))

    consumer.subscribe(o.topics.split(","), listener=Listener())
    await consumer.start()
    try:
        while not commands.closing.is_set():
            while (c := commands.next()) is not None:
                if pace.obey(*c):
                    continue
                if c[0] == "stall":
                    await work(int(c[1]))
                    say("stalled")
                elif c[0] == "block":
                    commands.work(int(c[1]))
                    say("stalled")
                elif c[0] == "subscribe":
                    consumer.subscribe(c[1].split(","), listener=Listener())
                else:
                    raise ValueError(f"unknown command {c[0]}")
            try:
                batches = await consumer.getmany(timeout_ms=200)
                count = sum(len(b) for b in batches.values())
                await work(pace.per_record * count)
                if count:
                    await work(pace.per_poll)
                    if pace.commit in ("sync", "record"):
                        await consumer.commit()
            except KafkaError as e:
                say("commit-failed", message=repr(e))
    finally:
        await consumer.stop()


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--client", required=True, choices=["confluent", "kafka-python", "aiokafka"])
    for name in ("bootstrap", "group", "topics"):
        p.add_argument("--" + name, required=True)
    for name in ("client-id", "instance-id", "assignor", "protocol", "rack"):
        p.add_argument("--" + name)
    for name in ("session", "heartbeat", "max-poll", "max-records"):
        p.add_argument("--" + name, type=int)
    p.add_argument("--commit", default="auto", choices=["auto", "sync", "record", "none"])
    p.add_argument("--per-poll", type=int, default=0)
    p.add_argument("--per-record", type=int, default=0)
    p.add_argument("--log", help="level of the client's own log, on standard error")
    p.add_argument("-X", dest="extra", action="append", default=[], metavar="KEY=VALUE")
    o = p.parse_args()
    o.extra = dict(pair.split("=", 1) for pair in o.extra)
    if o.log:
        logging.basicConfig(level=o.log.upper(), format="%(asctime)s %(levelname)s %(name)s %(message)s")
    commands, pace = Commands(), Pace(o)
    try:
        if o.client == "confluent":
            confluent(o, commands, pace)
        elif o.client == "kafka-python":
            kafka_python(o, commands, pace)
        else:
            asyncio.run(aio(o, commands, pace))
    except Exception as e:
        say("error", message=repr(e))
        raise
    say("closed")


if __name__ == "__main__":
    main()
