package settings

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kgdiag/kgdiag/inspect/clientconf/properties"
	"github.com/kgdiag/kgdiag/internal/kconn/fault"
	"github.com/kgdiag/kgdiag/internal/pattern"
)

// Layer ranks the sources of a setting: a higher one wins.
type Layer int

// The layers, from the lowest on.
const (
	LayerContextFile Layer = iota + 1 // the file that a context names
	LayerContext                      // a context
	LayerFile                         // the file of --command-config
	LayerEnv                          // an environment variable
	LayerFlag                         // the command line
)

// Setting is one value with the place it came from.
type Setting struct {
	Key    string // as it was spelled there
	Value  string
	Layer  Layer
	Origin string // "client.properties:3", "-X", "KGDIAG_SASL_PASSWORD", "/etc/x.yaml:7"
}

// Where names the place of a setting for a message: `client.properties:3: ssl.ca.location`.
func (s Setting) Where() string {
	switch s.Origin {
	case "":
		return s.Key
	case "--" + s.Key:
		return s.Origin
	}
	return s.Origin + ": " + s.Key
}

// Settings are what counts for each key of connecting.
type Settings struct {
	in       Input
	values   map[string]Setting // by canonical key
	warnings []string
	unknown  map[string]bool // keys that were warned about
}

// At is what counts for a canonical key; its Value is "" where nothing sets it.
func (s *Settings) At(key string) Setting { return s.values[key] }

// Get is the value of At.
func (s *Settings) Get(key string) string { return s.values[key].Value }

// Higher picks the key whose value stands in the highest layer; the first named
// wins a tie. It returns "" where none of the keys is set.
func (s *Settings) Higher(keys ...string) string {
	best := ""
	for _, k := range keys {
		if v, ok := s.values[k]; ok && v.Value != "" && (best == "" || v.Layer > s.values[best].Layer) {
			best = k
		}
	}
	return best
}

// Getenv is the environment that was given.
func (s *Settings) Getenv(name string) string {
	if s.in.Getenv == nil {
		return ""
	}
	return s.in.Getenv(name)
}

// Warn adds a warning, a line for stderr; a second time it is not repeated.
func (s *Settings) Warn(format string, args ...any) {
	if w := fmt.Sprintf(format, args...); !slices.Contains(s.warnings, w) {
		s.warnings = append(s.warnings, w)
	}
}

// Warnings are what Warn was told.
func (s *Settings) Warnings() []string { return s.warnings }

var errNoPrompt = errors.New("no terminal to ask on")

// Prompt asks for a secret on the terminal; an error where there is none, or where
// nothing was typed.
func (s *Settings) Prompt(label string) (string, error) {
	if s.in.Prompt == nil {
		return "", errNoPrompt
	}
	v, err := s.in.Prompt(label)
	if err == nil && v == "" {
		err = errNoPrompt
	}
	return v, err
}

// add takes a value if no higher layer has set its key. Unknown keys are warned about,
// with the nearest known one. What names the cluster has been weighed before.
func (s *Settings) add(v Setting) error {
	v.Key = strings.TrimSpace(v.Key)
	info, canonical, fromFile, ok := lookupKey(v.Key)
	switch {
	case !ok:
		s.warnUnknown(v)
		return nil
	case canonical == keyServers:
		return nil
	case info.instead != "":
		s.Warn("%s: not acted upon; use %s", v.Where(), info.instead)
		return nil
	}
	value, err := s.expand(v.Value)
	if err != nil {
		if info.secret && reference.FindString(v.Value) != v.Value { // a password may hold ${…}
			err = errors.New("it refers by ${…} to something that is not there")
		}
		return fault.Usagef("write the value itself, or set the variable", "%s: %w", v.Where(), err)
	}
	if fromFile {
		if value, err = s.secretFile(value); err != nil {
			return fault.Usagef("the file holds the value and nothing else", "%s: %w", v.Where(), err)
		}
	}
	if info.secret && v.Layer == LayerFlag && !fromFile && v.Value == value && value != "" {
		s.Warn("%s on the command line: every user of this machine can read it (ps) and the shell keeps it; use KGDIAG_%s, or -X %s.file=FILE", v.Key, envName(canonical), v.Key)
	}
	// Java trims nothing, and neither does this: a blank at the end of a password
	// counts. Keys whose values cannot hold blanks are trimmed.
	if !info.secret {
		value = strings.TrimSpace(value)
	}
	if old, ok := s.values[canonical]; ok && old.Layer > v.Layer {
		return nil
	}
	v.Value = value
	s.values[canonical] = v
	return nil
}

// keyLike is what may be the name of a setting. A line of a PEM key is not.
var keyLike = pattern.New(`^[A-Za-z][A-Za-z0-9]{0,23}([._-][A-Za-z0-9]{1,24}){0,12}$`)

func (s *Settings) warnUnknown(v Setting) {
	if known(v.Key) || s.unknown[v.Key] {
		return
	}
	if !keyLike.MatchString(v.Key) {
		if !s.unknown[""] {
			s.Warn("%s: no setting, not used, and not shown, since it may be part of a secret: a value of several lines needs \\ at their ends", cmp.Or(v.Origin, "a line"))
		}
		s.unknown[""] = true
		return
	}
	s.unknown[v.Key] = true
	if n := nearest(v.Key); n != "" {
		s.Warn("%s: unknown key, not used; did you mean %s?", v.Where(), n)
		return
	}
	s.Warn("%s: unknown key, not used", v.Where())
}

// reference is a value that stands elsewhere: ${NAME} and ${env:NAME} in the
// environment, ${file:PATH} the text of a file, ${file:PATH:KEY} a key of a
// properties file (the forms of Kafka's EnvVar- and FileConfigProvider).
var reference = pattern.New(`\$\{(?:(env):)?([A-Za-z_][A-Za-z0-9_]*)\}|\$\{file:([^}:]+)(?::([^}]+))?\}`)

func (s *Settings) expand(v string) (string, error) {
	if !strings.Contains(v, "${") {
		return v, nil
	}
	var failed error
	out := reference.ReplaceAllStringFunc(v, func(m string) string {
		g := reference.FindStringSubmatch(m)
		if name := g[2]; name != "" {
			val := s.Getenv(name)
			if val == "" && failed == nil {
				failed = fmt.Errorf("it refers to the environment variable %s, which is not set", name)
			}
			return val
		}
		text, err := s.secretFile(g[3])
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
