package settings

import (
	"maps"
	"slices"
	"strings"

	"github.com/kgdiag/kgdiag/internal/kconn/fault"
)

// envName is the part of the variable's name after KGDIAG_: sasl.password is SASL_PASSWORD.
func envName(key string) string {
	return strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(key))
}

// environment is KGDIAG_<KEY> and KGDIAG_<KEY>_FILE for every connecting key, and
// KGDIAG_X with key=value lines, which count before those.
func (s *Settings) environment() ([]Setting, error) {
	var out []Setting
	for _, key := range slices.Sorted(maps.Keys(connecting)) {
		name := "KGDIAG_" + envName(key)
		if key == keyServers || connecting[key].instead != "" { // a source of its own
			continue
		}
		if v := s.Getenv(name); v != "" {
			out = append(out, Setting{Key: key, Value: v, Layer: LayerEnv, Origin: name})
		} else if f := s.Getenv(name + "_FILE"); f != "" {
			v, err := s.secretFile(f)
			if err != nil {
				return nil, fault.Usagef("the file holds the value and nothing else", "%s_FILE: %w", name, err)
			}
			out = append(out, Setting{Key: key, Value: v, Layer: LayerEnv, Origin: name + "_FILE"})
		}
	}
	lines := strings.FieldsFunc(s.Getenv("KGDIAG_X"), func(c rune) bool { return c == '\n' })
	x, err := pairList(lines, LayerEnv, "KGDIAG_X")
	return append(out, x...), err
}

// pairList reads settings that are written key=value.
func pairList(list []string, layer Layer, origin string) ([]Setting, error) {
	var out []Setting
	for _, kv := range list {
		key, value, ok := strings.Cut(kv, "=")
		if !ok || strings.TrimSpace(key) == "" {
			// The text is not repeated: a password may stand there.
			return nil, fault.Usagef("for example -X security.protocol=SASL_SSL", "%s: a setting is written key=value", origin)
		}
		out = append(out, Setting{Key: key, Value: value, Layer: layer, Origin: origin})
	}
	return out, nil
}
