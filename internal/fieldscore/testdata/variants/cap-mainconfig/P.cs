services.AddCap(x => x.UseKafka(opt => {
    opt.Servers = "k:9092";
    opt.MainConfig.Add("session.timeout.ms", "10000");
    opt.MainConfig["heartbeat.interval.ms"] = "10000";
}));
