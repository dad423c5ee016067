package settings

import (
	_ "embed"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/kgdiag/kgdiag/internal/prose"
)

// A key that has to do with connecting. Keys that Kafka clients know and that
// do not concern connecting are in known_keys.txt and are passed over in silence.
type keyInfo struct {
	canonical string // the key that the rest of the package asks for
	secret    bool   // never shown; a warning when it stands on the command line
	instead   string // what to use instead of a key that kgdiag does not act upon
}

// keyServers is the key that names the cluster.
const keyServers = "bootstrap.servers"

// The keys of kgdiag itself: no Kafka client knows them.
const (
	KeyProxy     = "proxy.url"  // socks5://[user:password@]host:port
	KeyBrokerMap = "broker-map" // ID=HOST:PORT,…, the flag --broker-map
)

var connecting = map[string]keyInfo{
	keyServers:             {},
	"metadata.broker.list": {canonical: keyServers},
	"client.dns.lookup":    {},
	"security.protocol":    {},
	KeyProxy:               {secret: true},
	KeyBrokerMap:           {},

	"broker.address.family":                 {},
	"ssl.endpoint.identification.algorithm": {},
	"enable.ssl.certificate.verification":   {},
	"ssl.enabled.protocols":                 {},
	"ssl.protocol":                          {},
	"ssl.cipher.suites":                     {},

	"ssl.truststore.location":     {},
	"ssl.truststore.type":         {},
	"ssl.truststore.password":     {secret: true},
	"ssl.truststore.certificates": {},
	"ssl.ca.location":             {},
	"ssl.ca.pem":                  {canonical: "ssl.truststore.certificates"},

	"ssl.keystore.location":          {},
	"ssl.keystore.type":              {},
	"ssl.keystore.password":          {secret: true},
	"ssl.keystore.key":               {secret: true},
	"ssl.keystore.certificate.chain": {},
	"ssl.key.password":               {secret: true},
	"ssl.key.pem":                    {canonical: "ssl.keystore.key", secret: true},
	"ssl.certificate.pem":            {canonical: "ssl.keystore.certificate.chain"},
	"ssl.key.location":               {},
	"ssl.certificate.location":       {},

	"sasl.mechanism":                     {},
	"sasl.mechanisms":                    {canonical: "sasl.mechanism"},
	"sasl.jaas.config":                   {secret: true},
	"sasl.username":                      {},
	"sasl.password":                      {secret: true},
	"sasl.login.callback.handler.class":  {},
	"sasl.client.callback.handler.class": {},

	"sasl.kerberos.service.name": {},
	"sasl.kerberos.keytab":       {},
	"sasl.kerberos.principal":    {},

	"sasl.oauthbearer.token.endpoint.url":               {},
	"sasl.oauthbearer.client.credentials.client.id":     {},
	"sasl.oauthbearer.client.credentials.client.secret": {secret: true},
	"sasl.oauthbearer.client.id":                        {canonical: "sasl.oauthbearer.client.credentials.client.id"},
	"sasl.oauthbearer.client.secret":                    {canonical: "sasl.oauthbearer.client.credentials.client.secret", secret: true},
	"sasl.oauthbearer.scope":                            {},
	"sasl.oauthbearer.extensions":                       {},
	"sasl.oauthbearer.method":                           {},
	"sasl.oauthbearer.header.urlencode":                 {},
	"https.ca.location":                                 {},
	"https.ca.pem":                                      {},

	"sasl.oauthbearer.config":                       {instead: unsecured},
	"enable.sasl.oauthbearer.unsecure.jwt":          {instead: unsecured},
	"bootstrap.controllers":                         {instead: "bootstrap.servers: groups are known to brokers, not to controllers"},
	"ssl.ca.certificate.stores":                     {instead: "ssl.ca.location with a PEM file (export the CA from the Windows store)"},
	"ssl.crl.location":                              {instead: "nothing: certificates are checked against the CA and the clock, not against revocation lists"},
	"ssl.engine.factory.class":                      {instead: "ssl.keystore.location and ssl.truststore.location (JKS, PKCS12 or PEM)"},
	"ssl.engine.location":                           {instead: "ssl.key.location with a key in a file"},
	"ssl.engine.id":                                 {instead: "ssl.key.location with a key in a file"},
	"ssl.providers":                                 {instead: "nothing: PKCS12 files of the legacy algorithms are read as they are"},
	"security.providers":                            {instead: "nothing: the JVM's security providers have no counterpart here"},
	"sasl.login.class":                              {instead: "sasl.jaas.config with one of Kafka's own login modules"},
	"sasl.oauthbearer.jwt.retriever.class":          {instead: "sasl.oauthbearer.token.endpoint.url (https://…, or file:///… for a token in a file)"},
	"sasl.oauthbearer.assertion.file":               {instead: "sasl.oauthbearer.token.endpoint.url=file:///… with a token fetched beforehand"},
	"sasl.oauthbearer.assertion.algorithm":          {instead: "sasl.oauthbearer.token.endpoint.url=file:///… with a token fetched beforehand"},
	"sasl.oauthbearer.grant.type":                   {instead: "client_credentials, the one grant that kgdiag asks for"},
	"sasl.oauthbearer.metadata.authentication.type": {instead: "sasl.oauthbearer.token.endpoint.url=file:///… with a token fetched beforehand"},
}

// unsecured is what to use instead of tokens that nobody has signed.
const unsecured = "sasl.oauthbearer.token.endpoint.url (https://…, or file:///…): kgdiag makes no unsecured tokens"

//go:embed known_keys.txt
var knownKeysText string

// knownKeys are the property names of kafka-clients 4.1.1 (consumer, producer,
// admin) and librdkafka 2.12.
var knownKeys = sync.OnceValue(func() map[string]bool {
	m := make(map[string]bool)
	for _, k := range strings.Fields(knownKeysText) {
		m[k] = true
	}
	return m
})

// Keys that live beside Kafka's in the files of neighbours: Schema Registry,
// Confluent's interceptors, Connect and Streams overrides, config providers.
var foreignPrefixes = []string{
	"schema.registry.", "basic.auth.", "bearer.auth.", "confluent.", "config.providers", "producer.", "consumer.", "admin.",
	"key.", "value.", "topic.", "metrics.", "auto.", "json.", "avro.", "internal.", "listener.", "spring.",
}

func known(key string) bool {
	if knownKeys()[key] {
		return true
	}
	return slices.ContainsFunc(foreignPrefixes, func(p string) bool { return strings.HasPrefix(key, p) })
}

// lookupKey finds what a key means. A key that ends in .file names a file with
// the value of a secret key.
func lookupKey(key string) (info keyInfo, canonical string, fromFile, ok bool) {
	if info, ok = connecting[key]; ok {
		if info.canonical == "" {
			info.canonical = key
		}
		return info, info.canonical, false, true
	}
	base, cut := strings.CutSuffix(key, ".file")
	if info, ok = connecting[base]; cut && ok && info.secret {
		if info.canonical == "" {
			info.canonical = base
		}
		return info, info.canonical, true, true
	}
	return keyInfo{}, "", false, false
}

// nearest is the known key closest to a mistyped one, or "" where none is close:
// at most a third of the letters may differ.
func nearest(key string) string {
	known := slices.Concat(slices.Sorted(maps.Keys(connecting)), slices.Sorted(maps.Keys(knownKeys())))
	return prose.Nearest(strings.NewReplacer("_", ".", "-", ".").Replace(key), known, len(key)/3)
}
