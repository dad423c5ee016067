k.TopicEndpoint<Order>("orders", "g", e =>
{
    e.SessionTimeout = TimeSpan.FromSeconds(10);
    e.HeartbeatInterval = TimeSpan.FromSeconds(10);
});
