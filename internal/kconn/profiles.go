package kconn

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"go.yaml.in/yaml/v3"
)

// profile is a cluster in the configuration of a neighbour, in kgdiag's terms.
type profile struct {
	name      string
	brokers   []string
	protocol  string // security.protocol, where the neighbour has it
	useTLS    bool
	ca        string
	cert, key string
	insecure  bool
	mechanism string // as Kafka spells it; "" for none
	user      string
	password  string
	extra     map[string]string // further keys
	unusable  string            // why it cannot be used here
}

// neighbour is a tool with named clusters of its own. Their files are read, never
// written, and a file that cannot be read is passed over: it is not kgdiag's.
type neighbour struct {
	name  string
	paths func(r *resolver) []string // the first that is there counts
	parse func([]byte) ([]profile, error)
}

var neighbours = []neighbour{
	{"kaf", func(r *resolver) []string { return r.homes(".kaf/config") }, parseKaf},
	{"kafkactl", func(r *resolver) []string {
		return append([]string{r.getenv("KAFKA_CTL_CONFIG")}, append(r.homes(".config/kafkactl/config.yml", ".kafkactl/config.yml"), "/etc/kafkactl/config.yml")...)
	}, parseKafkactl},
	{"kcl", func(r *resolver) []string {
		return append([]string{r.getenv("KCL_CONFIG_PATH")}, r.homes(".config/kcl/config.toml", "Library/Application Support/kcl/config.toml")...)
	}, parseKcl},
	{"rpk", func(r *resolver) []string {
		return append([]string{r.getenv("RPK_CONFIG")}, r.homes(".config/rpk/rpk.yaml", "Library/Application Support/rpk/rpk.yaml")...)
	}, parseRpk},
}

func (r *resolver) homes(paths ...string) []string {
	if r.opt.Home == "" {
		return nil
	}
	var out []string
	for _, p := range paths {
		out = append(out, filepath.Join(r.opt.Home, filepath.FromSlash(p)))
	}
	return out
}

// loadNeighbours adds the clusters of neighbours as TOOL/NAME.
func (r *resolver) loadNeighbours(c *contexts) {
	for _, n := range neighbours {
		for _, path := range n.paths(r) {
			if path == "" {
				continue
			}
			b, err := readFile(path, 1<<20)
			if err != nil {
				continue
			}
			profiles, err := n.parse(b)
			if err != nil {
				break
			}
			for _, p := range profiles {
				c.list = append(c.list, p.context(n.name, path))
			}
			break
		}
	}
}

// context writes a profile as the settings of a context.
func (p profile) context(tool, path string) namedContext {
	out := namedContext{name: tool + "/" + p.name, origin: path, unusable: p.unusable}
	add := func(key, value string) {
		if value != "" {
			out.settings = append(out.settings, setting{key: key, value: value, origin: path + " (" + p.name + ")"})
		}
	}
	add("bootstrap.servers", strings.Join(p.brokers, ","))
	protocol := strings.ToUpper(p.protocol)
	if protocol == "" {
		secure := p.useTLS || p.ca != "" || p.cert != "" || p.insecure
		protocol = "PLAINTEXT"
		if secure {
			protocol = "SSL"
		}
		if p.mechanism != "" {
			protocol = "SASL_" + protocol
		}
	}
	add("security.protocol", protocol)
	add("ssl.ca.location", p.ca)
	add("ssl.certificate.location", p.cert)
	add("ssl.key.location", p.key)
	if p.insecure {
		add("enable.ssl.certificate.verification", "false")
	}
	add("sasl.mechanism", p.mechanism)
	add("sasl.username", p.user)
	add("sasl.password", p.password)
	for _, k := range slices.Sorted(maps.Keys(p.extra)) {
		add(k, p.extra[k])
	}
	return out
}

// mechanismName writes a mechanism as Kafka does; the tools spell it in many ways.
func mechanismName(s string) string {
	switch norm := strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(s)); norm {
	case "":
		return ""
	case "plain", "plaintext":
		return mechPlain
	case "scramsha256":
		return mechScram256
	case "scramsha512":
		return mechScram512
	case "awsmskiam":
		return mechMSKIAM
	case "oauth", "oauthbearer":
		return mechOAuthBearer
	}
	return strings.ToUpper(s)
}

func parseKaf(b []byte) ([]profile, error) {
	var f struct {
		Clusters []struct {
			Name     string   `yaml:"name"`
			Brokers  []string `yaml:"brokers"`
			Protocol string   `yaml:"security-protocol"`
			SASL     *struct {
				Mechanism    string   `yaml:"mechanism"`
				Username     string   `yaml:"username"`
				Password     string   `yaml:"password"`
				ClientID     string   `yaml:"clientID"`
				ClientSecret string   `yaml:"clientSecret"`
				TokenURL     string   `yaml:"tokenURL"`
				Scopes       []string `yaml:"scopes"`
				Token        string   `yaml:"token"`
			} `yaml:"SASL"`
			TLS *struct {
				Cafile        string `yaml:"cafile"`
				Clientfile    string `yaml:"clientfile"`
				Clientkeyfile string `yaml:"clientkeyfile"`
				Insecure      bool   `yaml:"insecure"`
			} `yaml:"TLS"`
		} `yaml:"clusters"`
	}
	if err := yaml.Unmarshal(b, &f); err != nil {
		return nil, err
	}
	var out []profile
	for _, c := range f.Clusters {
		p := profile{name: c.Name, brokers: c.Brokers, protocol: c.Protocol}
		if c.TLS != nil {
			p.useTLS, p.ca, p.cert, p.key, p.insecure = true, c.TLS.Cafile, c.TLS.Clientfile, c.TLS.Clientkeyfile, c.TLS.Insecure
		}
		if s := c.SASL; s != nil {
			p.mechanism, p.user, p.password = mechanismName(s.Mechanism), s.Username, s.Password
			if p.mechanism == mechOAuthBearer {
				p.extra = map[string]string{"sasl.oauthbearer.token.endpoint.url": s.TokenURL, "sasl.oauthbearer.client.credentials.client.id": s.ClientID,
					"sasl.oauthbearer.client.credentials.client.secret": s.ClientSecret, "sasl.oauthbearer.scope": strings.Join(s.Scopes, " ")}
				if s.Token != "" && s.TokenURL == "" {
					p.unusable = "its token stands in the file itself; kgdiag reads tokens from an endpoint or a file of their own"
				}
			}
		}
		out = append(out, p)
	}
	return out, nil
}

func parseKafkactl(b []byte) ([]profile, error) {
	var f struct {
		Contexts map[string]struct {
			Brokers []string `yaml:"brokers"`
			TLS     struct {
				Enabled  bool   `yaml:"enabled"`
				CA       string `yaml:"ca"`
				Cert     string `yaml:"cert"`
				CertKey  string `yaml:"certKey"`
				Insecure bool   `yaml:"insecure"`
			} `yaml:"tls"`
			SASL struct {
				Enabled   bool   `yaml:"enabled"`
				Username  string `yaml:"username"`
				Password  string `yaml:"password"`
				Mechanism string `yaml:"mechanism"`
			} `yaml:"sasl"`
			Kubernetes struct {
				Enabled bool `yaml:"enabled"`
			} `yaml:"kubernetes"`
		} `yaml:"contexts"`
	}
	if err := yaml.Unmarshal(b, &f); err != nil {
		return nil, err
	}
	var out []profile
	for _, name := range slices.Sorted(maps.Keys(f.Contexts)) {
		c := f.Contexts[name]
		p := profile{name: name, brokers: c.Brokers}
		if c.TLS.Enabled {
			p.useTLS, p.ca, p.cert, p.key, p.insecure = true, c.TLS.CA, c.TLS.Cert, c.TLS.CertKey, c.TLS.Insecure
		}
		if c.SASL.Enabled {
			p.mechanism, p.user, p.password = mechanismName(firstOf(c.SASL.Mechanism, "plaintext")), c.SASL.Username, c.SASL.Password
			if p.mechanism == mechOAuthBearer {
				p.unusable = "its token comes from a plugin of kafkactl"
			}
		}
		if c.Kubernetes.Enabled {
			p.unusable = "it runs inside a pod; here: kubectl port-forward and --broker-map"
		}
		out = append(out, p)
	}
	return out, nil
}

func parseRpk(b []byte) ([]profile, error) {
	var f struct {
		Profiles []struct {
			Name     string `yaml:"name"`
			KafkaAPI struct {
				Brokers []string `yaml:"brokers"`
				TLS     *struct {
					CA       string `yaml:"ca_file"`
					OldCA    string `yaml:"truststore_file"`
					Cert     string `yaml:"cert_file"`
					Key      string `yaml:"key_file"`
					Insecure bool   `yaml:"insecure_skip_verify"`
				} `yaml:"tls"`
				SASL *struct {
					User      string `yaml:"user"`
					Password  string `yaml:"password"`
					Mechanism string `yaml:"mechanism"`
					Type      string `yaml:"type"` // its name before
				} `yaml:"sasl"`
			} `yaml:"kafka_api"`
		} `yaml:"profiles"`
	}
	if err := yaml.Unmarshal(b, &f); err != nil {
		return nil, err
	}
	var out []profile
	for _, c := range f.Profiles {
		p := profile{name: c.Name, brokers: c.KafkaAPI.Brokers}
		if t := c.KafkaAPI.TLS; t != nil {
			p.useTLS, p.ca, p.cert, p.key, p.insecure = true, firstOf(t.CA, t.OldCA), t.Cert, t.Key, t.Insecure
		}
		if s := c.KafkaAPI.SASL; s != nil {
			p.mechanism, p.user, p.password = mechanismName(firstOf(s.Mechanism, s.Type)), s.User, s.Password
			if strings.HasPrefix(s.Mechanism, "CLOUD-") {
				p.unusable = "it logs in to Redpanda Cloud with rpk's own token"
			}
		}
		out = append(out, p)
	}
	return out, nil
}

// kclProfile is a cluster of kcl: the whole file in old versions, one of
// [profiles.NAME] in new ones.
type kclProfile struct {
	SeedBrokers []string `toml:"seed_brokers"`
	TLS         *struct {
		CA       string `toml:"ca_cert_path"`
		Cert     string `toml:"client_cert_path"`
		Key      string `toml:"client_key_path"`
		Insecure bool   `toml:"insecure"`
	} `toml:"tls"`
	SASL *struct {
		Method string `toml:"method"`
		User   string `toml:"user"`
		Pass   string `toml:"pass"`
	} `toml:"sasl"`
}

func parseKcl(b []byte) ([]profile, error) {
	var f struct {
		kclProfile
		Profiles map[string]kclProfile `toml:"profiles"`
	}
	if err := toml.Unmarshal(b, &f); err != nil {
		return nil, err
	}
	if err := toml.Unmarshal(b, &f.kclProfile); err != nil {
		return nil, err
	}
	var out []profile
	add := func(name string, k kclProfile) {
		p := profile{name: name, brokers: k.SeedBrokers}
		if k.TLS != nil {
			p.useTLS, p.ca, p.cert, p.key, p.insecure = true, k.TLS.CA, k.TLS.Cert, k.TLS.Key, k.TLS.Insecure
		}
		if k.SASL != nil {
			p.mechanism, p.user, p.password = mechanismName(k.SASL.Method), k.SASL.User, k.SASL.Pass
		}
		out = append(out, p)
	}
	if len(f.SeedBrokers) > 0 {
		add("default", f.kclProfile)
	}
	for _, name := range slices.Sorted(maps.Keys(f.Profiles)) {
		add(name, f.Profiles[name])
	}
	return out, nil
}

// ContextInfo is one named cluster, without its secrets.
type ContextInfo struct {
	Name      string `json:"name"` // for --context
	Default   bool   `json:"default"`
	From      string `json:"from"` // the file
	Bootstrap string `json:"bootstrap"`
	Protocol  string `json:"protocol"`
	Mechanism string `json:"mechanism"` // "" without SASL
	Problem   string `json:"problem"`   // why it cannot be used; "" where nothing is known against it
}

// Contexts lists the named clusters: kgdiag's own first, then those of kaf,
// kafkactl, kcl and rpk as TOOL/NAME. path is where kgdiag's own belong. Each is
// resolved, without dialling, so that Problem is what --context would say.
func Contexts(opt Options) (list []ContextInfo, path string, err error) {
	r := &resolver{opt: opt, settings: make(settings), unknown: make(map[string]bool)}
	all, err := r.loadContexts()
	if err != nil {
		return nil, all.path, err
	}
	r.loadNeighbours(&all)
	for _, n := range all.list {
		info := ContextInfo{Name: n.name, Default: n.name == all.current, From: n.origin, Bootstrap: n.servers(), Problem: n.unusable}
		o := opt
		o.Context, o.Bootstrap, o.CommandConfig, o.X, o.BrokerMap = n.name, "", "", nil, ""
		o.Prompt = func(string) (string, error) { return "?", nil } // it is asked for when it is needed
		o.Getenv = func(name string) string {
			if strings.HasPrefix(name, "KGDIAG_") && name != "KGDIAG_CONFIG" || name == "KAFKA_BOOTSTRAP_SERVERS" {
				return ""
			}
			return r.getenv(name)
		}
		if c, _, err := Resolve(o); err == nil {
			info.Bootstrap, info.Protocol, info.Mechanism = c.Bootstrap, c.Protocol, c.Mechanism
		} else if info.Problem == "" {
			info.Problem = err.Error()
		}
		list = append(list, info)
	}
	return list, all.path, nil
}
