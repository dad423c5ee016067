@Service
@Slf4j
public class EventConsumer {

    @KafkaListener(topics = {"test"})
    public void consume(ConsumerRecord<String, String> record) {
        log.warn("监听到 topic：{}， 的消息内容为：{}", record.topic(), record.value());
    }
}
