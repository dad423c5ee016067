@KafkaListener(topics = "T2", groupId = "G1")
public void listen(String event) {
