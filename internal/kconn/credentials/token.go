package credentials

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"github.com/kgdiag/kgdiag/internal/kconn/fault"
)

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
			return "", &fault.Error{Kind: fault.Token, Msg: "the OAuth token expired on " + exp.UTC().Format("2006-01-02 15:04:05 MST"),
				Tip: "fetch a new one; a token file is read again at every connection"}
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
