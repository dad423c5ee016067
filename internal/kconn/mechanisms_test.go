package kconn

import (
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/kgdiag/kgdiag/internal/kconn/fault"
)

func jwt(claims string) string {
	e := base64.RawURLEncoding
	return e.EncodeToString([]byte(`{"alg":"none"}`)) + "." + e.EncodeToString([]byte(claims)) + "."
}

// firstMessage resolves and returns what the mechanism sends first.
func firstMessage(t *testing.T, opt Options, host string) (string, []string, error) {
	t.Helper()
	if opt.Bootstrap == "" {
		opt.Bootstrap = "a:1"
	}
	c, warnings, err := Resolve(opt)
	if err != nil {
		return "", warnings, err
	}
	_, first, err := c.login.Mechanisms[0].Authenticate(t.Context(), host)
	return string(first), warnings, err
}

const oauthModule = "sasl.jaas.config=org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required "

func TestOAuthTokenEndpoint(t *testing.T) {
	token := jwt(fmt.Sprintf(`{"sub":"me","exp":%d}`, time.Now().Add(time.Hour).Unix()))
	var asked int
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		id, secret, _ := r.BasicAuth()
		r.ParseForm()
		if id != "me" || secret != "a+b%" || r.Form.Get("grant_type") != "client_credentials" || r.Form.Get("scope") != "kafka read" {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, `{"error":"invalid_client","error_description":"no such client"}`)
			return
		}
		fmt.Fprintf(w, `{"access_token":%q,"expires_in":3600}`, token)
	}))
	t.Cleanup(srv.Close)
	ca := write(t, "ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})))
	base := "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=OAUTHBEARER\nsasl.oauthbearer.token.endpoint.url=" + srv.URL + "/token\nhttps.ca.location=" + ca + "\n"
	want := "n,,\x01auth=Bearer " + token + "\x01logicalCluster=lkc-1\x01\x01"
	for name, props := range map[string]string{
		"Java, JAAS options (KIP-768)":   oauthModule + `clientId="me" clientSecret="a+b%" scope="kafka read" extension_logicalCluster="lkc-1";`,
		"Java, keys (Kafka 4.1)":         oauthModule + "extension_logicalCluster=\"lkc-1\";\nsasl.oauthbearer.client.credentials.client.id=me\nsasl.oauthbearer.client.credentials.client.secret=a+b%\nsasl.oauthbearer.scope=kafka read",
		"librdkafka, oidc":               "sasl.oauthbearer.method=oidc\nsasl.oauthbearer.client.id=me\nsasl.oauthbearer.client.secret=a+b%\nsasl.oauthbearer.scope=kafka read\nsasl.oauthbearer.extensions=logicalCluster=lkc-1",
		"Java, login callback of Apache": "sasl.login.callback.handler.class=org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler\n" + oauthModule + `clientId="me" clientSecret="a+b%" scope="kafka read" extension_logicalCluster="lkc-1";`,
	} {
		t.Run(name, func(t *testing.T) {
			got, warnings, err := firstMessage(t, Options{CommandConfig: write(t, "c.properties", base+props)}, "b:1")
			if err != nil || got != want || len(warnings) > 0 {
				t.Errorf("got %q, %v, warnings %q", got, err, warnings)
			}
		})
	}
	t.Run("a token is kept until it ends", func(t *testing.T) {
		c, _, err := Resolve(Options{Bootstrap: "a", CommandConfig: write(t, "c.properties", base+oauthModule+`clientId="me" clientSecret="a+b%" scope="kafka read";`)})
		if err != nil {
			t.Fatal(err)
		}
		before := asked
		for range 3 {
			if _, _, err := c.login.Mechanisms[0].Authenticate(t.Context(), "b:1"); err != nil {
				t.Fatal(err)
			}
		}
		if asked != before+1 {
			t.Errorf("asked %d times", asked-before)
		}
	})
	for name, tt := range map[string]struct{ props, want, hint string }{
		"wrong secret": {base + oauthModule + `clientId="me" clientSecret="s3cret";`, "/token: 401 Unauthorized (invalid_client: no such client)", "client id me or its secret is wrong"},
		"unknown CA":   {strings.Replace(base, "https.ca.location", "client.id", 1) + oauthModule + `clientId="me" clientSecret="s3cret";`, "certificate signed by unknown authority", "https.ca.location=FILE"},
		"nobody there": {strings.Replace(base, srv.URL, "http://"+closedPort(t), 1) + oauthModule + `clientId="me" clientSecret="s3cret";`, "connection refused", "c.properties:3"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := firstMessage(t, Options{CommandConfig: write(t, "c.properties", tt.props)}, "b:1")
			e := fault.As(err)
			if e == nil || e.Kind != fault.Token || !strings.Contains(e.Error(), tt.want) || !strings.Contains(e.Hint(), tt.hint) {
				t.Fatalf("got %v", err)
			}
			if strings.Contains(e.Error()+e.Hint(), "s3cret") {
				t.Error("the secret is shown")
			}
		})
	}
}

func TestOAuthTokenFile(t *testing.T) {
	good := jwt(fmt.Sprintf(`{"exp":%d}`, time.Now().Add(time.Hour).Unix()))
	file := write(t, "token", good+"\n")
	props := func(f string) Options {
		return Options{CommandConfig: write(t, "c.properties", "security.protocol=SASL_SSL\nsasl.mechanism=OAUTHBEARER\nsasl.oauthbearer.token.endpoint.url=file://"+f+"\n"+oauthModule+";")}
	}
	got, _, err := firstMessage(t, props(file), "b:1")
	if err != nil || got != "n,,\x01auth=Bearer "+good+"\x01\x01" {
		t.Errorf("got %q, %v", got, err)
	}
	_, _, err = firstMessage(t, props(write(t, "old", jwt(`{"exp":1700000000}`))), "b:1")
	if e := fault.As(err); e == nil || e.Kind != fault.Token || e.Error() != "the OAuth token expired on 2023-11-14 22:13:20 UTC" {
		t.Errorf("got %v", err)
	}
	if _, _, err = firstMessage(t, props("/nope"), "b:1"); fault.As(err) == nil || !fault.As(err).Usage() {
		t.Errorf("got %v, want a usage error for a missing file", err)
	}
}

func TestOAuthWithoutAToken(t *testing.T) {
	for name, tt := range map[string]struct{ props, want, warning string }{
		"nothing said":          {"", "nothing says where the token comes from", ""},
		"unsecured, Java":       {oauthModule + `unsecuredLoginStringClaim_sub="alice";`, "c.properties:3: sasl.jaas.config asks for an unsecured token, which kgdiag does not make", ""},
		"unsecured, librdkafka": {"enable.sasl.oauthbearer.unsecure.jwt=true", "nothing says where the token comes from", "kgdiag makes no unsecured tokens"},
	} {
		t.Run(name, func(t *testing.T) {
			_, warnings, err := firstMessage(t, Options{CommandConfig: write(t, "c.properties", "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=OAUTHBEARER\n"+tt.props)}, "b:1")
			if e := fault.As(err); e == nil || !e.Usage() || !strings.Contains(e.Error(), tt.want) || !strings.Contains(e.Hint(), "token.endpoint.url") {
				t.Errorf("got %v", err)
			}
			if all := strings.Join(warnings, "\n"); (tt.warning == "") != (all == "") || !strings.Contains(all, tt.warning) {
				t.Errorf("warnings %q, want %q", all, tt.warning)
			}
		})
	}
}

func TestMSKCredentials(t *testing.T) {
	dir := t.TempDir()
	os.WriteFile(dir+"/credentials", []byte("[ops]\naws_access_key_id=PROFILE\naws_secret_access_key=s3cret\naws_session_token=tok\n"), 0o600)
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", dir+"/credentials")
	t.Setenv("AWS_CONFIG_FILE", dir+"/none")
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	for _, k := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION"} {
		t.Setenv(k, "")
	}
	props := func(options string) Options {
		return Options{CommandConfig: write(t, "c.properties", "security.protocol=SASL_SSL\nsasl.mechanism=AWS_MSK_IAM\nsasl.client.callback.handler.class=software.amazon.msk.auth.iam.IAMClientCallbackHandler\nsasl.jaas.config=software.amazon.msk.auth.iam.IAMLoginModule required"+options+";")}
	}
	const broker = "b-1.test.abc.c2.kafka.eu-west-1.amazonaws.com:9098"
	got, warnings, err := firstMessage(t, props(` awsProfileName="ops"`), broker)
	if err != nil || len(warnings) > 0 || !strings.Contains(got, `"x-amz-credential":"PROFILE/`) || !strings.Contains(got, "/eu-west-1/kafka-cluster/") || !strings.Contains(got, `"x-amz-security-token":"tok"`) {
		t.Errorf("profile: got %s, %v, %q", got, err, warnings)
	}
	if strings.Contains(got, "s3cret") {
		t.Error("the secret key is sent")
	}
	_, _, err = firstMessage(t, props(""), broker)
	if e := fault.As(err); e == nil || e.Kind != fault.Token || !strings.HasPrefix(e.Error(), "no AWS credentials: ") || strings.Contains(e.Error(), "\n") {
		t.Errorf("no credentials: got %v", err)
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "ENV")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "x")
	if got, _, err = firstMessage(t, props(""), broker); err != nil || !strings.Contains(got, `"x-amz-credential":"ENV/`) {
		t.Errorf("environment: got %s, %v", got, err)
	}
	if _, _, err = firstMessage(t, props(""), "kafka.internal:9098"); fault.As(err) == nil || !strings.Contains(err.Error(), "region is not in") {
		t.Errorf("no region: got %v", err)
	}
}

func TestKerberosInput(t *testing.T) {
	conf := write(t, "krb5.conf", "[libdefaults]\n default_realm = EXAMPLE.COM\n[realms]\n EXAMPLE.COM = {\n  kdc = 127.0.0.1:1\n }\n")
	module := "security.protocol=SASL_SSL\nsasl.mechanism=GSSAPI\nsasl.kerberos.service.name=kafka\nsasl.jaas.config=com.sun.security.auth.module.Krb5LoginModule required "
	for name, tt := range map[string]struct{ props, conf, want string }{
		"no krb5.conf":    {module + "useKeyTab=true keyTab=\"/nope\" principal=\"a@B\";", "/nope/krb5.conf", "GSSAPI: /nope/krb5.conf"},
		"no keytab":       {module + "useKeyTab=true keyTab=\"/nope\" principal=\"a@B\";", conf, "option keyTab: /nope: no such file"},
		"damaged keytab":  {module + "useKeyTab=true keyTab=\"" + write(t, "k", "hello") + "\" principal=\"a@B\";", conf, "is no keytab"},
		"no ticket":       {module + "useTicketCache=true ticketCache=\"/nope\";", conf, "GSSAPI: /nope: no such file"},
		"damaged cache":   {module + "useTicketCache=true ticketCache=\"" + write(t, "cc", "hello") + "\";", conf, "is no credential cache"},
		"cache in memory": {module + "useTicketCache=true ticketCache=\"KCM:0\";", conf, "caches in files are read"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := firstMessage(t, Options{CommandConfig: write(t, "c.properties", tt.props), Getenv: env("KRB5_CONFIG", tt.conf)}, "b:1")
			if e := fault.As(err); e == nil || !e.Usage() || !strings.Contains(e.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}
