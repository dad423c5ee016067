consumer = kafka.consumer(group_id: "billing-consumer")

register_topics.each do |topic, data|
  consumer.subscribe(topic)
  topic_router[topic] = data
end

begin
  consumer.each_message do |message|
    handle(message)
  end
rescue Exception => e
  raise "Error! failed processing message: #{e.message}"
end
