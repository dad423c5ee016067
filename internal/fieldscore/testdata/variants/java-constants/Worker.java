import org.apache.kafka.clients.consumer.ConsumerConfig;

public class Worker {
    private static final int MAX_POLL_RECORDS = 100;
    private static final int POLL_INTERVAL = 60 * 1000;

    Properties config() {
        Properties p = new Properties();
        p.put(ConsumerConfig.GROUP_ID_CONFIG, "work");
        p.put(ConsumerConfig.MAX_POLL_RECORDS_CONFIG, MAX_POLL_RECORDS);
        p.put(ConsumerConfig.MAX_POLL_INTERVAL_MS_CONFIG, POLL_INTERVAL);
        return p;
    }
}
