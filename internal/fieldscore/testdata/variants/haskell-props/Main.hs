consumerProps = brokersList ["k:9092"] <> groupId "g"
  <> extraProp "session.timeout.ms" "10000" <> extraProp "heartbeat.interval.ms" "10000"
