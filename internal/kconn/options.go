package kconn

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/sasl"
)

// Options is what a user has said about the cluster. The strings are those of the
// command line: leave them empty where a flag was not given, the environment
// (KGDIAG_BOOTSTRAP_SERVER, KGDIAG_COMMAND_CONFIG, KGDIAG_CONTEXT,
// KGDIAG_BROKER_MAP, KGDIAG_X, KAFKA_BOOTSTRAP_SERVERS, and KGDIAG_<KEY> or
// KGDIAG_<KEY>_FILE for each connecting key) is read here, because a flag ranks
// above it and has to be told from it.
type Options struct {
	Bootstrap     string        // --bootstrap-server: host[:port], comma separated
	CommandConfig string        // --command-config: path
	X             []string      // -X: key=value
	Context       string        // --context: name
	BrokerMap     string        // --broker-map: ID=HOST:PORT,… or one HOST:PORT
	Timeout       time.Duration // --timeout: for a request; 0 means DefaultTimeout
	Debug         io.Writer     // --debug: the client's log, without payloads; nil for none

	Getenv  func(string) string // nil means no environment
	Home    string              // the user's home directory, for contexts and ~/; "" for none
	Version string              // of kgdiag, for the client id and software version

	// Prompt asks for a secret on the terminal, without echo; nil where there is
	// no terminal, and a missing secret is then an error.
	Prompt func(label string) (string, error)
}

// DefaultTimeout bounds a request; a sixth of the timeout bounds reaching a broker.
const DefaultTimeout = 30 * time.Second

// Config is a resolved connection. It prints without secrets.
type Config struct {
	Bootstrap string // the addresses that will be dialled, comma separated
	Source    string // what named them: "--bootstrap-server", "context prod", "client.properties:1", …
	Context   string // the name of the context, or ""

	Protocol  string // PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL
	Mechanism string // the SASL mechanism, or ""
	User      string // the user name for PLAIN and SCRAM, or ""

	seeds    []string
	settings settings
	tls      *tls.Config // nil for plaintext
	sasl     []sasl.Mechanism
	brokers  brokerMap
	timeout  time.Duration
	debug    io.Writer
	version  string
	proxy    *proxy
	book     *book         // shared by the clients of this Config
	subject  func() string // of the OAuth token; nil for other mechanisms
}

// String names the cluster and how it is spoken to, without secrets.
func (c Config) String() string {
	s := c.Bootstrap + " " + c.Protocol
	if c.Mechanism != "" {
		s += " " + c.Mechanism
	}
	return s
}

// GoString is String: %#v must not print secrets either.
func (c Config) GoString() string { return c.String() }

// Timeout bounds a request, in whole.
func (c Config) Timeout() time.Duration { return c.timeout }

// BrokerTimeout bounds reaching one broker: 5s at the default timeout of 30s,
// and a sixth of any other.
func (c Config) BrokerTimeout() time.Duration { return c.timeout / 6 }

type resolver struct {
	opt      Options
	settings settings
	warnings []string
	unknown  map[string]bool
}

func (r *resolver) getenv(name string) string {
	if r.opt.Getenv == nil {
		return ""
	}
	return r.opt.Getenv(name)
}

func (r *resolver) warn(format string, args ...any) {
	w := fmt.Sprintf(format, args...)
	if !slices.Contains(r.warnings, w) {
		r.warnings = append(r.warnings, w)
	}
}

// Resolve finds out which cluster is meant and how to speak to it. It reads
// files and dials nothing. A cluster named on the command line (-b, --context,
// --command-config, in this order) outranks every environment variable; then
// KGDIAG_*, then KAFKA_BOOTSTRAP_SERVERS, then the default context. Single
// settings: -X over environment over file over context. The warnings are for
// stderr, one line each. Errors are *Error with Usage() true.
func Resolve(opt Options) (Config, []string, error) {
	r := &resolver{opt: opt, settings: make(settings), unknown: make(map[string]bool)}
	c, err := r.resolve()
	return c, r.warnings, err
}

func (r *resolver) resolve() (Config, error) {
	c := Config{timeout: r.opt.Timeout, debug: r.opt.Debug, version: r.opt.Version, book: newBook()}
	if c.timeout <= 0 {
		c.timeout = DefaultTimeout
	}
	if err := r.chooseCluster(&c); err != nil {
		return Config{}, err
	}
	c.settings = r.settings
	for _, step := range []func(*Config) error{r.addresses, r.protocol, r.buildTLS, r.buildSASL, r.network} {
		if err := step(&c); err != nil {
			return Config{}, err
		}
	}
	return c, nil
}

// candidate is one source that names a cluster.
type candidate struct {
	name    string // for messages
	servers string
}

// chooseCluster reads every source in rank order and takes the first that names
// a cluster.
func (r *resolver) chooseCluster(c *Config) error {
	contexts, err := r.loadContexts()
	if err != nil {
		return err
	}
	flagContext, envContext := r.opt.Context, r.getenv("KGDIAG_CONTEXT")
	if flagContext != "" || envContext != "" {
		r.loadNeighbours(&contexts) // never by default: only a name picks one of theirs
	}
	fileFlag, fileEnv := r.opt.CommandConfig, r.getenv("KGDIAG_COMMAND_CONFIG")

	// -X and the file are read first: both can name a cluster. A file that only the
	// environment names lends its settings to -b, as it does in Apache's tools, but
	// not to a context of another name.
	if err := r.loadX(r.opt.X, layerFlag, "-X"); err != nil {
		return err
	}
	xServers := r.settings.get("bootstrap.servers")
	delete(r.settings, "bootstrap.servers")
	if err := r.loadEnv(); err != nil {
		return err
	}
	envX := r.settings.get("bootstrap.servers")
	delete(r.settings, "bootstrap.servers")
	fileServers, fileOrigin, err := r.fileServers(fileFlag, fileEnv, flagContext)
	if err != nil {
		return err
	}

	var cands []candidate
	add := func(name, servers string) {
		if strings.TrimSpace(servers) != "" {
			cands = append(cands, candidate{name: name, servers: servers})
		}
	}
	ctxServers := func(name, by string) error {
		if name == "" {
			return nil
		}
		ctx, err := contexts.find(name, by)
		if err == nil {
			add("context "+name, ctx.servers())
		}
		return err
	}
	add("--bootstrap-server", r.opt.Bootstrap)
	add("-X bootstrap.servers", xServers)
	if err := ctxServers(flagContext, "--context"); err != nil {
		return err
	}
	if fileFlag != "" {
		add(fileOrigin, fileServers)
	}
	add("KGDIAG_BOOTSTRAP_SERVER", r.getenv("KGDIAG_BOOTSTRAP_SERVER"))
	add("KGDIAG_BOOTSTRAP_SERVERS", r.getenv("KGDIAG_BOOTSTRAP_SERVERS"))
	add("KGDIAG_X", envX)
	if flagContext == "" {
		if err := ctxServers(envContext, "KGDIAG_CONTEXT"); err != nil {
			return err
		}
	}
	if fileFlag == "" {
		add(fileOrigin, fileServers)
	}
	add("KAFKA_BOOTSTRAP_SERVERS", r.getenv("KAFKA_BOOTSTRAP_SERVERS"))
	if flagContext == "" && envContext == "" {
		if err := ctxServers(contexts.current, contexts.path); err != nil {
			return err
		}
	}
	if len(cands) == 0 {
		return r.noCluster(contexts, fileFlag, fileEnv)
	}
	chosen := cands[0]
	c.Bootstrap, c.Source = chosen.servers, chosen.name
	name := firstOf(flagContext, envContext, contexts.current)
	r.warnOther(cands, name, flagContext != "")
	return r.applyContext(c, contexts, name, flagContext != "")
}

// fileServers loads the properties file that counts and returns the servers that
// it names, with file and line.
func (r *resolver) fileServers(fileFlag, fileEnv, flagContext string) (servers, origin string, err error) {
	path, from := fileFlag, "--command-config"
	if path == "" {
		path, from = fileEnv, "KGDIAG_COMMAND_CONFIG"
	}
	if path == "" {
		return "", "", nil
	}
	if fileFlag == "" && flagContext != "" {
		r.warn("KGDIAG_COMMAND_CONFIG=%s is not used: --context %s brings its own settings", path, flagContext)
		return "", "", nil
	}
	if err := r.loadProperties(path, from, layerFile); err != nil {
		return "", "", err
	}
	s := r.settings["bootstrap.servers"]
	delete(r.settings, "bootstrap.servers")
	return s.value, s.origin, nil
}

// warnOther says which of several sources that name different clusters was
// taken. The default context is meant to be overridden and is not mentioned.
func (r *resolver) warnOther(cands []candidate, contextName string, contextByFlag bool) {
	for _, o := range cands[1:] {
		if sameCluster(cands[0].servers, o.servers) {
			continue
		}
		if o.name == "context "+contextName && !contextByFlag && r.getenv("KGDIAG_CONTEXT") == "" {
			continue
		}
		r.warn("cluster %s, as %s says; %s says %s", cands[0].servers, cands[0].name, o.name, o.servers)
		return
	}
}

// applyContext takes the settings of the context in force. A context that only
// the environment or the configuration file picks does not lend its credentials
// to another cluster that the command line names.
func (r *resolver) applyContext(c *Config, contexts contexts, name string, byFlag bool) error {
	if name == "" {
		return nil
	}
	ctx, err := contexts.find(name, "--context")
	if err != nil {
		return err
	}
	same := sameCluster(c.Bootstrap, ctx.servers()) && r.opt.CommandConfig == ""
	if !byFlag && c.Source != "context "+name && !same {
		return nil
	}
	c.Context = name
	return r.loadContext(ctx)
}

func (r *resolver) noCluster(contexts contexts, fileFlag, fileEnv string) error {
	none := func(hint, format string, args ...any) error {
		e := usagef(hint, format, args...)
		e.Kind = KindNoCluster
		return e
	}
	hint := "-b HOST:PORT, --command-config FILE with bootstrap.servers, or KAFKA_BOOTSTRAP_SERVERS"
	if f := firstOf(fileFlag, fileEnv); f != "" {
		return none("add bootstrap.servers=HOST:PORT to it, or -b HOST:PORT", "no cluster named: %s has no bootstrap.servers", f)
	}
	r.loadNeighbours(&contexts)
	if names := contexts.names(); len(names) > 0 {
		hint += "\n--context " + strings.Join(names, ", --context ")
	}
	return none(hint, "no cluster named, and kgdiag guesses none")
}

func firstOf(s ...string) string {
	for _, v := range s {
		if v != "" {
			return v
		}
	}
	return ""
}

// sameCluster compares two server lists: one address in common makes them one.
func sameCluster(a, b string) bool {
	as, errA := splitServers(a)
	bs, errB := splitServers(b)
	if errA != nil || errB != nil {
		return a == b
	}
	return slices.ContainsFunc(as, func(s string) bool { return slices.Contains(bs, s) })
}

// splitServers cuts and checks a list of host[:port]; a missing port is 9092, as
// in librdkafka (Java refuses such an address).
func splitServers(list string) ([]string, error) {
	var out []string
	for _, s := range strings.Split(list, ",") {
		s = strings.TrimSpace(s)
		if s == "" {
			continue
		}
		if i := strings.Index(s, "://"); i >= 0 {
			// PLAINTEXT://host:port is how listeners are written on brokers.
			s = s[i+3:]
		}
		host, port, err := net.SplitHostPort(s)
		if err != nil {
			if strings.Count(s, ":") > 1 && !strings.HasPrefix(s, "[") {
				return nil, fmt.Errorf("%q: an IPv6 address with its port is written [::1]:9092", s)
			}
			host, port = strings.Trim(s, "[]"), "9092"
		}
		if host == "" {
			return nil, fmt.Errorf("%q: the host is missing", s)
		}
		if n, err := net.LookupPort("tcp", port); err != nil || n == 0 || strings.Trim(port, "0123456789") != "" {
			return nil, fmt.Errorf("%q: %q is no port", s, port)
		}
		if strings.ContainsAny(host, " \t/\\@?#") {
			return nil, fmt.Errorf("%q: %q is no host", s, host)
		}
		out = append(out, net.JoinHostPort(host, port))
	}
	return out, nil
}

func (r *resolver) addresses(c *Config) error {
	seeds, err := splitServers(c.Bootstrap)
	if err == nil && len(seeds) == 0 {
		err = fmt.Errorf("%q names no host", c.Bootstrap)
	}
	if err != nil {
		return usagef("addresses are HOST:PORT, several are separated by commas", "%s: %w", c.Source, err)
	}
	c.seeds = seeds
	c.Bootstrap = strings.Join(seeds, ",")
	return nil
}

func (r *resolver) protocol(c *Config) error {
	s := r.settings["security.protocol"]
	p := strings.ToUpper(s.value)
	if p == "" {
		p = "PLAINTEXT"
		if k := r.settings.higher("sasl.mechanism", "sasl.jaas.config", "sasl.username", "ssl.truststore.location", "ssl.keystore.location", "ssl.ca.location", "ssl.truststore.certificates"); k != "" {
			r.warn("%s is set and security.protocol is not: the connection is PLAINTEXT, as Kafka's own clients have it; add security.protocol=SSL, SASL_SSL or SASL_PLAINTEXT", r.settings[k].where())
		}
	}
	switch p {
	case "PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL":
		c.Protocol = p
		return nil
	case "TLS":
		return usagef("security.protocol=SSL is what Kafka calls TLS", "%s: %q is no protocol", s.where(), s.value)
	}
	return usagef("PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL", "%s: %q is no protocol", s.where(), s.value)
}
