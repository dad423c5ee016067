package realtest

// Kafka is what scripts/compat found at one version of the brokers.
type Kafka struct {
	Version string  `json:"version"` // of the brokers, such as 4.1.1
	Brokers int     `json:"brokers"`
	Groups  []Sight `json:"groups"`
	// Causes counts the faults done to groups there, by what history said of them: right, hedged, unknown or wrong.
	Causes map[string]int `json:"causes"`
	// Passed and Failed are the tests of the suite on real brokers, by name.
	Passed []string `json:"-"`
	Failed []string `json:"-"`
}

// Sight is what the commands saw of one kind of group.
type Sight struct {
	Kind   string `json:"kind"`   // classic, consumer, share, streams or empty
	Client string `json:"client"` // that the members ran, or who committed
	// Missing names for each command what it did not show of that group, with the reason that it gave; a command that showed all has an empty list.
	Missing map[string][]string `json:"missing"`
}
