class CommentsConsumer < Racecar::Consumer
  subscribes_to "comments"

  def process(message)
    puts "Received message: #{message.value}"
    sleep 1
    puts "Processed message: #{message.value}"
  end
end
