<?php
$consumer = Kafka::consumer(['t'], 'g')->withOptions([
    'session.timeout.ms' => 10000,
    'max.poll.interval.ms' => 5000,
])->build();
