package credentials

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"strings"

	"github.com/jcmturner/gokrb5/v8/client"
	krbconfig "github.com/jcmturner/gokrb5/v8/config"
	"github.com/jcmturner/gokrb5/v8/credentials"
	"github.com/jcmturner/gokrb5/v8/keytab"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/kerberos"

	"github.com/kgdiag/kgdiag/internal/kconn/fault"
	"github.com/kgdiag/kgdiag/internal/kconn/settings"
)

// kerberos prepares GSSAPI: by keytab (Krb5LoginModule's useKeyTab, keyTab,
// principal; librdkafka's sasl.kerberos.*) or by the credential cache of kinit.
func (r reader) kerberos(c *Credentials) error {
	service := r.credential("sasl.kerberos.service.name", "serviceName").Value
	if service == "" {
		service = "kafka" // librdkafka's default; Java has none and every installation sets this one
	}
	confPath := cmp.Or(r.Getenv("KRB5_CONFIG"), "/etc/krb5.conf")
	conf, err := krbconfig.Load(confPath)
	if err != nil {
		return fault.Usagef("KRB5_CONFIG=FILE names another one", "GSSAPI: %s: %s", confPath, fault.Bare(err))
	}
	krb, err := r.kerberosClient(conf)
	if err != nil {
		return err
	}
	c.User = krb.Credentials.UserName() + "@" + krb.Credentials.Realm()
	user := c.User
	mech := kerberos.Kerberos(func(context.Context) (kerberos.Auth, error) {
		if err := krb.AffirmLogin(); err != nil {
			return kerberos.Auth{}, kerberosError("the Kerberos login of "+user+" failed", confPath, err)
		}
		return kerberos.Auth{Client: krb, Service: service, PersistAfterAuth: true}, nil
	})
	c.Mechanisms = []sasl.Mechanism{gssapi{Mechanism: mech, service: service, conf: confPath}}
	return nil
}

// gssapi names the broker as Java's client does, and explains the KDC's errors.
type gssapi struct {
	sasl.Mechanism
	service, conf string
}

// Authenticate gets a ticket for the broker at host:port. Java asks for the ticket
// under the host's name: an address that is advertised as numbers is looked up
// backwards (InetAddress.getHostName).
func (g gssapi) Authenticate(ctx context.Context, addr string) (sasl.Session, []byte, error) {
	host, port, err := net.SplitHostPort(addr)
	if err == nil && net.ParseIP(host) != nil {
		if names, lookupErr := net.DefaultResolver.LookupAddr(ctx, host); lookupErr == nil && len(names) > 0 {
			host = strings.TrimSuffix(names[0], ".")
			addr = net.JoinHostPort(host, port)
		}
	}
	session, first, err := g.Mechanism.Authenticate(ctx, addr)
	if err != nil && fault.As(err) == nil {
		err = kerberosError("no Kerberos ticket for "+g.service+"/"+host, g.conf, err)
	}
	return session, first, err
}

// kerberosError reads the library's chain of causes, which it joins into one long
// line, for the one that matters.
func kerberosError(what, conf string, err error) *fault.Error {
	text := strings.ReplaceAll(err.Error(), "\n", " ")
	e := &fault.Error{Kind: fault.Credentials, Err: err}
	has := func(s string) bool { return strings.Contains(text, s) }
	switch {
	case has("KDC_ERR_C_PRINCIPAL_UNKNOWN"):
		e.Msg, e.Tip = what+": the KDC does not know the user", "principal=USER@REALM as klist -k KEYTAB shows it"
	case has("KDC_ERR_S_PRINCIPAL_UNKNOWN"):
		e.Msg, e.Tip = what+": the KDC does not know the service", "sasl.kerberos.service.name has to be that of the brokers (kafka), and their host names those of their principals"
	case has("matching key not found in keytab"):
		e.Msg, e.Tip = what+": the keytab has no key for it", "klist -k KEYTAB shows whose keys it has"
	case has("KRB_AP_ERR_SKEW"), has("clock skew"):
		e.Msg, e.Tip = what+": the clocks differ", "by five minutes at most may this machine's clock differ from the KDC's"
	case has("KDC_ERR_PREAUTH_FAILED"), has("integrity verification failed"):
		e.Msg, e.Tip = what+": the key is not the one that the KDC has", "a new keytab: the password was changed since this one was written"
	case has("TKT_EXPIRED"), has("credentials have expired"), has("expired"):
		e.Msg, e.Tip = what+": the ticket has expired", "kinit"
	case has("communication error with KDC"), has("error resolving KDC"), has("no KDC"):
		cause := text[strings.LastIndex(text, ": ")+2:]
		e.Kind, e.Msg, e.Tip = fault.Unreachable, what+": no KDC answers: "+cause, "kdc = HOST in "+conf+" for this realm"
	default:
		e.Msg, e.Tip = what+": "+text[strings.LastIndex(text, "< ")+1:], "kinit with the same principal tells more"
	}
	return e
}

func (r reader) kerberosClient(conf *krbconfig.Config) (*client.Client, error) {
	principal := r.credential("sasl.kerberos.principal", "principal")
	tab := r.credential("sasl.kerberos.keytab", "keyTab")
	noFAST := client.DisablePAFXFAST(true) // Active Directory does not know it
	if tab.Value != "" && !strings.EqualFold(r.jaas.options["useTicketCache"], "true") || tab.Value != "" && strings.EqualFold(r.jaas.options["useKeyTab"], "true") {
		path := r.Path(strings.TrimPrefix(tab.Value, "FILE:"))
		if _, err := settings.ReadFile(path, 1<<20); err != nil {
			return nil, fault.Usagef("the keytab of the principal, from ktutil or the KDC's administrator", "%s: %w", tab.Where(), err)
		}
		kt, err := loadKeytab(path)
		if err != nil {
			return nil, fault.Usagef("the keytab of the principal, from ktutil or the KDC's administrator", "%s: %s is no keytab", tab.Where(), path)
		}
		if principal.Value == "" {
			return nil, fault.Usagef(`sasl.jaas.config option principal="user@REALM", or sasl.kerberos.principal`, "GSSAPI: the principal is missing")
		}
		user, realm, ok := strings.Cut(principal.Value, "@")
		if !ok {
			realm = conf.LibDefaults.DefaultRealm
		}
		if realm == "" {
			return nil, fault.Usagef("principal=user@REALM", "%s: the realm is missing, and krb5.conf has no default_realm", principal.Where())
		}
		return client.NewWithKeytab(user, realm, kt, conf, noFAST), nil
	}
	path := cmp.Or(r.jaas.options["ticketCache"], r.Getenv("KRB5CCNAME"), defaultCache())
	if strings.Contains(path, ":") && !strings.HasPrefix(path, "FILE:") {
		return nil, fault.Usagef("KRB5CCNAME=FILE:/tmp/krb5cc_x kinit writes one in a file", "GSSAPI: credential cache %s: caches in files are read", path)
	}
	path = r.Path(strings.TrimPrefix(path, "FILE:"))
	cache, err := loadCCache(path)
	if err != nil {
		return nil, fault.Usagef("kinit, or useKeyTab=true with keyTab and principal in sasl.jaas.config", "GSSAPI: %w", err)
	}
	krb, err := client.NewFromCCache(cache, conf, noFAST)
	if err != nil {
		return nil, fault.Usagef("kinit", "GSSAPI: %s: no valid ticket", path)
	}
	return krb, nil
}

// loadKeytab keeps a damaged keytab from ending the program, as loadCCache does.
func loadKeytab(path string) (kt *keytab.Keytab, err error) {
	defer func() {
		if recover() != nil {
			err = fmt.Errorf("%s is no keytab", path)
		}
	}()
	return keytab.Load(path)
}

// loadCCache keeps a damaged cache, which makes the library's reader run past the
// end of its bytes or fill the memory, from ending the program.
func loadCCache(path string) (cache *credentials.CCache, err error) {
	b, err := settings.ReadFile(path, 16<<20)
	if err != nil {
		return nil, err
	}
	defer func() {
		if recover() != nil {
			err = fmt.Errorf("%s is no credential cache", path)
		}
	}()
	cache = new(credentials.CCache)
	if !soundCache(b) || cache.Unmarshal(b) != nil {
		return nil, fmt.Errorf("%s is no credential cache", path)
	}
	return cache, nil
}
