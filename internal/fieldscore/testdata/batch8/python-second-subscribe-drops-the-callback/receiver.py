def receive_msgs(self)-> Union[Text, pd.DataFrame]:
    running = True
    c = self.consumer
    if self.need_assign_:
        try:
            c.subscribe([self.topic], on_assign= self._on_assign)
        except KafkaException as e:
            pprint(e)
    c.subscribe([self.topic])
