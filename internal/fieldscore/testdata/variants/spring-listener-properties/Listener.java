@Component
public class Listener {
    @KafkaListener(topics = "orders", groupId = "billing",
        properties = {"max.poll.interval.ms:60000", "max.poll.records=10"})
    public void on(Order o) { service.bill(o); }
}
