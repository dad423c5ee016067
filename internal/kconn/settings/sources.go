package settings

import (
	"cmp"
	"strings"

	"github.com/kgdiag/kgdiag/internal/kconn/fault"
)

// Input is what a user has said about the cluster. The strings are those of the
// command line: leave them empty where a flag was not given, the environment is read
// here, because a flag ranks above it and has to be told from it.
type Input struct {
	Bootstrap     string   // --bootstrap-server: host[:port], comma separated
	CommandConfig string   // --command-config: path
	X             []string // -X: key=value
	Context       string   // --context: name
	BrokerMap     string   // --broker-map

	Getenv func(string) string                // nil means no environment
	Home   string                             // the user's home directory, for contexts and ~/; "" for none
	Prompt func(label string) (string, error) // asks for a secret on the terminal; nil where there is none
}

// Cluster is the cluster that is meant.
type Cluster struct {
	Servers string // as its source has them
	Source  string // what named it: "--bootstrap-server", "context prod", "client.properties:1", …
	Context string // the name of the context whose settings count, or ""
}

// source is one place where values stand.
type source struct {
	name  string
	read  func(*Settings, contexts) (said, error)
	quiet bool // that another source outranks it is not worth a word
}

// said is what one source says.
type said struct {
	values  []Setting
	cluster string // how messages call it as what names the cluster; "" for the origin of the value
	context string // the context that it is, or ""
	file    string // of a context: a client.properties with values below its own
}

// sources are all places where values stand, in the order in which they name the
// cluster. For every other key the highest Layer counts.
var sources = []source{
	flag("--bootstrap-server", keyServers, func(in Input) string { return in.Bootstrap }),
	flag("--broker-map", KeyBrokerMap, func(in Input) string { return in.BrokerMap }),
	{name: "-X", read: func(s *Settings, _ contexts) (said, error) {
		values, err := pairList(s.in.X, LayerFlag, "-X")
		return said{values: values, cluster: "-X bootstrap.servers"}, err
	}},
	{name: "--context", read: func(s *Settings, c contexts) (said, error) {
		return c.say(s.in.Context, "--context")
	}},
	{name: "--command-config", read: func(s *Settings, _ contexts) (said, error) {
		return s.file(s.in.CommandConfig, "--command-config")
	}},
	variable("KGDIAG_BOOTSTRAP_SERVER"),
	variable("KGDIAG_BOOTSTRAP_SERVERS"),
	{name: "KGDIAG_X", read: func(s *Settings, _ contexts) (said, error) {
		values, err := s.environment()
		return said{values: values, cluster: "KGDIAG_X"}, err
	}},
	{name: "KGDIAG_CONTEXT", read: func(s *Settings, c contexts) (said, error) {
		if s.in.Context != "" {
			return said{}, nil
		}
		return c.say(s.Getenv("KGDIAG_CONTEXT"), "KGDIAG_CONTEXT")
	}},
	{name: "KGDIAG_COMMAND_CONFIG", read: environmentFile},
	variable("KAFKA_BOOTSTRAP_SERVERS"),
	{name: "current-context", quiet: true, read: func(s *Settings, c contexts) (said, error) {
		if s.in.Context != "" || s.Getenv("KGDIAG_CONTEXT") != "" {
			return said{}, nil
		}
		return c.say(c.current, c.path)
	}},
}

// flag is a flag with a value of its own.
func flag(name, key string, value func(Input) string) source {
	return source{name: name, read: func(s *Settings, _ contexts) (said, error) {
		return one(Setting{Key: key, Value: value(s.in), Layer: LayerFlag, Origin: name}), nil
	}}
}

// variable is a variable that names the cluster.
func variable(name string) source {
	return source{name: name, read: func(s *Settings, _ contexts) (said, error) {
		return one(Setting{Key: keyServers, Value: s.Getenv(name), Layer: LayerEnv, Origin: name}), nil
	}}
}

// one is a source of a single value, which may not be given.
func one(v Setting) said {
	if v.Value == "" {
		return said{}
	}
	return said{values: []Setting{v}}
}

// environmentFile is the file that only the environment names: it lends its settings
// to -b, as it does in Apache's tools, but not to a context of another name.
func environmentFile(s *Settings, _ contexts) (said, error) {
	path := s.Getenv("KGDIAG_COMMAND_CONFIG")
	switch {
	case path == "" || s.in.CommandConfig != "":
		return said{}, nil
	case s.in.Context != "":
		s.Warn("KGDIAG_COMMAND_CONFIG=%s is not used: --context %s brings its own settings", path, s.in.Context)
		return said{}, nil
	}
	return s.file(path, "KGDIAG_COMMAND_CONFIG")
}

// Read reads every source, and finds out which cluster is meant and what counts for
// each key. It dials nothing. The Settings come with an error too, for their Warnings.
// Errors are *fault.Error with Usage() true.
func Read(in Input) (*Settings, Cluster, error) {
	s := &Settings{in: in, values: make(map[string]Setting), unknown: make(map[string]bool)}
	named, err := s.contexts()
	if err != nil {
		return s, Cluster{}, err
	}
	var all []said
	var candidates []candidate
	for _, src := range sources {
		x, err := src.read(s, named)
		if err != nil {
			return s, Cluster{}, err
		}
		servers, err := s.servers(x)
		if err != nil {
			return s, Cluster{}, err
		}
		if all = append(all, x); servers.Value != "" {
			candidates = append(candidates, candidate{cmp.Or(x.cluster, servers.Origin), servers.Value, x.context, src.quiet})
		}
	}
	if len(candidates) == 0 {
		return s, Cluster{}, s.noCluster(named)
	}
	s.warnOther(candidates)
	c := Cluster{Servers: candidates[0].servers, Source: candidates[0].name}
	for _, x := range all {
		if x.context != "" && !s.lends(x, candidates[0]) {
			continue
		}
		c.Context = cmp.Or(x.context, c.Context)
		if err := s.take(x); err != nil {
			return s, Cluster{}, err
		}
	}
	return s, c, nil
}

// candidate is one source that names a cluster.
type candidate struct {
	name    string // for messages
	servers string
	context string
	quiet   bool
}

// servers is the address list that a source names; the last one counts.
func (s *Settings) servers(x said) (Setting, error) {
	var found Setting
	for _, v := range x.values {
		if _, key, _, ok := lookupKey(strings.TrimSpace(v.Key)); !ok || key != keyServers {
			continue
		}
		value, err := s.expand(v.Value)
		if err != nil {
			return found, fault.Usagef("write the value itself, or set the variable", "%s: %w", v.Where(), err)
		}
		if v.Value = strings.TrimSpace(value); v.Value != "" {
			found = v
		}
	}
	return found, nil
}

// lends reports whether the settings of a context count. A context that only the
// environment or the configuration file picks does not lend its credentials to
// another cluster that the command line names.
func (s *Settings) lends(x said, chosen candidate) bool {
	if x.context == s.in.Context || x.context == chosen.context {
		return true
	}
	own, err := s.servers(x)
	return err == nil && s.in.CommandConfig == "" && sameCluster(chosen.servers, own.Value)
}

// take adds what a source says, but for the cluster.
func (s *Settings) take(x said) error {
	values := x.values
	if x.file != "" {
		below, err := s.properties(x.file, "context "+x.context, LayerContextFile)
		if err != nil {
			return err
		}
		values = append(below, values...)
	}
	for _, v := range values {
		if err := s.add(v); err != nil {
			return err
		}
	}
	return nil
}

// warnOther says which of several sources that name different clusters was taken.
func (s *Settings) warnOther(cands []candidate) {
	for _, o := range cands[1:] {
		if !o.quiet && !sameCluster(cands[0].servers, o.servers) {
			s.Warn("cluster %s, as %s says; %s says %s", WithoutUser(cands[0].servers), cands[0].name, o.name, WithoutUser(o.servers))
			return
		}
	}
}

func (s *Settings) noCluster(named contexts) error {
	none := func(hint, format string, args ...any) error {
		e := fault.Usagef(hint, format, args...)
		e.Kind = fault.NoCluster
		return e
	}
	if f := cmp.Or(s.in.CommandConfig, s.Getenv("KGDIAG_COMMAND_CONFIG")); f != "" {
		return none("add bootstrap.servers=HOST:PORT to it, or -b HOST:PORT", "no cluster named: %s has no bootstrap.servers", f)
	}
	hint := "-b HOST:PORT, --command-config FILE with bootstrap.servers, or KAFKA_BOOTSTRAP_SERVERS"
	if names := named.names(); len(names) > 0 {
		hint += "\n--context " + strings.Join(names, ", --context ")
	}
	return none(hint, "no cluster named, and kgdiag guesses none")
}
