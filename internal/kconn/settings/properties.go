package settings

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kgdiag/kgdiag/inspect/clientconf/properties"
	"github.com/kgdiag/kgdiag/internal/kconn/fault"
)

// file is what a client.properties says.
func (s *Settings) file(path, from string) (said, error) {
	if path == "" {
		return said{}, nil
	}
	values, err := s.properties(path, from, LayerFile)
	return said{values: values}, err
}

// properties reads the values of a properties file; of a key that stands several
// times the last counts.
func (s *Settings) properties(path, from string, layer Layer) ([]Setting, error) {
	b, err := ReadFile(s.Path(path), properties.MaxSize)
	if err != nil {
		return nil, fault.Usagef("--command-config takes the client.properties that Kafka's own tools take", "%s: %w", from, err)
	}
	f, err := properties.Parse(b)
	if err != nil {
		return nil, fault.Usagef("lines are key=value, as in Kafka's client.properties", "%s: %s: %w", from, path, err)
	}
	lines := make(map[string][]int)
	for _, e := range f.Entries {
		lines[e.Key] = append(lines[e.Key], e.Line)
	}
	literal := librdkafkaDialect(f)
	var out []Setting
	for _, e := range f.Entries {
		on := lines[e.Key]
		if on[len(on)-1] != e.Line {
			continue
		}
		if len(on) > 1 {
			s.Warn("%s: %s stands on lines %s; the last one counts", path, e.Key, joinLines(on))
		}
		value := e.Value
		if literal {
			value = e.Raw
		}
		out = append(out, Setting{Key: e.Key, Value: value, Layer: layer, Origin: fmt.Sprintf("%s:%d", path, e.Line)})
	}
	return out, nil
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
