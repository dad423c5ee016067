#!/bin/sh
kcat -b k:9092 -G g -X session.timeout.ms=6000 -X max.poll.interval.ms=5000 orders
