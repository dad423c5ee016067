package credentials

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/oauth"

	"github.com/kgdiag/kgdiag/internal/kconn/fault"
	"github.com/kgdiag/kgdiag/internal/kconn/settings"
)

// oauthBearer prepares OAUTHBEARER (KIP-255, KIP-768): a token from an endpoint
// with client credentials, from a file, or from AWS IAM. Which one is meant follows from the keys, as it does in Kafka.
func (r reader) oauthBearer(c *Credentials) error {
	if handler := r.Get("sasl.login.callback.handler.class"); strings.HasSuffix(handler, ".IAMOAuthBearerLoginCallbackHandler") {
		return r.mskOAuth(c)
	}
	if s := r.At("sasl.oauthbearer.method"); s.Value != "" && !strings.EqualFold(s.Value, "oidc") && !strings.EqualFold(s.Value, "default") {
		return fault.Usagef("oidc, or default", "%s: %q is no method", s.Where(), s.Value)
	}
	extensions, err := r.extensions()
	if err != nil {
		return err
	}
	endpoint := r.At("sasl.oauthbearer.token.endpoint.url")
	if endpoint.Value == "" {
		if v, ok := r.jaas.options["oauth.token.endpoint.uri"]; ok { // Strimzi's login handler
			endpoint = settings.Setting{Key: "sasl.jaas.config option oauth.token.endpoint.uri", Value: v, Origin: r.At("sasl.jaas.config").Origin}
		}
	}
	var fetch func(context.Context) (string, error)
	switch {
	case endpoint.Value == "":
		err = r.noToken()
	case strings.HasPrefix(endpoint.Value, "file:"):
		fetch, err = r.tokenFile(endpoint)
	default:
		fetch, err = r.tokenEndpoint(c, endpoint)
	}
	if err != nil {
		return err
	}
	cache := &tokenCache{fetch: fetch, now: time.Now}
	c.Subject = cache.subject
	c.Mechanisms = []sasl.Mechanism{oauth.Oauth(func(ctx context.Context) (oauth.Auth, error) {
		token, err := cache.get(ctx)
		return oauth.Auth{Token: token, Extensions: extensions}, err
	})}
	return nil
}

// extensions are Java's JAAS options extension_NAME="…" and librdkafka's
// sasl.oauthbearer.extensions=NAME=…,….
func (r reader) extensions() (map[string]string, error) {
	out := make(map[string]string)
	for k, v := range r.jaas.options {
		if name, ok := strings.CutPrefix(k, "extension_"); ok {
			out[name] = v
		}
	}
	s := r.At("sasl.oauthbearer.extensions")
	for _, kv := range strings.Split(s.Value, ",") {
		if strings.TrimSpace(kv) == "" {
			continue
		}
		k, v, ok := strings.Cut(kv, "=")
		if !ok {
			return nil, fault.Usagef("NAME=VALUE,NAME=VALUE", "%s: %q has no =", s.Where(), kv)
		}
		out[strings.TrimSpace(k)] = strings.TrimSpace(v)
	}
	for k := range out {
		if k == "auth" || k == "" || strings.ContainsAny(k, "0123456789_-.") {
			return nil, fault.Usagef("letters only, and not auth (RFC 7628)", "%q is no name of a SASL extension", k)
		}
	}
	return out, nil
}

// tokenFile reads a token from a file:///… URL, as Kafka's FileJwtRetriever does;
// it is read at each authentication, since something else renews it.
func (r reader) tokenFile(s settings.Setting) (func(context.Context) (string, error), error) {
	u, err := url.Parse(s.Value)
	if err != nil || u.Path == "" {
		return nil, fault.Usagef("file:///absolute/path", "%s: %q is no file URL", s.Where(), s.Value)
	}
	read := func(context.Context) (string, error) {
		b, err := settings.ReadFile(r.Path(u.Path), 1<<20)
		if err != nil {
			return "", &fault.Error{Kind: fault.Token, Msg: "OAuth token: " + err.Error(), Tip: s.Where(), Err: err}
		}
		token := strings.TrimSpace(string(b))
		if token == "" {
			return "", &fault.Error{Kind: fault.Token, Msg: "OAuth token: " + u.Path + " is empty", Tip: s.Where()}
		}
		return token, nil
	}
	if _, err := read(context.Background()); err != nil {
		return nil, fault.Usagef("the file holds the token and nothing else", "%s: %w", s.Where(), errors.Unwrap(err))
	}
	return read, nil
}

// noToken says that nothing names the source of a token. Unsecured tokens, which
// brokers take where they are set up for tests alone, are not made.
func (r reader) noToken() error {
	what := "nothing says where the token comes from"
	for option := range r.jaas.options {
		if strings.HasPrefix(option, "unsecuredLogin") {
			what = r.At("sasl.jaas.config").Where() + " asks for an unsecured token, which kgdiag does not make"
		}
	}
	return fault.Usagef("sasl.oauthbearer.token.endpoint.url=https://… with clientId and clientSecret, or file:///… for a token in a file", "OAUTHBEARER: %s", what)
}
