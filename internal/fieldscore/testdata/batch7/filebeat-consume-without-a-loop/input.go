package kafka

func (input *kafkaInput) runConsumerGroup(
	context context.Context, consumerGroup sarama.ConsumerGroup,
) {
	handler := &groupHandler{
		version: input.config.Version,
		outlet:  input.outlet,
		// expandEventListFromField will be assigned the configuration option expand_event_list_from_field
		expandEventListFromField: input.config.ExpandEventListFromField,
		log:                      input.log,
	}

	input.saramaWaitGroup.Add(1)
	defer func() {
		consumerGroup.Close()
		input.saramaWaitGroup.Done()
	}()

	// Listen asynchronously to any errors during the consume process
	go func() {
		for err := range consumerGroup.Errors() {
			input.log.Errorw("Error reading from kafka", "error", err)
		}
	}()

	err := consumerGroup.Consume(context, input.config.Topics, handler)
	if err != nil {
		input.log.Errorw("Kafka consume error", "error", err)
	}
}
