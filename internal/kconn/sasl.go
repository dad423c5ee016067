package kconn

import (
	"strings"

	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

const (
	mechPlain       = "PLAIN"
	mechScram256    = "SCRAM-SHA-256"
	mechScram512    = "SCRAM-SHA-512"
	mechOAuthBearer = "OAUTHBEARER"
	mechMSKIAM      = "AWS_MSK_IAM"
	mechGSSAPI      = "GSSAPI"
)

// buildSASL prepares the mechanism for SASL_PLAINTEXT and SASL_SSL.
func (r *resolver) buildSASL(c *Config) error {
	if !strings.HasPrefix(c.Protocol, "SASL_") {
		return nil
	}
	var entry jaas
	if s := r.settings["sasl.jaas.config"]; s.value != "" {
		var err error
		if entry, err = parseJAAS(s.value); err != nil {
			return usagef(`sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username="…" password="…";`, "%s: %w", s.where(), err)
		}
	}
	mechanism, err := r.mechanism(entry)
	if err != nil {
		return err
	}
	c.Mechanism = mechanism
	switch mechanism {
	case mechPlain, mechScram256, mechScram512, "SCRAM":
		return r.password(c, entry)
	case mechOAuthBearer:
		return r.oauthBearer(c, entry)
	case mechMSKIAM:
		return r.mskIAM(c, entry)
	}
	return r.kerberos(c, entry)
}

// mechanism is sasl.mechanism, or what the login module is for where the key is
// missing. Kafka's own default, GSSAPI, is kept for the case that nothing is said.
func (r *resolver) mechanism(entry jaas) (string, error) {
	s := r.settings["sasl.mechanism"]
	byModule := entry.mechanism()
	m := strings.ToUpper(s.value)
	switch m {
	case "":
		if byModule != "" && byModule != mechGSSAPI {
			r.warn("%s: sasl.mechanism is not set; taken from the login module: %s (Kafka's own clients would try GSSAPI)", r.settings["sasl.jaas.config"].where(), byModule)
			return byModule, nil
		}
		if byModule == "" && r.settings.get("sasl.username") != "" {
			return "", usagef("-X sasl.mechanism=PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512", "sasl.mechanism is not set")
		}
		return mechGSSAPI, nil
	case mechPlain, mechScram256, mechScram512, mechOAuthBearer, mechMSKIAM, mechGSSAPI:
	case "SCRAM-SHA256", "SCRAM-SHA512", "SCRAM":
		return "", usagef("SCRAM-SHA-256 or SCRAM-SHA-512", "%s: %q is no mechanism", s.where(), s.value)
	default:
		return "", usagef("PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER, AWS_MSK_IAM or GSSAPI", "%s: %q is no mechanism", s.where(), s.value)
	}
	if byModule != "" && byModule != m && !strings.HasPrefix(m, byModule) {
		return "", usagef("the login module and sasl.mechanism have to go together", "%s is %s, but %s is for %s", s.where(), m, entry.name(), byModule)
	}
	return m, nil
}

// credential is a value that stands either under a key of its own or as an option
// of the login module; the higher layer wins, the module in a tie.
func (r *resolver) credential(entry jaas, key string, options ...string) setting {
	own := r.settings[key]
	j := r.settings["sasl.jaas.config"]
	for _, o := range options {
		if v, ok := entry.options[o]; ok && (own.value == "" || j.layer >= own.layer) {
			return setting{key: j.key + " option " + o, value: v, layer: j.layer, origin: j.origin}
		}
	}
	return own
}

func (r *resolver) password(c *Config, entry jaas) error {
	user := r.credential(entry, "sasl.username", "username")
	if user.value == "" {
		return usagef(`sasl.jaas.config with username="…", or sasl.username=…`, "%s: the user name is missing", c.Mechanism)
	}
	pass := r.credential(entry, "sasl.password", "password")
	if pass.value == "" {
		v, err := r.prompt("password of " + user.value)
		if err != nil {
			return usagef("KGDIAG_SASL_PASSWORD, KGDIAG_SASL_PASSWORD_FILE, or sasl.password in the file", "%s: the password of %s is missing", c.Mechanism, user.value)
		}
		pass.value = v
	}
	c.User = user.value
	token := entry.options["tokenauth"] == "true" // a delegation token (KIP-48)
	scramAuth := scram.Auth{User: user.value, Pass: pass.value, IsToken: token}
	switch c.Mechanism {
	case mechPlain:
		c.sasl = []sasl.Mechanism{plain.Auth{User: user.value, Pass: pass.value}.AsMechanism()}
	case mechScram256:
		c.sasl = []sasl.Mechanism{scramAuth.AsSha256Mechanism()}
	case mechScram512:
		c.sasl = []sasl.Mechanism{scramAuth.AsSha512Mechanism()}
	default: // either: the broker says which it has
		c.Mechanism = mechScram512
		c.sasl = []sasl.Mechanism{scramAuth.AsSha512Mechanism(), scramAuth.AsSha256Mechanism()}
	}
	return nil
}

var errNoPrompt = usagef("", "no terminal to ask on")

func (r *resolver) prompt(label string) (string, error) {
	if r.opt.Prompt == nil {
		return "", errNoPrompt
	}
	v, err := r.opt.Prompt(label)
	if err == nil && v == "" {
		err = errNoPrompt
	}
	return v, err
}
