var config = new ConsumerConfig
{
    GroupId = "g",
    MaxPollIntervalMs = (int)TimeSpan.FromMinutes(1).TotalMilliseconds,
};
