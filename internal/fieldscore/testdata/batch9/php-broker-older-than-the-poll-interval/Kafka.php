<?php

namespace App\EventBus;

use RdKafka\Conf;
use RdKafka\KafkaConsumer;

class Kafka
{
    public static function consumer(string $topic, string $group, $handler, string $instance = '')
    {
        $conf = new Conf();

        $conf->setRebalanceCb(function (KafkaConsumer $kafka, $err, array $partitions = null) {
            switch($err) {
                case RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS:
                    $kafka->assign($partitions);
                    break;

                case RD_KAFKA_RESP_ERR__REVOKE_PARTITIONS:
                    $kafka->assign(null);
                    break;

                default:
                    throw new \Exception($err);
            }
        });

        $conf->set('group.id', $group);
        $conf->set('metadata.broker.list', config("kafka.$instance"));
        $conf->set('auto.offset.reset', 'smallest');
        // $conf->set('max.poll.interval.ms', '10000');

        $consumer = new KafkaConsumer($conf);
        $consumer->subscribe([$topic]);

        while(true) {
            $message = $consumer->consume(120 * 1000);
            switch($message->err) {
                case RD_KAFKA_RESP_ERR_NO_ERROR:
                    $handler($message->payload);
                    break;
                case RD_KAFKA_RESP_ERR__PARTITION_EOF:
                    break;
                case RD_KAFKA_RESP_ERR__TIMED_OUT:
                    break;
                default:
                    throw new \Exception($message->errstr(), $message->err);
                    break;
            }
        }
    }
}
