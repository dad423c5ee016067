package inspect

import (
	"slices"
	"strings"

	"github.com/kgdiag/kgdiag/internal/pattern"
)

// Masked stands where a secret was.
const Masked = "***"

// The forms in which secrets stand in log lines and in values that hold more than one
// thing. Each pattern keeps what tells a reader what was there, as its first group.
var secretForms = []*pattern.Pattern{
	// A private key, up to its end or that of the text.
	pattern.New(`(?s)(-----BEGIN [A-Z ]*PRIVATE KEY-----).*?(?:-----END [A-Z ]*-----|$)`),
	// https://user:X@host and user:X@host.example.
	pattern.New(`(://[^\s/@:]*:)\S+@`),
	pattern.New(`(\b[\w.-]+:)[^\s:@/"'=]+@(?:[\w-]+\.[\w.-]+|localhost\b|[\w-]+:\d)`),
	// <password>X</password>, and the same of other names.
	pattern.New(`(?i)(<[^<>/]*(?:` + secretNames + `)[^<>/]*>)[^<]+`),
	// Authorization: Basic X, and a bearer token anywhere.
	pattern.New(`(?i)(\bauthorization\\?["']?\s*[=:]\s*\\?["']?(?:(?:basic|bearer|digest|negotiate|sasl|token)\s+)?)[^\s"'\\,;]+`),
	pattern.New(`(?i)(\b(?:bearer|basic)\s+)[A-Za-z0-9+/=._~-]{16,}`),
	// password=X, "password": "X", password1 = 'X', -Dx.password=X, password=\"X\".
	pattern.New(`(?i)((?:` + secretNames + `)[\w.-]*\\*["']?\s*(?:=>|[=:])\s*)(?:\\+"[^"]*?\\+"|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^\s;}\]]+)`),
	// --password X, password 'X', password is X.
	pattern.New(`(?i)(--?[\w.-]*(?:` + secretNames + `)[\w.-]*\s+)[^\s-]\S*`),
	pattern.New(`(?i)(\b(?:password|passphrase|secret|token)\s+(?:is\s+|was\s+)?)(?:"[^"]+"|'[^']+')`),
	pattern.New(`(?i)(\b(?:password|passphrase|secret) (?:is|was)\s+)\S+`),
	// Tokens and keys that look like nothing else.
	pattern.New(`(\b)eyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]*)?`),
	pattern.New(`(\b)(?:AKIA|ASIA)[0-9A-Z]{16}\b`),
}

// secretNames are the words that the name of a secret holds.
const secretNames = `password|passwd|passwort|pwd|passphrase|passcode|secret|token|jaas\.config|credential|user[._-]?info|` +
	`(?:api|access|account|shared|shared[._-]?access|private|encryption|master)[._-]?key|sharedaccesssignature|signature`

// secretHints are what a text with one of the forms holds at least: most lines hold none,
// and are not searched.
var secretHints = pattern.New(`(?i)@|BEGIN |authorization|bearer|basic |eyJ|AKIA|ASIA|` + secretNames)

// secretParts are plain parts of the hints, in lower case, by which most texts are told
// apart without the pattern, which is dear.
var secretParts = []string{"@", "begin ", "authorization", "bearer", "basic ", "eyj", "akia", "asia", "pass", "pwd", "secret", "token", "jaas", "credential", "user", "key", "signature"}

// hinted reports whether a text may hold a secret. Letters beyond ASCII that the pattern
// takes for others are left to it.
func hinted(s string) bool {
	ascii := !strings.ContainsFunc(s, func(r rune) bool { return r >= 0x80 })
	if low := strings.ToLower(s); ascii && !slices.ContainsFunc(secretParts, func(p string) bool { return strings.Contains(low, p) }) {
		return false
	}
	return secretHints.MatchString(s)
}

// MaskSecrets hides what looks like a secret in a text from outside: passwords, tokens,
// keys, and the user before a host, in the spellings of logs, URLs, JSON, XML and
// command lines. What is not marked as a secret in any of these ways it cannot know.
func MaskSecrets(s string) string {
	if !hinted(s) {
		return s
	}
	for _, form := range secretForms {
		s = form.ReplaceAllStringFunc(s, func(found string) string {
			m := form.FindStringSubmatch(found)
			rest := found[len(m[1]):]
			end := ""
			switch {
			case strings.Contains(rest, "@"):
				end = rest[strings.LastIndexByte(rest, '@'):]
			case strings.HasSuffix(rest, ","):
				end = ","
			}
			return m[1] + Masked + end
		})
	}
	return s
}
