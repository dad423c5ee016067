@KafkaListener(topics = "T1", groupId = "G1")
public void listen(String event) {
