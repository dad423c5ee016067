<?php
        $conf = new Conf();
        $conf->set("group.id", "groupTest");
        $conf->set("offset.store.method", "broker");
        $conf->set("metadata.broker.list", "10.0.0.203:9092");
        $topicConf = new TopicConf();
        $topicConf->set("auto.offset.reset", "largest");
        $conf->setDefaultTopicConf($topicConf);
        $consumer = new KafkaConsumer($conf);
        $consumer->subscribe(["queueTest"]);
        $msg = $consumer->consume(3600e3);
