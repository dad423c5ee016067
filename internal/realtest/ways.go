package realtest

// Way is one way in that the suite on real brokers walks: a client file as people
// have it, given to kgdiag and, where Held says so, to Apache's own
// kafka-consumer-groups --command-config beside it. docs/connecting.md shows the list.
type Way struct {
	Protocol string // security.protocol and mechanism
	Keys     string // what the file has, in words
	File     string // client-FILE.properties of scripts/kafka up --secure
	Held     Held
}

// Held says what a way was compared with.
type Held int

// The comparisons.
const (
	BesideApache     Held = iota // Apache's tool takes the same file and says the same
	BesideLibrdkafka             // confluent-kafka takes the same file
)

// Ways are all ways in that are tried on a real broker.
var Ways = []Way{
	{"SSL with a client certificate", "`ssl.truststore.type=PEM`, key and certificate in one PEM file", "viewer-ssl", BesideApache},
	{"SSL with a client certificate", "JKS trust store and key store", "viewer-jks", BesideApache},
	{"SSL with a client certificate", "JKS, `ssl.key.password` other than `ssl.keystore.password`", "viewer-jks-keypass", BesideApache},
	{"SSL with a client certificate", "PKCS12 trust store (keytool) and key store (openssl)", "viewer-p12", BesideApache},
	{"SSL with a client certificate", "PEM, the key encrypted (PBEWithSHA1AndDESede; PBES2 is read too, Kafka on Java 17 refuses it)", "viewer-pem-encrypted", BesideApache},
	{"SSL with a client certificate", "PEM text within the properties file, the key encrypted", "viewer-pem-inline", BesideApache},
	{"SASL_SSL, SCRAM-SHA-512", "`sasl.jaas.config` with ScramLoginModule", "viewer", BesideApache},
	{"SASL_SSL, SCRAM-SHA-256", "`sasl.jaas.config` with ScramLoginModule", "viewer-scram256", BesideApache},
	{"SASL_SSL, PLAIN", "`sasl.jaas.config` with PlainLoginModule", "viewer-plain", BesideApache},
	{"SASL_PLAINTEXT, SCRAM-SHA-512", "`sasl.jaas.config` with ScramLoginModule", "viewer-notls", BesideApache},
	{"SASL_SSL, OAUTHBEARER", "a token in a file: `sasl.oauthbearer.token.endpoint.url=file:///…`", "viewer-oauth-file", BesideApache},
	{"SASL_SSL, OAUTHBEARER", "client credentials at a token endpoint, scope, `sasl.jaas.config` options", "viewer-oauth-endpoint", BesideApache},
	{"SASL_SSL, SCRAM-SHA-256", "librdkafka's keys: `sasl.mechanisms`, `sasl.username`, `ssl.ca.location`", "viewer-rdkafka", BesideLibrdkafka},
}
