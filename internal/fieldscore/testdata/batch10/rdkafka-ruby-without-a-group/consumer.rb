config = {
  :"bootstrap.servers" => "b-1.example.com:9196,b-2.example.com:9196,b-3.example.com:9196",
  :'sasl.mechanisms'   => 'SCRAM-SHA-512',
  :'sasl.username'     => 'xxxx',
  :'sasl.password'     => 'xxxxxxxx',
  :'security.protocol' => 'SASL_SSL'
}
consumer = Rdkafka::Config.new(config).consumer
consumer.subscribe("QQQ")
