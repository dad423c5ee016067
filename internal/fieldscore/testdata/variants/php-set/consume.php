<?php
$conf = new RdKafka\Conf();
$conf->set('group.id', 'g');
$conf->set('session.timeout.ms', '10000');
$conf->set('max.poll.interval.ms', '5000');
$consumer = new RdKafka\KafkaConsumer($conf);
