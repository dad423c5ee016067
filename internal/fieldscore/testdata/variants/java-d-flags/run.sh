#!/bin/sh
exec java -Xmx1g -Dspring.kafka.consumer.group-id=g -Dspring.kafka.consumer.properties.session.timeout.ms=5000 -jar app.jar
