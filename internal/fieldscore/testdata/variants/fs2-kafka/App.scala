import fs2.kafka._
val settings = ConsumerSettings[IO, String, String].withBootstrapServers("k:9092").withGroupId("g")
  .withSessionTimeout(10.seconds).withHeartbeatInterval(10.seconds)
