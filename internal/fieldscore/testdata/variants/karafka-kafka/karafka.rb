class KarafkaApp < Karafka::App
  setup do |config|
    config.kafka = { 'bootstrap.servers': 'kafka:9092', 'max.poll.interval.ms': 300_000 }
    config.group_id = 'app'
  end
end
