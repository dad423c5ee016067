@KafkaListener(groupId = "g", properties = @Property(name = ConsumerConfig.MAX_POLL_INTERVAL_MS_CONFIG, value = "30000"))
public class L { @Topic("t") void on(String s) {} }
