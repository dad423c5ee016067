@Bean(name = KafkaStreamsDefaultConfiguration.DEFAULT_STREAMS_CONFIG_BEAN_NAME)
  public StreamsConfig kStreamsConfigs() {
    Map<String, Object> props = new HashMap<>();
    props.put(StreamsConfig.APPLICATION_ID_CONFIG, "png-receiver");
    return new StreamsConfig(props);
  }

@Bean
  public KStreamBuilderFactoryBean kStreamBuilderFactoryBean() {
    return new KStreamBuilderFactoryBean(kStreamsConfigs());
  }

@Bean
  public KStreamBuilderFactoryBean anotherKStreamBuilderFactoryBean() {
    return new KStreamBuilderFactoryBean(kStreamsConfigs());
  }
