package kconn

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"
)

// contexts are the named clusters of the configuration file.
type contexts struct {
	path    string // of the file, for messages
	current string // the default context, or ""
	list    []namedContext
}

// namedContext is one cluster with its settings, in the order of the file.
type namedContext struct {
	name     string
	origin   string // the file
	settings []setting
	unusable string // why it cannot be used; "" where nothing is known against it
}

// The keys of a context that are kgdiag's flags rather than Kafka's keys.
const (
	ctxCommandConfig = "command-config"
	ctxBrokerMap     = "broker-map"
)

func (n namedContext) get(key string) string {
	for _, s := range n.settings {
		if s.key == key {
			return s.value
		}
	}
	return ""
}

func (n namedContext) servers() string { return n.get("bootstrap.servers") }

func (c contexts) names() []string {
	var out []string
	for _, n := range c.list {
		out = append(out, n.name)
	}
	return out
}

func (c contexts) find(name, by string) (namedContext, error) {
	for _, n := range c.list {
		if n.name == name {
			if n.unusable != "" {
				return n, usagef("", "%s: context %q of %s: %s", by, name, n.origin, n.unusable)
			}
			return n, nil
		}
	}
	hint := "kgdiag check --contexts lists those that there are"
	if names := c.names(); len(names) > 0 {
		hint = "there are: " + strings.Join(names, ", ")
		for _, n := range names {
			if strings.HasSuffix(n, "/"+name) {
				hint = "--context " + n
			}
		}
	} else if c.path != "" {
		hint = "contexts are kept in " + c.path
	}
	return namedContext{}, usagef(hint, "%s: no context %q", by, name)
}

// configPath is where the contexts are: KGDIAG_CONFIG, else XDG_CONFIG_HOME or
// ~/.config, kgdiag/config.yaml.
func (r *resolver) configPath() string {
	if p := r.getenv("KGDIAG_CONFIG"); p != "" {
		return p
	}
	dir := r.getenv("XDG_CONFIG_HOME")
	if dir == "" && r.opt.Home != "" {
		dir = filepath.Join(r.opt.Home, ".config")
	}
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "kgdiag", "config.yaml")
}

// loadContexts reads the configuration file:
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
func (r *resolver) loadContexts() (contexts, error) {
	c := contexts{path: r.configPath()}
	if c.path == "" {
		return c, nil
	}
	b, err := readFile(c.path, 1<<20)
	if err != nil {
		if _, statErr := os.Stat(c.path); errors.Is(statErr, fs.ErrNotExist) && r.getenv("KGDIAG_CONFIG") == "" {
			return c, nil
		}
		return c, usagef("", "contexts: %w", err)
	}
	if err := c.parse(b); err != nil {
		return c, usagef("see docs/connecting.md for the form of the file", "%s: %w", c.path, err)
	}
	return c, nil
}

func (c *contexts) parse(b []byte) error {
	var doc yaml.Node
	if err := yaml.Unmarshal(b, &doc); err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
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
				n := namedContext{name: name.Value, origin: c.path}
				err := pairs(body, func(k, v *yaml.Node) error {
					value, err := scalar(k, v)
					n.settings = append(n.settings, setting{key: k.Value, value: value, origin: fmt.Sprintf("%s:%d", c.path, k.Line)})
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

// loadContext takes the settings of a context: its command-config first, its own
// keys above them.
func (r *resolver) loadContext(ctx namedContext) error {
	if path := ctx.get(ctxCommandConfig); path != "" {
		if err := r.loadProperties(path, "context "+ctx.name, layerContextFile); err != nil {
			return err
		}
		delete(r.settings, "bootstrap.servers")
	}
	for _, s := range ctx.settings {
		switch s.key {
		case "bootstrap.servers", ctxCommandConfig:
			continue
		case ctxBrokerMap:
			if r.opt.BrokerMap == "" {
				r.opt.BrokerMap = s.value
			}
			continue
		}
		s.layer = layerContext
		if err := r.add(s); err != nil {
			return err
		}
	}
	return nil
}
