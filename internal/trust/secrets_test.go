package trust

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kgdiag/kgdiag/internal/fakecluster"
)

// planted is a secret that must not come out anywhere.
const planted = "hunter2-Zq9"

// TestPlantedSecretsDoNotComeOut plants a secret in every mechanism, in addresses, in
// client configurations and in logs, and looks for it in all that commands write.
func TestPlantedSecretsDoNotComeOut(t *testing.T) {
	s := newStage(t, 1, fakecluster.Superuser("SCRAM-SHA-256", "u", planted), fakecluster.Superuser("PLAIN", "u", planted))
	s.evict(t, "orders")
	dir := t.TempDir()
	key := "-----BEGIN PRIVATE KEY-----\n" + strings.Repeat(planted+"MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ", 1) + "\n-----END PRIVATE KEY-----\n"
	config := write(t, dir, "client.properties", "group.id=orders\nsession.timeout.ms=10000\nsasl.password="+planted+"\nmy.custom.pwd="+planted+
		"\nschema.registry.url=http://u:"+planted+"@registry:8081\nssl.keystore.key="+key)
	log := write(t, dir, "app.log", "2026-11-21 12:00:00,000 INFO ConsumerConfig values: \n\tgroup.id = orders\n\tsession.timeout.ms = 10000\n\tschema.registry.url = http://u:"+planted+
		"@registry:8081\n\tcustom.pwd = "+planted+"\n\tsasl.jaas.config = [hidden]\n\n2026-11-21 12:00:01,000 WARN [Consumer clientId=c, groupId=orders] consumer poll timeout has expired. password="+
		planted+" Authorization: Bearer "+planted+" https://u:"+planted+"@h/ SharedAccessKey="+planted+"\n")
	connect := write(t, dir, "connect.properties", "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=SCRAM-SHA-256\nsasl.username=u\nsasl.password="+planted+"\n")
	jaas := write(t, dir, "jaas.properties", "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\nsasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username=\"u\" password=\""+planted+"\";\n")
	wrong := write(t, dir, "wrong.properties", "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=SCRAM-SHA-512\nsasl.username=u\nsasl.password="+planted+"\n")
	oauth := write(t, dir, "oauth.properties", "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=OAUTHBEARER\nsasl.oauthbearer.token.endpoint.url=http://127.0.0.1:1/\n"+
		"sasl.oauthbearer.client.credentials.client.id=u\nsasl.oauthbearer.client.credentials.client.secret="+planted+"\n")
	pem := write(t, dir, "pem.properties", "security.protocol=SSL\nssl.keystore.type=PEM\nssl.keystore.key="+key)
	yaml := write(t, dir, "config.yaml", "contexts:\n  prod:\n    bootstrap.servers: u:"+planted+"@h:9092\n    sasl.password: *"+planted+"\n")
	reference := write(t, dir, "reference.properties", "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\nsasl.username=u\nsasl.password=a${hunter2_Zq9}b"+planted+"\n")
	record := filepath.Join(dir, "x.kgcase")
	ok := []string{"-b", s.b, "--command-config", connect, "--debug"}
	for _, tt := range []struct {
		env  []string
		args []string
	}{
		{nil, append([]string{"check"}, ok...)}, {nil, append([]string{"why", "orders"}, ok...)}, {nil, append([]string{"describe", "orders", "-o", "json"}, ok...)},
		{nil, append([]string{"history", "orders", "--log", log, "-o", "json"}, ok...)}, {nil, append([]string{"record", "orders", "--log", log, "--to", record}, ok...)},
		{nil, append([]string{"record", "orders", "--redact", "--log", log, "--to", record + "2"}, ok...)}, {nil, []string{"why", "--from", record, "-v"}},
		{nil, append([]string{"watch", "orders", "--for", "1s"}, ok...)},
		{nil, []string{"check", "-b", s.b, "--command-config", jaas, "--debug"}}, {nil, []string{"check", "-b", s.b, "--command-config", wrong, "--debug", "--timeout", "3s"}},
		{nil, []string{"check", "-b", s.b, "--command-config", oauth, "--debug", "--timeout", "3s"}}, {nil, []string{"check", "-b", s.b, "--command-config", pem, "--debug", "--timeout", "3s"}},
		{nil, []string{"check", "-b", s.b, "--command-config", reference}}, {[]string{"KGDIAG_CONFIG=" + yaml}, []string{"check", "--contexts", "-o", "json"}},
		{nil, []string{"why", "orders", "-b", "u:" + planted + "@h:9092"}}, {[]string{"KAFKA_BOOTSTRAP_SERVERS=u:" + planted + "@h:9092"}, []string{"why"}},
		{[]string{"KAFKA_BOOTSTRAP_SERVERS=u:" + planted + "@h:9092"}, []string{"check", "-b", s.b, "--timeout", "3s"}},
		{nil, []string{"why", "-b", s.b, "--broker-map", "0=u:" + planted + "@h:9092"}}, {nil, []string{"why", "-b", s.b, "-X", "sasl.password=" + planted}},
		{[]string{"KGDIAG_SASL_PASSWORD=" + planted}, []string{"check", "-b", s.b, "-X", "security.protocol=SASL_PLAINTEXT", "-X", "sasl.mechanism=SCRAM-SHA-256", "-X", "sasl.username=u", "--debug"}},
		{nil, []string{"advise", "-f", config, "-v"}}, {nil, []string{"advise", "-f", config, "-o", "json"}}, {nil, []string{"advise", "-f", config, "-o", "sarif"}},
		{nil, []string{"advise", "--log", log, "-v"}}, {nil, []string{"advise", "--log", log, "-o", "json"}}, {nil, []string{"advise", "-f", config, "--log", log, "-o", "markdown"}},
	} {
		r := kgdiag(t, setup{env: tt.env}, tt.args...)
		r.args = []string{strings.ReplaceAll(strings.Join(r.args, " "), planted, "SECRET")}
		if text := r.out + r.err; strings.Contains(text, planted) || strings.Contains(text, "hunter2_Zq9") {
			t.Errorf("came out: %s", r)
		}
	}
	for _, name := range []string{record, record + "2"} {
		if text := unpacked(t, name); strings.Contains(text, planted) {
			i := strings.Index(text, planted)
			t.Errorf("stands in the case file: …%s…", text[max(0, i-80):i+20])
		}
	}
}

func unpacked(t *testing.T, name string) string {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	zr, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(fmt.Errorf("%s: %w", name, err))
	}
	b, err := io.ReadAll(zr)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
