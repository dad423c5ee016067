.AddConsumer(consumer => consumer
    .Topic("t").WithGroupId("g")
    .WithMaxPollIntervalMs(30000)
    .AddMiddlewares(m => m.AddTypedHandlers(h => h.AddHandler<X>())))
