package clientconf

import (
	"path/filepath"
	"strconv"
	"strings"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/clientconf/properties"
	"github.com/kgdiag/kgdiag/inspect/settings"
	"github.com/kgdiag/kgdiag/internal/pattern"
)

// Programs and frameworks that ship consumers: where in their files a consumer stands.
// What they call its settings, and what they set by themselves, is in inspect/settings.
var _ = register(dialect{name: "framework", sniff: sniffFramework, read: readFramework})

// place is a section of a file that configures one consumer of a framework.
type place struct {
	framework string
	path      []string
	node      *node
	shared    []place // sections whose settings it inherits, the nearest first
}

// finders know where each framework keeps its consumers.
var finders = []func(name string, root *node) []place{
	otelPlaces, logstashPlaces, daprPlaces, benthosPlaces, vectorPlaces, telegrafPlaces, fluentBitPlaces, micronautPlaces, alpakkaPlaces, racecarPlaces, camelPlaces,
}

// each visits the nodes at a path of keys; lists on the way are entered, and a key that
// ends in * stands for all that begin so.
func each(root *node, path []string, visit func(path []string, n *node)) {
	var step func(at *node, done, rest []string)
	step = func(at *node, done, rest []string) {
		if at.kind == list {
			for i, k := range at.kids {
				step(k, append(done[:len(done):len(done)], "["+strconv.Itoa(i)+"]"), rest)
			}
			return
		}
		if len(rest) == 0 {
			visit(done, at)
			return
		}
		for _, k := range at.kids {
			head, open := strings.CutSuffix(rest[0], "*")
			if k.key == rest[0] || open && strings.HasPrefix(k.key, head) {
				step(k, append(done[:len(done):len(done)], k.key), rest[1:])
			}
		}
	}
	step(root, nil, path)
}

func otelPlaces(_ string, root *node) []place {
	var out []place
	each(root, []string{"receivers", "kafka*"}, func(path []string, n *node) {
		if key := path[len(path)-1]; key == "kafka" || strings.HasPrefix(key, "kafka/") {
			out = append(out, place{framework: "opentelemetry", path: path, node: n})
		}
	})
	return out
}

func logstashPlaces(_ string, root *node) []place {
	var out []place
	each(root, []string{"input", "kafka"}, func(path []string, n *node) {
		if n.kind == mapping && (n.kid("topics") != nil || n.kid("topics_pattern") != nil || n.kid("topic_id") != nil || n.kid("bootstrap_servers") != nil) && n.kid("addresses") == nil {
			out = append(out, place{framework: "logstash", path: path, node: n})
		}
	})
	return out
}

// daprPlaces turns a component's list of name and value into a section.
func daprPlaces(_ string, root *node) []place {
	if !strings.HasPrefix(root.text("apiVersion"), "dapr.io/") || !strings.HasSuffix(root.text("spec", "type"), ".kafka") {
		return nil
	}
	section := &node{kind: mapping, line: root.line}
	for _, k := range childrenOf(root.at("spec", "metadata")) {
		if v := k.kid("value"); v != nil {
			section.kids = append(section.kids, &node{key: k.text("name"), value: v.value, line: v.line, kind: v.kind})
		}
	}
	return []place{{framework: "dapr", path: nil, node: section}}
}

func benthosPlaces(_ string, root *node) []place {
	var out []place
	root.walk(func(path []string, n *node) {
		if n.kind != mapping || len(path) < 2 || !strings.HasPrefix(path[0], "input") {
			return
		}
		switch path[len(path)-1] {
		case "kafka", "kafka_balanced":
			if n.kid("addresses") != nil {
				out = append(out, place{framework: "benthos", path: path, node: n})
			}
		case "kafka_franz", "redpanda", "redpanda_common":
			out = append(out, place{framework: "benthos-franz", path: path, node: n})
		}
	})
	return out
}

func vectorPlaces(_ string, root *node) []place {
	var out []place
	each(root, []string{"sources", "*"}, func(path []string, n *node) {
		if n.text("type") == "kafka" {
			out = append(out, place{framework: "vector", path: path, node: n})
		}
	})
	return out
}

func telegrafPlaces(_ string, root *node) []place {
	var out []place
	each(root, []string{"inputs", "kafka_consumer"}, func(path []string, n *node) {
		out = append(out, place{framework: "telegraf", path: path, node: n})
	})
	return out
}

func fluentBitPlaces(_ string, root *node) []place {
	var out []place
	add := func(path []string, n *node) {
		for _, k := range n.kids {
			if strings.EqualFold(k.key, "name") && strings.EqualFold(k.value, "kafka") {
				out = append(out, place{framework: "fluent-bit", path: path, node: n})
			}
		}
	}
	each(root, []string{"pipeline", "inputs"}, add)
	each(root, []string{"INPUT"}, func(_ []string, n *node) { add(nil, n) })
	return out
}

func micronautPlaces(_ string, root *node) []place {
	var out []place
	base := root.kid("kafka")
	each(root, []string{"kafka", "consumers", "*"}, func(path []string, n *node) {
		if n.kind != mapping || path[len(path)-1] == "default" {
			return
		}
		p := place{framework: "micronaut", path: path, node: n}
		if d := base.at("consumers", "default"); d != nil {
			p.shared = append(p.shared, place{path: []string{"kafka", "consumers", "default"}, node: d})
		}
		p.shared = append(p.shared, place{path: []string{"kafka"}, node: base})
		out = append(out, p)
	})
	if d := base.at("consumers", "default"); len(out) == 0 && d != nil {
		out = append(out, place{framework: "micronaut", path: []string{"kafka", "consumers", "default"}, node: d, shared: []place{{path: []string{"kafka"}, node: base}}})
	}
	return out
}

func alpakkaPlaces(_ string, root *node) []place {
	var out []place
	root.walk(func(path []string, n *node) {
		for _, k := range n.kids {
			if key := join(append(path[:len(path):len(path)], k.key)); k.key == "kafka-clients" || strings.HasSuffix(key, ".consumer.kafka-clients") {
				if !strings.Contains(key, "producer") && k.kind == mapping {
					out = append(out, place{framework: "alpakka", path: path, node: n})
				}
			}
		}
	})
	return out
}

// racecarPlaces knows racecar's file by its name: a section for each environment.
func racecarPlaces(name string, root *node) []place {
	if !strings.HasPrefix(filepath.Base(name), "racecar.") {
		return nil
	}
	var out []place
	common := root.kid("common")
	for _, k := range root.kids {
		if k.kind == mapping && k.key != "common" {
			p := place{framework: "racecar", path: []string{k.key}, node: k}
			if common != nil {
				p.shared = []place{{path: []string{"common"}, node: common}}
			}
			out = append(out, p)
		}
	}
	if len(out) == 0 {
		out = []place{{framework: "racecar", node: root}}
	}
	return out
}

func camelPlaces(_ string, root *node) []place {
	var out []place
	each(root, []string{"camel", "component", "kafka*"}, func(path []string, n *node) {
		p := place{framework: "camel", path: path, node: n}
		if inner := n.kid("configuration"); inner != nil {
			p.path, p.node = append(path[:len(path):len(path)], "configuration"), inner
		}
		out = append(out, p)
	})
	return out
}

func places(name string, data []byte) ([]place, error) {
	trees, err := structuredTrees(name, data)
	if err != nil {
		return nil, err
	}
	if trees == nil && flatFramework.Match(data) {
		if f, err := properties.Parse(data); err == nil {
			trees = []*node{treeOf(entriesOfProperties(f))}
		}
	}
	var out []place
	for _, t := range trees {
		for _, find := range finders {
			out = append(out, find(name, t)...)
		}
	}
	return out, nil
}

// flatFramework are the beginnings of the keys of frameworks that read .properties too.
var flatFramework = pattern.New(`(?m)^\s*(?:kafka\.consumers\.|camel\.component\.kafka|(?:akka|pekko)\.kafka\.)`)

// treeOf nests entries at the dots of their keys.
func treeOf(es []entry) *node {
	root := &node{kind: mapping, line: 1}
	for _, e := range es {
		at := root
		steps := strings.Split(e.path, ".")
		if len(steps) > maxDepth {
			continue
		}
		for _, s := range steps[:len(steps)-1] {
			next := at.kid(s)
			if next == nil {
				next = &node{key: s, kind: mapping, line: e.line}
				at.kids = append(at.kids, next)
			}
			next.kind, at = mapping, next
		}
		at.kids = append(at.kids, &node{key: steps[len(steps)-1], value: e.value, line: e.line})
	}
	return root
}

func sniffFramework(name string, data []byte) int {
	if found, err := places(name, data); err == nil && len(found) > 0 {
		return 92
	}
	return 0
}

func readFramework(name string, data []byte, o Options) ([]inspect.ClientConfig, error) {
	found, err := places(name, data)
	if err != nil {
		return nil, err
	}
	var out []inspect.ClientConfig
	for _, p := range found {
		out = append(out, p.config(name, o))
	}
	return out, nil
}

func (p place) config(name string, o Options) inspect.ClientConfig {
	f, _ := settings.FrameworkOf(p.framework)
	b := newBuilder(name, p.framework, f.Client, o, p.node.line)
	b.c.Name, b.c.Framework = join(p.path), p.framework
	for i := len(p.shared) - 1; i >= 0; i-- {
		p.shared[i].fields(b, f, rankInherited)
	}
	p.fields(b, f, rankOwn)
	b.spellings(f, p.path)
	if g, ok := f.Default("group.id"); ok && b.c.Group == "" {
		b.c.Group = g.Default
	}
	return b.c
}

// fields takes what the framework's names say of a section, nested ones included.
func (p place) fields(b *builder, f *settings.Framework, rank int) {
	for _, e := range leaves(p.node) {
		x, ok := f.Field(e.path)
		if !ok {
			continue
		}
		spelled := e.path
		if len(p.path) > 0 {
			spelled = join(p.path) + "." + e.path
		}
		switch {
		case x.Key == settings.Members:
			if n, err := strconv.Atoi(e.value); err == nil && n > 0 && n < 10_000 {
				b.c.Members = n
			}
		case strings.HasSuffix(x.Name, "*"):
			if _, known := consumerKeys()[x.Key]; known {
				b.set(x.Key, spelled, e.value, e.line, rank)
			}
		default:
			b.setUnit(x.Key, spelled, e.value, e.line, rank, x.Unit)
		}
	}
}

// leaves are the scalars below a section by their relative path; a list of scalars is
// one value.
func leaves(section *node) []entry {
	var out []entry
	section.walk(func(path []string, n *node) {
		switch {
		case len(path) == 0 || n.kind == mapping || n.kind == null:
		case n.kind == list:
			var parts []string
			for _, k := range n.kids {
				if k.kind == scalar {
					parts = append(parts, k.value)
				}
			}
			if len(parts) > 0 {
				out = append(out, entry{path: join(path), value: strings.Join(parts, ","), line: n.line})
			}
		case !isIndex(path[len(path)-1]):
			out = append(out, entry{path: join(path), value: n.value, line: n.line})
		}
	})
	return out
}

// spellings says how the framework would spell what the section does not have.
func (b *builder) spellings(f *settings.Framework, path []string) {
	prefix := ""
	if len(path) > 0 {
		prefix = join(path) + "."
	}
	for _, x := range f.Fields() {
		if x.Key == "" || x.Key == settings.Members {
			continue
		}
		if b.c.Spellings == nil {
			b.c.Spellings = map[string]string{}
		}
		if _, had := b.c.Spellings[x.Key]; !had {
			b.c.Spellings[x.Key] = prefix + x.Name
		}
	}
}
