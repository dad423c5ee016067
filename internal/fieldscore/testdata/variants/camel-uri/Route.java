public class Route extends RouteBuilder {
  public void configure() {
    from("kafka:orders?brokers=k:9092&groupId=g&sessionTimeoutMs=10000&heartbeatIntervalMs=10000").to("log:x");
  }
}
