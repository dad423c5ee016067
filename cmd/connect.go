package cmd

// configured says which cluster the environment and the default context name, for
// the bare command; it asks no network.
func (a *app) configured() string {
	if b := a.getenv("KAFKA_BOOTSTRAP_SERVERS"); b != "" {
		return "cluster: " + b + " (from KAFKA_BOOTSTRAP_SERVERS)"
	}
	return "no cluster is configured: add -b HOST:PORT, or --command-config FILE"
}
