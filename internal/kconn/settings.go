package kconn

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/kgdiag/kgdiag/inspect/clientconf/properties"
)

// layer ranks the sources of a setting: a higher one wins.
type layer int

const (
	layerContextFile layer = iota + 1
	layerContext
	layerFile
	layerEnv
	layerFlag
)

// setting is one value with the place it came from.
type setting struct {
	key    string // as it was spelled there
	value  string
	layer  layer
	origin string // "client.properties:3", "-X", "KGDIAG_SASL_PASSWORD", "context prod"
}

// settings maps canonical keys to what counts for them.
type settings map[string]setting

func (s settings) get(key string) string { return s[key].value }

// where names the place of a setting for a message: `client.properties:3: ssl.ca.location`.
func (s setting) where() string {
	if s.origin == "" {
		return s.key
	}
	return s.origin + ": " + s.key
}

// higher picks the key whose value stands in the highest layer; the first named
// wins a tie. It returns "" where none of the keys is set.
func (s settings) higher(keys ...string) string {
	best := ""
	for _, k := range keys {
		if v, ok := s[k]; ok && v.value != "" && (best == "" || v.layer > s[best].layer) {
			best = k
		}
	}
	return best
}

// add takes a value into s if no higher layer has set the key. Unknown keys are
// warned about, with the nearest known one.
func (r *resolver) add(s setting) error {
	s.key = strings.TrimSpace(s.key)
	info, canonical, fromFile, ok := lookupKey(s.key)
	if !ok {
		if !known(s.key) {
			r.warnUnknown(s)
		}
		return nil
	}
	if info.instead != "" {
		r.warn("%s: not acted upon; use %s", s.where(), info.instead)
		return nil
	}
	value, err := r.expand(s.value)
	if err != nil {
		return usagef("write the value itself, or set the variable", "%s: %w", s.where(), err)
	}
	if fromFile {
		if value, err = r.secretFile(value); err != nil {
			return usagef("the file holds the value and nothing else", "%s: %w", s.where(), err)
		}
	}
	if info.secret && s.layer == layerFlag && !fromFile && s.value == value && value != "" {
		r.warn("%s on the command line: every user of this machine can read it (ps) and the shell keeps it; use KGDIAG_%s, or -X %s.file=FILE", s.key, envName(canonical), s.key)
	}
	// Java trims nothing, and neither does this: a blank at the end of a password
	// counts. Keys whose values cannot hold blanks are trimmed.
	if !info.secret {
		value = strings.TrimSpace(value)
	}
	if old, ok := r.settings[canonical]; ok && old.layer > s.layer {
		return nil
	}
	s.value = value
	r.settings[canonical] = s
	return nil
}

func (r *resolver) warnUnknown(s setting) {
	if r.unknown[s.key] {
		return
	}
	r.unknown[s.key] = true
	if n := nearest(s.key); n != "" {
		r.warn("%s: unknown key, not used; did you mean %s?", s.where(), n)
		return
	}
	r.warn("%s: unknown key, not used", s.where())
}

// reference is a value that stands elsewhere: ${NAME} and ${env:NAME} in the
// environment, ${file:PATH} the text of a file, ${file:PATH:KEY} a key of a
// properties file (the forms of Kafka's EnvVar- and FileConfigProvider).
var reference = regexp.MustCompile(`\$\{(?:(env):)?([A-Za-z_][A-Za-z0-9_]*)\}|\$\{file:([^}:]+)(?::([^}]+))?\}`)

func (r *resolver) expand(v string) (string, error) {
	if !strings.Contains(v, "${") {
		return v, nil
	}
	var failed error
	out := reference.ReplaceAllStringFunc(v, func(m string) string {
		g := reference.FindStringSubmatch(m)
		if name := g[2]; name != "" {
			val := r.getenv(name)
			if val == "" && failed == nil {
				failed = fmt.Errorf("it refers to the environment variable %s, which is not set", name)
			}
			return val
		}
		text, err := r.secretFile(g[3])
		if err == nil && g[4] != "" {
			var f *properties.File
			if f, err = properties.Parse([]byte(text)); err == nil {
				e, ok := f.Get(g[4])
				if !ok {
					err = fmt.Errorf("%s has no key %s", g[3], g[4])
				}
				text = e.Value
			}
		}
		if err != nil && failed == nil {
			failed = err
		}
		return text
	})
	return out, failed
}

// secretFile reads a file that holds one value; the line end that editors and
// kubectl leave there is no part of it.
func (r *resolver) secretFile(path string) (string, error) {
	b, err := readFile(r.path(path), 1<<20)
	if err != nil {
		return "", err
	}
	return strings.TrimRight(string(b), "\r\n"), nil
}

// path expands ~/ , which no shell has done inside a file.
func (r *resolver) path(p string) string {
	if rest, ok := strings.CutPrefix(p, "~/"); ok && r.opt.Home != "" {
		return filepath.Join(r.opt.Home, rest)
	}
	return p
}

// readFile reads a whole regular file (or pipe: <(vault read …) is how secrets
// arrive) of at most limit bytes; the errors name the file once and are short.
func readFile(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fileError(path, err)
	}
	defer f.Close()
	if st, err := f.Stat(); err == nil && st.IsDir() {
		return nil, fmt.Errorf("%s is a directory, a file is expected", path)
	}
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, fileError(path, err)
	}
	if int64(len(b)) > limit {
		return nil, fmt.Errorf("%s is over %d MB: not a configuration file", path, limit>>20)
	}
	return b, nil
}

func fileError(path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: no such file", path)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s: permission denied", path)
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return fmt.Errorf("%s: %w", path, err)
}

// loadProperties reads a properties file into the settings.
func (r *resolver) loadProperties(path, from string, l layer) error {
	b, err := readFile(r.path(path), properties.MaxSize)
	if err != nil {
		return usagef("--command-config takes the client.properties that Kafka's own tools take", "%s: %w", from, err)
	}
	f, err := properties.Parse(b)
	if err != nil {
		return usagef("lines are key=value, as in Kafka's client.properties", "%s: %s: %w", from, path, err)
	}
	lines := make(map[string][]int)
	for _, e := range f.Entries {
		lines[e.Key] = append(lines[e.Key], e.Line)
	}
	literal := librdkafkaDialect(f)
	for _, e := range f.Entries {
		if l := lines[e.Key]; l[len(l)-1] != e.Line {
			continue
		}
		if l := lines[e.Key]; len(l) > 1 {
			r.warn("%s: %s stands on lines %s; the last one counts", path, e.Key, joinLines(l))
		}
		value := e.Value
		if literal {
			value = e.Raw
		}
		if err := r.add(setting{key: e.Key, value: value, layer: l, origin: fmt.Sprintf("%s:%d", path, e.Line)}); err != nil {
			return err
		}
	}
	return nil
}

// librdkafkaDialect tells files for kcat and its kin, in which a backslash is a
// backslash: they have a key that only librdkafka knows, and no JAAS.
func librdkafkaDialect(f *properties.File) bool {
	only := []string{"sasl.username", "sasl.password", "sasl.mechanisms", "metadata.broker.list", "ssl.ca.location", "ssl.ca.pem",
		"ssl.certificate.location", "ssl.key.location", "sasl.oauthbearer.method", "enable.ssl.certificate.verification"}
	if _, ok := f.Get("sasl.jaas.config"); ok {
		return false
	}
	return slices.ContainsFunc(f.Entries, func(e properties.Entry) bool {
		// PEM text in a value needs the \n of Java's escapes, whatever else is there.
		return slices.Contains(only, e.Key) && !strings.Contains(e.Raw, "-----BEGIN")
	})
}

func joinLines(l []int) string {
	var s []string
	for _, n := range l[:len(l)-1] {
		s = append(s, fmt.Sprint(n))
	}
	return strings.Join(s, ", ") + " and " + fmt.Sprint(l[len(l)-1])
}

// envName is the part of the variable's name after KGDIAG_: sasl.password is SASL_PASSWORD.
func envName(key string) string {
	return strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(key))
}

// loadEnv takes KGDIAG_<KEY> and KGDIAG_<KEY>_FILE for every connecting key, and
// KGDIAG_X with key=value lines.
func (r *resolver) loadEnv() error {
	for _, key := range slices.Sorted(maps.Keys(connecting)) {
		name := "KGDIAG_" + envName(key)
		if key == "bootstrap.servers" || connecting[key].instead != "" {
			continue
		}
		if v := r.getenv(name); v != "" {
			if err := r.add(setting{key: key, value: v, layer: layerEnv, origin: name}); err != nil {
				return err
			}
		} else if f := r.getenv(name + "_FILE"); f != "" {
			v, err := r.secretFile(f)
			if err != nil {
				return usagef("the file holds the value and nothing else", "%s_FILE: %w", name, err)
			}
			if err := r.add(setting{key: key, value: v, layer: layerEnv, origin: name + "_FILE"}); err != nil {
				return err
			}
		}
	}
	return r.loadX(strings.FieldsFunc(r.getenv("KGDIAG_X"), func(c rune) bool { return c == '\n' }), layerEnv, "KGDIAG_X")
}

func (r *resolver) loadX(list []string, l layer, origin string) error {
	for _, kv := range list {
		key, value, ok := strings.Cut(kv, "=")
		if !ok || strings.TrimSpace(key) == "" {
			// The text is not repeated: a password may stand there.
			return usagef("for example -X security.protocol=SASL_SSL", "%s: a setting is written key=value", origin)
		}
		if err := r.add(setting{key: key, value: value, layer: l, origin: origin}); err != nil {
			return err
		}
	}
	return nil
}
