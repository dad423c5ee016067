package settings

import (
	"maps"
	"slices"
	"strings"

	"github.com/kgdiag/kgdiag/internal/pattern"
)

// masked stands for a secret.
const masked = "***"

// shortestSecret is from how many bytes on a secret is looked for in texts: what is
// shorter stands in half of all words.
const shortestSecret = 4

var (
	// jaasSecret is an option of a JAAS line that holds a secret.
	jaasSecret = pattern.New(`(?i)(?:password|secret|token)\w*\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))`)
	// webToken is a token as OAuth servers give it.
	webToken = pattern.New(`\beyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]*\.?[A-Za-z0-9_-]*`)
	// userinfo is what stands before the host in an address.
	userinfo = pattern.New(`(^|[\s"'(,=]|://)[^\s"'(),=/@]*:[^\s"'@]*@`)
)

// Mask hides the secrets of the settings wherever they stand in a text: brokers and
// proxies repeat what they were sent.
func (s *Settings) Mask(text string) string {
	for _, secret := range s.secrets() {
		text = strings.ReplaceAll(text, secret, masked)
	}
	return webToken.ReplaceAllString(text, masked)
}

// secrets are the values to hide, the longest first.
func (s *Settings) secrets() []string {
	found := map[string]bool{}
	for key, v := range s.values {
		if !connecting[key].secret {
			continue
		}
		found[v.Value] = true
		for _, m := range jaasSecret.FindAllStringSubmatch(v.Value, -1) {
			found[m[1]+m[2]] = true
		}
	}
	list := slices.DeleteFunc(slices.Collect(maps.Keys(found)), func(v string) bool { return len(v) < shortestSecret })
	slices.SortFunc(list, func(a, b string) int { return len(b) - len(a) })
	return list
}

// WithoutUser hides user and password in a list of addresses, or in any text with one.
func WithoutUser(text string) string { return userinfo.ReplaceAllString(text, "${1}"+masked+"@") }
