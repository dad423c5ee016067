@Bean
DefaultErrorHandler errorHandler(KafkaTemplate<String, String> template) {
    return new DefaultErrorHandler(new DeadLetterPublishingRecoverer(template), new FixedBackOff(15000L, 4L));
}
