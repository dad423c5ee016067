package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kgdiag/kgdiag/internal/kconn/fault"
	"github.com/kgdiag/kgdiag/internal/prose"
)

// contexts are the named clusters of the configuration file.
type contexts struct {
	path    string // of the file, for messages
	current string // the default context, or ""
	list    []Named
}

// Named is one context with its values, in the order of the file.
type Named struct {
	Name   string
	Origin string // the file
	values []Setting
}

// keyCommandConfig is a key of a context that is kgdiag's flag rather than Kafka's key.
const keyCommandConfig = "command-config"

func (n Named) get(key string) string {
	for _, s := range n.values {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}

// Servers are the addresses as the file has them, without users and passwords.
func (n Named) Servers() string { return WithoutUser(n.get(keyServers)) }

func (c contexts) names() []string {
	var out []string
	for _, n := range c.list {
		out = append(out, n.Name)
	}
	return out
}

// say is what a context says; nothing where none is named.
func (c contexts) say(name, by string) (said, error) {
	if name == "" {
		return said{}, nil
	}
	i := slices.IndexFunc(c.list, func(n Named) bool { return n.Name == name })
	if i < 0 {
		return said{}, c.unknown(name, by)
	}
	n := c.list[i]
	out := said{cluster: "context " + name, context: name, file: n.get(keyCommandConfig)}
	for _, v := range n.values {
		if v.Key != keyCommandConfig {
			out.values = append(out.values, v)
		}
	}
	return out, nil
}

// otherTools are tools whose own named clusters kgdiag once took as TOOL/NAME.
var otherTools = []string{"kaf", "kafkactl", "kcl", "rpk"}

func (c contexts) unknown(name, by string) error {
	hint := "kgdiag check --contexts lists those that there are"
	tool, _, slash := strings.Cut(name, "/")
	switch names := c.names(); {
	case slash && slices.Contains(otherTools, tool):
		hint = "the clusters of " + tool + " are not read: write this one into " + c.path + ", docs/connecting.md shows the form"
	case len(names) > 0:
		hint = "there are: " + strings.Join(names, ", ")
	case c.path != "":
		hint = "contexts are kept in " + c.path
	}
	return fault.Usagef(hint, "%s: no context %q", by, name)
}

// Contexts are the contexts of the configuration file, the name of the one that counts
// by default, and the path of the file.
func Contexts(in Input) (list []Named, current, path string, err error) {
	c, err := (&Settings{in: in}).contexts()
	return c.list, c.current, c.path, err
}

// configPath is where the contexts are: KGDIAG_CONFIG, else XDG_CONFIG_HOME or
// ~/.config, kgdiag/config.yaml.
func (s *Settings) configPath() string {
	if p := s.Getenv("KGDIAG_CONFIG"); p != "" {
		return p
	}
	dir := s.Getenv("XDG_CONFIG_HOME")
	if dir == "" && s.in.Home != "" {
		dir = filepath.Join(s.in.Home, ".config")
	}
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "kgdiag", "config.yaml")
}

// contexts reads the configuration file:
//
//	current-context: prod
//	contexts:
//	  prod:
//	    bootstrap.servers: [kafka-1:9093, kafka-2:9093]
//	    security.protocol: SASL_SSL
//	    sasl.password.file: ~/.secrets/prod
//	    command-config: /etc/kafka/client.properties
//
// A missing file is no error.
func (s *Settings) contexts() (contexts, error) {
	c := contexts{path: s.configPath()}
	if c.path == "" {
		return c, nil
	}
	b, err := ReadFile(c.path, 1<<20)
	if err != nil {
		if _, statErr := os.Stat(c.path); errors.Is(statErr, fs.ErrNotExist) && s.Getenv("KGDIAG_CONFIG") == "" {
			return c, nil
		}
		return c, fault.Usagef("", "contexts: %w", err)
	}
	if err := c.parse(b); err != nil {
		return c, fault.Usagef("see docs/connecting.md for the form of the file", "%s: %w", c.path, err)
	}
	return c, nil
}

func (c *contexts) parse(b []byte) error {
	var doc yaml.Node
	if err := yaml.Unmarshal(b, &doc); err != nil {
		return prose.YAMLError(err)
	}
	if len(doc.Content) == 0 {
		return nil
	}
	return pairs(doc.Content[0], func(k, v *yaml.Node) error {
		switch k.Value {
		case "current-context":
			c.current = v.Value
			return nil
		case "contexts":
			return pairs(v, func(name, body *yaml.Node) error {
				n := Named{Name: name.Value, Origin: c.path}
				err := pairs(body, func(k, v *yaml.Node) error {
					value, err := scalar(k, v)
					n.values = append(n.values, Setting{Key: k.Value, Value: value, Layer: LayerContext, Origin: fmt.Sprintf("%s:%d", c.path, k.Line)})
					return err
				})
				c.list = append(c.list, n)
				return err
			})
		}
		return fmt.Errorf("line %d: %s: current-context and contexts are known", k.Line, k.Value)
	})
}

// pairs walks a YAML mapping.
func pairs(n *yaml.Node, visit func(k, v *yaml.Node) error) error {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return nil
	}
	if n.Kind != yaml.MappingNode {
		return fmt.Errorf("line %d: key: value lines are expected", n.Line)
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if err := visit(n.Content[i], n.Content[i+1]); err != nil {
			return err
		}
	}
	return nil
}

// scalar is a value, or a list of them joined by commas.
func scalar(k, v *yaml.Node) (string, error) {
	if v.Kind == yaml.AliasNode {
		v = v.Alias
	}
	switch {
	case v.Kind == yaml.ScalarNode && v.Tag == "!!null":
		return "", nil
	case v.Kind == yaml.ScalarNode:
		return v.Value, nil
	case v.Kind == yaml.SequenceNode:
		var list []string
		for _, e := range v.Content {
			list = append(list, e.Value)
		}
		return strings.Join(list, ","), nil
	}
	return "", fmt.Errorf("line %d: %s: a value is expected", k.Line, k.Value)
}
