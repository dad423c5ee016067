package kconn

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/oauth"
)

// oauthBearer prepares OAUTHBEARER (KIP-255, KIP-768): a token from an endpoint
// with client credentials, from a file, from AWS IAM, or unsecured for tests. Which
// one is meant follows from the keys, as it does in Kafka.
func (r *resolver) oauthBearer(c *Config, entry jaas) error {
	if handler := r.settings.get("sasl.login.callback.handler.class"); strings.HasSuffix(handler, ".IAMOAuthBearerLoginCallbackHandler") {
		return r.mskOAuth(c, entry)
	}
	if s := r.settings["sasl.oauthbearer.method"]; s.value != "" && !strings.EqualFold(s.value, "oidc") && !strings.EqualFold(s.value, "default") {
		return usagef("oidc, or default", "%s: %q is no method", s.where(), s.value)
	}
	extensions, err := r.extensions(entry)
	if err != nil {
		return err
	}
	endpoint := r.settings["sasl.oauthbearer.token.endpoint.url"]
	if endpoint.value == "" {
		if v, ok := entry.options["oauth.token.endpoint.uri"]; ok { // Strimzi's login handler
			endpoint = setting{key: "sasl.jaas.config option oauth.token.endpoint.uri", value: v, origin: r.settings["sasl.jaas.config"].origin}
		}
	}
	var fetch func(context.Context) (string, error)
	switch {
	case endpoint.value == "":
		fetch, err = r.unsecured(entry, extensions)
	case strings.HasPrefix(endpoint.value, "file:"):
		fetch, err = r.tokenFile(endpoint)
	default:
		fetch, err = r.tokenEndpoint(c, endpoint, entry)
	}
	if err != nil {
		return err
	}
	cache := &tokenCache{fetch: fetch, now: time.Now}
	c.subject = cache.subject
	c.sasl = []sasl.Mechanism{oauth.Oauth(func(ctx context.Context) (oauth.Auth, error) {
		token, err := cache.get(ctx)
		return oauth.Auth{Token: token, Extensions: extensions}, err
	})}
	return nil
}

// extensions are Java's JAAS options extension_NAME="…" and librdkafka's
// sasl.oauthbearer.extensions=NAME=…,….
func (r *resolver) extensions(entry jaas) (map[string]string, error) {
	out := make(map[string]string)
	for k, v := range entry.options {
		if name, ok := strings.CutPrefix(k, "extension_"); ok {
			out[name] = v
		}
	}
	s := r.settings["sasl.oauthbearer.extensions"]
	for _, kv := range strings.Split(s.value, ",") {
		if strings.TrimSpace(kv) == "" {
			continue
		}
		k, v, ok := strings.Cut(kv, "=")
		if !ok {
			return nil, usagef("NAME=VALUE,NAME=VALUE", "%s: %q has no =", s.where(), kv)
		}
		out[strings.TrimSpace(k)] = strings.TrimSpace(v)
	}
	for k := range out {
		if k == "auth" || k == "" || strings.ContainsAny(k, "0123456789_-.") {
			return nil, usagef("letters only, and not auth (RFC 7628)", "%q is no name of a SASL extension", k)
		}
	}
	return out, nil
}

// tokenCache keeps a token until it is close to its end: authentication happens
// once for each broker, and a token endpoint is not to be asked as often.
type tokenCache struct {
	fetch func(context.Context) (string, error)
	now   func() time.Time

	mu      sync.Mutex
	token   string
	expires time.Time
}

// tokenMargin is how long before its end a token is replaced.
const tokenMargin = 30 * time.Second

func (t *tokenCache) get(ctx context.Context) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.token != "" && t.now().Before(t.expires.Add(-tokenMargin)) {
		return t.token, nil
	}
	token, err := t.fetch(ctx)
	if err != nil {
		return "", err
	}
	t.token, t.expires = token, t.now() // an opaque token is fetched anew each time
	if exp, ok := tokenExpiry(token); ok {
		if !t.now().Before(exp) {
			t.token = ""
			return "", &Error{Kind: KindToken, msg: "the OAuth token expired on " + exp.UTC().Format("2006-01-02 15:04:05 MST"),
				hint: "fetch a new one; a token file is read again at every connection"}
		}
		t.expires = exp
	}
	return token, nil
}

// subject is the sub claim of the token in use, "" before there was one or where it
// is no JWT. It is the user name that brokers give the connection by default.
func (t *tokenCache) subject() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	c, _ := tokenClaims(t.token)
	return c.Sub
}

type claims struct {
	Exp float64 `json:"exp"`
	Sub string  `json:"sub"`
}

// tokenClaims reads a JWT, without checking anything.
func tokenClaims(token string) (claims, bool) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return claims{}, false
	}
	b, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	if err != nil {
		return claims{}, false
	}
	var c claims
	if json.Unmarshal(b, &c) != nil {
		return claims{}, false
	}
	return c, true
}

func tokenExpiry(token string) (time.Time, bool) {
	c, ok := tokenClaims(token)
	if !ok || c.Exp <= 0 || c.Exp > 1e11 {
		return time.Time{}, false
	}
	return time.Unix(int64(c.Exp), 0), true
}

// unsecured makes an unsigned token (alg none), which brokers accept for tests
// alone: Java's unsecuredLoginStringClaim_sub, librdkafka's
// sasl.oauthbearer.config=principal=….
func (r *resolver) unsecured(entry jaas, extensions map[string]string) (func(context.Context) (string, error), error) {
	claims := map[string]any{}
	principal := ""
	for k, v := range entry.options {
		if name, ok := strings.CutPrefix(k, "unsecuredLoginStringClaim_"); ok {
			claims[name] = v
			if name == "sub" {
				principal = v
			}
		}
	}
	if s := r.settings["sasl.oauthbearer.config"]; s.value != "" {
		for _, kv := range strings.Fields(s.value) {
			k, v, _ := strings.Cut(kv, "=")
			switch {
			case k == "principal":
				principal = v
				claims["sub"] = v
			case k == "scope":
				claims["scope"] = strings.Split(v, ",")
			case strings.HasPrefix(k, "extension_"):
				extensions[strings.TrimPrefix(k, "extension_")] = v
			}
		}
	}
	if principal == "" {
		return nil, usagef("sasl.oauthbearer.token.endpoint.url=https://… with clientId and clientSecret, or file:///… for a token in a file",
			"OAUTHBEARER: nothing says where the token comes from")
	}
	r.warn("OAUTHBEARER with an unsecured token for %s: brokers accept it only where they are set up for tests", principal)
	return func(context.Context) (string, error) {
		now := time.Now()
		claims["iat"], claims["exp"] = now.Unix(), now.Add(time.Hour).Unix()
		body, err := json.Marshal(claims)
		if err != nil {
			return "", err
		}
		enc := base64.RawURLEncoding
		return enc.EncodeToString([]byte(`{"alg":"none"}`)) + "." + enc.EncodeToString(body) + ".", nil
	}, nil
}

// tokenFile reads a token from a file:///… URL, as Kafka's FileJwtRetriever does;
// it is read at each authentication, since something else renews it.
func (r *resolver) tokenFile(s setting) (func(context.Context) (string, error), error) {
	u, err := url.Parse(s.value)
	if err != nil || u.Path == "" {
		return nil, usagef("file:///absolute/path", "%s: %q is no file URL", s.where(), s.value)
	}
	read := func(context.Context) (string, error) {
		b, err := readFile(r.path(u.Path), 1<<20)
		if err != nil {
			return "", &Error{Kind: KindToken, msg: "OAuth token: " + err.Error(), hint: s.where(), err: err}
		}
		token := strings.TrimSpace(string(b))
		if token == "" {
			return "", &Error{Kind: KindToken, msg: "OAuth token: " + u.Path + " is empty", hint: s.where()}
		}
		return token, nil
	}
	if _, err := read(context.Background()); err != nil {
		return nil, usagef("the file holds the token and nothing else", "%s: %w", s.where(), errors.Unwrap(err))
	}
	return read, nil
}

// endpointRequest is what is asked of a token endpoint. Kafka's own retriever is
// followed (Basic authentication, no percent-encoding unless told), which generic
// OAuth libraries do not do.
type endpointRequest struct {
	url, id, secret, scope string
	urlencode              bool
	client                 *http.Client
	where                  string
}

func (r *resolver) tokenEndpoint(c *Config, s setting, entry jaas) (func(context.Context) (string, error), error) {
	u, err := url.Parse(s.value)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, usagef("https://HOST/PATH, or file:///PATH", "%s: %q is no URL of a token endpoint", s.where(), s.value)
	}
	id := r.credential(entry, "sasl.oauthbearer.client.credentials.client.id", "clientId", "oauth.client.id")
	secret := r.credential(entry, "sasl.oauthbearer.client.credentials.client.secret", "clientSecret", "oauth.client.secret")
	scope := r.credential(entry, "sasl.oauthbearer.scope", "scope", "oauth.scope")
	if id.value == "" {
		return nil, usagef(`sasl.jaas.config option clientId="…", or sasl.oauthbearer.client.id`, "OAUTHBEARER: the client id for %s is missing", u.Host)
	}
	if secret.value == "" {
		v, err := r.prompt("client secret of " + id.value)
		if err != nil {
			return nil, usagef(`sasl.jaas.config option clientSecret="…", or KGDIAG_SASL_OAUTHBEARER_CLIENT_SECRET`, "OAUTHBEARER: the client secret of %s is missing", id.value)
		}
		secret.value = v
	}
	c.User = id.value
	client, err := r.httpsClient(c, entry)
	if err != nil {
		return nil, err
	}
	req := endpointRequest{url: s.value, id: id.value, secret: secret.value, scope: scope.value, client: client, where: s.where(),
		urlencode: r.settings.get("sasl.oauthbearer.header.urlencode") == "true"}
	return req.fetch, nil
}

// httpsClient trusts what https.ca.* (librdkafka) or the JAAS options ssl.* (Java)
// name for the token endpoint, else the system's CAs.
func (r *resolver) httpsClient(c *Config, entry jaas) (*http.Client, error) {
	t := &http.Transport{Proxy: http.ProxyFromEnvironment, TLSHandshakeTimeout: c.BrokerTimeout()}
	var certs []*x509.Certificate
	var err error
	origin := r.settings["sasl.jaas.config"].where()
	switch key := r.settings.higher("https.ca.pem", "https.ca.location"); {
	case key == "https.ca.pem":
		origin = r.settings[key].where()
		certs, err = pemCertificates([]byte(r.settings.get(key)))
	case key != "" && r.settings.get(key) != "probe":
		origin = r.settings[key].where()
		certs, err = r.caFileOrDir(r.settings.get(key))
	case entry.options["ssl.truststore.certificates"] != "":
		certs, err = pemCertificates([]byte(entry.options["ssl.truststore.certificates"]))
	case entry.options["ssl.truststore.location"] != "":
		sub := &resolver{opt: r.opt, settings: settings{"ssl.truststore.password": {value: entry.options["ssl.truststore.password"]}}}
		certs, err = sub.truststore(entry.options["ssl.truststore.location"])
	}
	if err != nil {
		return nil, usagef(storeHint(err), "%s: %w", origin, err)
	}
	if len(certs) > 0 {
		pool := x509.NewCertPool()
		for _, cert := range certs {
			pool.AddCert(cert)
		}
		t.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}
	return &http.Client{Transport: t, Timeout: 2 * c.BrokerTimeout(), CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse // a redirect would carry the secret elsewhere
	}}, nil
}

func (e endpointRequest) fetch(ctx context.Context) (string, error) {
	form := url.Values{"grant_type": {"client_credentials"}}
	if e.scope != "" {
		form.Set("scope", e.scope)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, strings.NewReader(form.Encode()))
	if err != nil {
		return "", e.failed("not a request: " + bare(err))
	}
	id, secret := e.id, e.secret
	if e.urlencode {
		id, secret = url.QueryEscape(id), url.QueryEscape(secret)
	}
	req.SetBasicAuth(id, secret)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	resp, err := e.client.Do(req)
	if err != nil {
		var ue *url.Error
		if errors.As(err, &ue) {
			err = ue.Err
		}
		fail := e.failed(bare(err))
		var unknown x509.UnknownAuthorityError
		if errors.As(err, &unknown) {
			fail.hint = "https.ca.location=FILE with the CA of the token endpoint (it is not taken from ssl.truststore.*)"
		}
		return "", fail
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return "", e.failed(bare(err))
	}
	return e.read(resp, body)
}

func (e endpointRequest) read(resp *http.Response, body []byte) (string, error) {
	var answer struct {
		AccessToken string `json:"access_token"`
		IDToken     string `json:"id_token"`
		Error       string `json:"error"`
		Description string `json:"error_description"`
	}
	jsonErr := json.Unmarshal(body, &answer)
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		text := resp.Status
		if answer.Error != "" {
			text += " (" + strings.TrimSuffix(answer.Error+": "+firstLine(answer.Description), ": ") + ")"
		}
		fail := e.failed(text)
		if resp.StatusCode == http.StatusUnauthorized || answer.Error == "invalid_client" {
			fail.hint = "client id " + e.id + " or its secret is wrong; special characters: sasl.oauthbearer.header.urlencode=true"
		}
		return "", fail
	}
	if token := firstOf(answer.AccessToken, answer.IDToken); jsonErr == nil && token != "" {
		return token, nil
	}
	return "", e.failed("the answer holds no access_token")
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return strings.TrimSpace(s[:min(len(s), 200)])
}

func (e endpointRequest) failed(text string) *Error {
	return &Error{Kind: KindToken, msg: fmt.Sprintf("no OAuth token from %s: %s", e.url, text), hint: e.where}
}
