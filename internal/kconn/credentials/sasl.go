package credentials

import (
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"github.com/kgdiag/kgdiag/internal/kconn/fault"
	"github.com/kgdiag/kgdiag/internal/kconn/settings"
)

// The SASL mechanisms, as Kafka names them.
const (
	Plain       = "PLAIN"
	Scram256    = "SCRAM-SHA-256"
	Scram512    = "SCRAM-SHA-512"
	OAuthBearer = "OAUTHBEARER"
	MSKIAM      = "AWS_MSK_IAM"
	GSSAPI      = "GSSAPI"

	scramEither = "SCRAM" // what ScramLoginModule alone says
)

// Credentials are who connects, and how.
type Credentials struct {
	Mechanism  string           // one of the constants of this package
	User       string           // the user name, the client id or the principal; "" where there is none
	Mechanisms []sasl.Mechanism // as the client takes them; the broker picks
	Subject    func() string    // of the OAuth token in use; nil for other mechanisms
}

// About is what the mechanisms have to know of the connection.
type About struct {
	Bootstrap string        // the address list, for the region of MSK
	Agent     string        // of kgdiag, "kgdiag/1.2"
	Timeout   time.Duration // for reaching one server
}

// reader makes credentials of the settings.
type reader struct {
	*settings.Settings
	about About
	jaas  jaas // sasl.jaas.config; zero without
}

// SASL prepares the mechanism that the settings ask for. Errors are *fault.Error with
// Usage() true.
func SASL(s *settings.Settings, about About) (Credentials, error) {
	r := reader{Settings: s, about: about}
	if s := r.At("sasl.jaas.config"); s.Value != "" {
		var err error
		if r.jaas, err = parseJAAS(s.Value); err != nil {
			return Credentials{}, fault.Usagef(`sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username="…" password="…";`, "%s: %w", s.Where(), err)
		}
	}
	mechanism, err := r.mechanism()
	if err != nil {
		return Credentials{}, err
	}
	c := Credentials{Mechanism: mechanism}
	switch mechanism {
	case Plain, Scram256, Scram512, scramEither:
		err = r.password(&c)
	case OAuthBearer:
		err = r.oauthBearer(&c)
	case MSKIAM:
		r.mskIAM(&c)
	default:
		err = r.kerberos(&c)
	}
	return c, err
}

// mechanism is sasl.mechanism, or what the login module is for where the key is
// missing. Kafka's own default, GSSAPI, is kept for the case that nothing is said.
func (r reader) mechanism() (string, error) {
	s := r.At("sasl.mechanism")
	byModule := r.jaas.mechanism()
	m := strings.ToUpper(s.Value)
	switch m {
	case "":
		if byModule != "" && byModule != GSSAPI {
			r.Warn("%s: sasl.mechanism is not set; taken from the login module: %s (Kafka's own clients would try GSSAPI)", r.At("sasl.jaas.config").Where(), byModule)
			return byModule, nil
		}
		if byModule == "" && r.Get("sasl.username") != "" {
			return "", fault.Usagef("-X sasl.mechanism=PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512", "sasl.mechanism is not set")
		}
		return GSSAPI, nil
	case Plain, Scram256, Scram512, OAuthBearer, MSKIAM, GSSAPI:
	case "SCRAM-SHA256", "SCRAM-SHA512", "SCRAM":
		return "", fault.Usagef("SCRAM-SHA-256 or SCRAM-SHA-512", "%s: %q is no mechanism", s.Where(), s.Value)
	default:
		return "", fault.Usagef("PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER, AWS_MSK_IAM or GSSAPI", "%s: %q is no mechanism", s.Where(), s.Value)
	}
	if byModule != "" && byModule != m && !strings.HasPrefix(m, byModule) {
		return "", fault.Usagef("the login module and sasl.mechanism have to go together", "%s is %s, but %s is for %s", s.Where(), m, r.jaas.name(), byModule)
	}
	return m, nil
}

// credential is a value that stands either under a key of its own or as an option
// of the login module; the higher layer wins, the module in a tie.
func (r reader) credential(key string, options ...string) settings.Setting {
	own := r.At(key)
	j := r.At("sasl.jaas.config")
	for _, o := range options {
		if v, ok := r.jaas.options[o]; ok && (own.Value == "" || j.Layer >= own.Layer) {
			return settings.Setting{Key: j.Key + " option " + o, Value: v, Layer: j.Layer, Origin: j.Origin}
		}
	}
	return own
}

func (r reader) password(c *Credentials) error {
	user := r.credential("sasl.username", "username")
	if user.Value == "" {
		return fault.Usagef(`sasl.jaas.config with username="…", or sasl.username=…`, "%s: the user name is missing", c.Mechanism)
	}
	pass := r.credential("sasl.password", "password")
	if pass.Value == "" {
		v, err := r.Prompt("password of " + user.Value)
		if err != nil {
			return fault.Usagef("KGDIAG_SASL_PASSWORD, KGDIAG_SASL_PASSWORD_FILE, or sasl.password in the file", "%s: the password of %s is missing", c.Mechanism, user.Value)
		}
		pass.Value = v
	}
	c.User = user.Value
	token := r.jaas.options["tokenauth"] == "true" // a delegation token (KIP-48)
	scramAuth := scram.Auth{User: user.Value, Pass: pass.Value, IsToken: token}
	switch c.Mechanism {
	case Plain:
		c.Mechanisms = []sasl.Mechanism{plain.Auth{User: user.Value, Pass: pass.Value}.AsMechanism()}
	case Scram256:
		c.Mechanisms = []sasl.Mechanism{scramAuth.AsSha256Mechanism()}
	case Scram512:
		c.Mechanisms = []sasl.Mechanism{scramAuth.AsSha512Mechanism()}
	default: // either: the broker says which it has
		c.Mechanism = Scram512
		c.Mechanisms = []sasl.Mechanism{scramAuth.AsSha512Mechanism(), scramAuth.AsSha256Mechanism()}
	}
	return nil
}
