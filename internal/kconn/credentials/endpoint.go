package credentials

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/kgdiag/kgdiag/internal/kconn/fault"
	"github.com/kgdiag/kgdiag/internal/kconn/settings"
	"github.com/kgdiag/kgdiag/internal/kconn/stores"
)

// endpointRequest is what is asked of a token endpoint. Kafka's own retriever is
// followed (Basic authentication, no percent-encoding unless told), which generic
// OAuth libraries do not do.
type endpointRequest struct {
	url, id, secret, scope string
	urlencode              bool
	client                 *http.Client
	where                  string
}

func (r reader) tokenEndpoint(c *Credentials, s settings.Setting) (func(context.Context) (string, error), error) {
	u, err := url.Parse(s.Value)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, fault.Usagef("https://HOST/PATH, or file:///PATH", "%s: %q is no URL of a token endpoint", s.Where(), s.Value)
	}
	id := r.credential("sasl.oauthbearer.client.credentials.client.id", "clientId", "oauth.client.id")
	secret := r.credential("sasl.oauthbearer.client.credentials.client.secret", "clientSecret", "oauth.client.secret")
	scope := r.credential("sasl.oauthbearer.scope", "scope", "oauth.scope")
	if id.Value == "" {
		return nil, fault.Usagef(`sasl.jaas.config option clientId="…", or sasl.oauthbearer.client.id`, "OAUTHBEARER: the client id for %s is missing", u.Host)
	}
	if secret.Value == "" {
		v, err := r.Prompt("client secret of " + id.Value)
		if err != nil {
			return nil, fault.Usagef(`sasl.jaas.config option clientSecret="…", or KGDIAG_SASL_OAUTHBEARER_CLIENT_SECRET`, "OAUTHBEARER: the client secret of %s is missing", id.Value)
		}
		secret.Value = v
	}
	c.User = id.Value
	client, err := r.httpsClient()
	if err != nil {
		return nil, err
	}
	req := endpointRequest{url: s.Value, id: id.Value, secret: secret.Value, scope: scope.Value, client: client, where: s.Where(),
		urlencode: r.Get("sasl.oauthbearer.header.urlencode") == "true"}
	return req.fetch, nil
}

// httpsClient trusts what https.ca.* (librdkafka) or the JAAS options ssl.* (Java)
// name for the token endpoint, else the system's CAs.
func (r reader) httpsClient() (*http.Client, error) {
	t := &http.Transport{Proxy: http.ProxyFromEnvironment, TLSHandshakeTimeout: r.about.Timeout}
	certs, err := r.httpsTrust()
	if err != nil {
		return nil, err
	}
	if len(certs) > 0 {
		pool := x509.NewCertPool()
		for _, cert := range certs {
			pool.AddCert(cert)
		}
		t.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}
	return &http.Client{Transport: t, Timeout: 2 * r.about.Timeout, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse // a redirect would carry the secret elsewhere
	}}, nil
}

// httpsTrust are the certificates to trust at the token endpoint; none for the system's.
func (r reader) httpsTrust() (certs []*x509.Certificate, err error) {
	from := r.At("sasl.jaas.config")
	pem, file := r.jaas.options["ssl.truststore.certificates"], r.jaas.options["ssl.truststore.location"]
	switch key := r.Higher("https.ca.pem", "https.ca.location"); {
	case key == "https.ca.pem":
		from = r.At(key)
		certs, err = stores.Certificates([]byte(from.Value))
	case key != "" && r.Get(key) != "probe":
		from = r.At(key)
		certs, err = stores.Authorities(r.Settings, from.Value)
	case pem != "":
		certs, err = stores.Certificates([]byte(pem))
	case file != "":
		certs, err = stores.Trusted(r.Path(file), r.jaas.options["ssl.truststore.password"])
	}
	if err != nil {
		return nil, fault.Usagef(stores.Hint(err), "%s: %w", from.Where(), err)
	}
	return certs, nil
}

func (e endpointRequest) fetch(ctx context.Context) (string, error) {
	form := url.Values{"grant_type": {"client_credentials"}}
	if e.scope != "" {
		form.Set("scope", e.scope)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, strings.NewReader(form.Encode()))
	if err != nil {
		return "", e.failed("not a request: " + fault.Bare(err))
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
		fail := e.failed(fault.Bare(err))
		var unknown x509.UnknownAuthorityError
		if errors.As(err, &unknown) {
			fail.Tip = "https.ca.location=FILE with the CA of the token endpoint (it is not taken from ssl.truststore.*)"
		}
		return "", fail
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return "", e.failed(fault.Bare(err))
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
			text += " (" + strings.TrimSuffix(firstLine(answer.Error)+": "+firstLine(answer.Description), ": ") + ")"
		}
		fail := e.failed(text)
		if resp.StatusCode == http.StatusUnauthorized || answer.Error == "invalid_client" {
			fail.Tip = "client id " + e.id + " or its secret is wrong; special characters: sasl.oauthbearer.header.urlencode=true"
		}
		return "", fail
	}
	if token := cmp.Or(answer.AccessToken, answer.IDToken); jsonErr == nil && token != "" {
		return token, nil
	}
	return "", e.failed("the answer holds no access_token")
}

// firstLine is the start of a text from outside, as much as one line of a message holds.
func firstLine(s string) string {
	if end := strings.IndexAny(s, "\r\n"); end >= 0 {
		s = s[:end]
	}
	return strings.TrimSpace(strings.ToValidUTF8(s[:min(len(s), 200)], ""))
}

func (e endpointRequest) failed(text string) *fault.Error {
	return &fault.Error{Kind: fault.Token, Msg: fmt.Sprintf("no OAuth token from %s: %s", e.url, text), Tip: e.where}
}
