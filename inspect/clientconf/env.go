package clientconf

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/settings"
	"github.com/kgdiag/kgdiag/internal/pattern"
)

// Environment variables, as .env files, docker-compose and Kubernetes manifests hold
// them, and whole configuration files inside ConfigMaps.
var (
	_ = register(dialect{name: "env", sniff: sniffEnv, read: readEnv})
	_ = register(dialect{name: "compose", sniff: sniffCompose, read: readCompose})
	_ = register(dialect{name: "kubernetes", sniff: sniffManifests, read: readManifests})
	_ = register(dialect{name: "values", sniff: sniffValues, read: readValues})

	composeHead = pattern.New(`(?m)^services:`)
	envLine     = pattern.New(`^(?:export\s+)?([A-Za-z_][A-Za-z0-9_.]*)=(.*)$`)
)

// variable is one environment variable with its line.
type variable struct {
	name, value string
	line        int
}

func sniffEnv(_ string, data []byte) int {
	for _, v := range envVariables(data) {
		if _, ok := clientKeyOf(v.name); ok && (v.name == strings.ToUpper(v.name) && strings.Contains(v.name, "_") || strings.Contains(v.name, "__")) {
			return 75
		}
	}
	return 0
}

func envVariables(data []byte) []variable {
	var out []variable
	for i, line := range strings.Split(string(data), "\n") {
		m := envLine.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			continue
		}
		v := strings.TrimSpace(m[2])
		switch {
		case len(v) > 1 && (v[0] == '"' || v[0] == '\'') && v[len(v)-1] == v[0]:
			v = v[1 : len(v)-1]
		case strings.Contains(v, " #"):
			v = strings.TrimSpace(v[:strings.Index(v, " #")])
		}
		out = append(out, variable{m[1], v, i + 1})
	}
	return out
}

func readEnv(name string, data []byte, o Options) ([]inspect.ClientConfig, error) {
	return fromVariables(name, "env", "", envVariables(data), 1, o), nil
}

// brokerVariables mark a container as a broker: its KAFKA_… variables are no
// client's.
var brokerVariables = []string{"KAFKA_PROCESS_ROLES", "KAFKA_ADVERTISED_LISTENERS", "KAFKA_ZOOKEEPER_CONNECT", "KAFKA_LISTENERS",
	"KAFKA_CFG_PROCESS_ROLES", "KAFKA_CFG_LISTENERS", "KAFKA_CFG_ADVERTISED_LISTENERS", "KAFKA_BROKER_ID", "KAFKA_NODE_ID"}

// fromVariables finds the consumers that variables configure: Spring's relaxed names,
// a Connect worker's CONNECT_, and the customary PREFIX_SESSION_TIMEOUT_MS.
func fromVariables(name, dialect, who string, vars []variable, line int, o Options) []inspect.ClientConfig {
	if slices.ContainsFunc(vars, func(v variable) bool { return slices.Contains(brokerVariables, v.name) }) {
		return nil
	}
	r := variableReader{
		spring:  springReader{main: newBuilder(name, dialect, inspect.Java, o, line), streams: newBuilder(name, dialect, inspect.StreamsLib, o, line)},
		generic: newBuilder(name, dialect, inspect.Java, o, line), written: map[string]string{},
	}
	r.generic.c.Assumed = o.Family == "" || o.Version == ""
	for _, v := range vars {
		r.variable(v)
	}
	var out []inspect.ClientConfig
	if isWorkerEnv(r.connect) {
		for _, c := range worker(name, r.connect, line, o) {
			c.Dialect = dialect
			spellAsVariables(&c, r.written)
			out = append(out, c)
		}
	}
	for _, b := range []*builder{r.spring.main, r.spring.streams} {
		if b.some() && (b == r.spring.main || len(b.c.Settings) > 0 && b.c.Group != "") {
			spellAsVariables(&b.c, r.written)
			out = append(out, b.c)
		}
	}
	if timing(r.generic.c) {
		out = append(out, r.generic.c)
	}
	for i := range out {
		if out[i].Name == "" {
			out[i].Name = who
		} else if who != "" {
			out[i].Name = who + ", " + out[i].Name
		}
	}
	return out
}

// variableReader sorts variables by the program that reads them.
type variableReader struct {
	spring  springReader
	generic *builder
	connect []entry
	written map[string]string // the variable behind a path
}

func (r *variableReader) variable(v variable) {
	if c, ok := strings.CutPrefix(v.name, "CONNECT_"); ok {
		e := entry{path: strings.ToLower(strings.ReplaceAll(c, "_", ".")), value: v.value, line: v.line}
		r.connect, r.written[e.path] = append(r.connect, e), v.name
		return
	}
	path, ok := springVariable(v.name)
	if strings.HasPrefix(v.name, "spring.") { // -Dspring.kafka…
		path, ok = v.name, true
	}
	if ok {
		r.written[path] = v.name
		r.spring.entry(entry{path: path, value: v.value, line: v.line})
		return
	}
	if key, ok := clientKeyOf(v.name); ok {
		if strings.Contains(v.name, "__") && r.generic.c.Family == inspect.Java && r.generic.c.Assumed {
			r.generic.c.Family = inspect.Librdkafka
		}
		r.generic.set(key, v.name, v.value, v.line, rankOwn)
	}
}

// timing reports whether a configuration says anything about a group.
func timing(c inspect.ClientConfig) bool {
	for _, s := range c.Settings {
		if groupKeys[s.Key] {
			return true
		}
	}
	return false
}

// groupKeys are the keys by which a map or a set of variables is known to be a
// consumer's.
var groupKeys = map[string]bool{"group.id": true, "session.timeout.ms": true, "heartbeat.interval.ms": true, "max.poll.interval.ms": true,
	"max.poll.records": true, "partition.assignment.strategy": true, "group.instance.id": true, "group.protocol": true,
	"rebalance.timeout.ms": true, "auto.offset.reset": true, "enable.auto.commit": true, "auto.commit.interval.ms": true}

func isWorkerEnv(es []entry) bool {
	for _, e := range es {
		if e.path == "config.storage.topic" || e.path == "offset.storage.topic" || strings.HasPrefix(e.path, "consumer.") || e.path == "rest.advertised.host.name" {
			return true
		}
	}
	return false
}

// spellAsVariables gives fixes the reader's own spelling: the variable as it is written,
// or as one would be.
func spellAsVariables(c *inspect.ClientConfig, written map[string]string) {
	for i := range c.Settings {
		path := c.Settings[i].Spelled
		if c.Settings[i].Spelled = written[path]; c.Settings[i].Spelled == "" {
			c.Settings[i].Spelled = variableName(path, c.Family == inspect.Connect || strings.HasPrefix(path, "consumer."))
		}
	}
	for i := range c.Problems {
		path := c.Problems[i].Key
		if c.Problems[i].Key = written[path]; c.Problems[i].Key == "" {
			c.Problems[i].Key = variableName(path, strings.HasPrefix(c.Problems[i].Nearest, "consumer."))
		}
		if strings.HasPrefix(c.Problems[i].Nearest, "consumer.") {
			c.Problems[i].Nearest = variableName(c.Problems[i].Nearest, true)
		}
	}
}

func variableName(path string, connect bool) string {
	name := strings.ToUpper(strings.NewReplacer(".", "_", "-", "").Replace(path))
	if connect && !strings.HasPrefix(name, "CONNECT_") {
		return "CONNECT_" + name
	}
	return name
}

// springVariable turns SPRING_KAFKA_CONSUMER_MAXPOLLRECORDS into the property path;
// inside a map Spring takes each underscore for a dot.
func springVariable(name string) (string, bool) {
	rest, ok := strings.CutPrefix(name, "SPRING_KAFKA_")
	if !ok {
		return "", false
	}
	for _, m := range []struct{ env, path string }{
		{"CONSUMER_PROPERTIES_", "spring.kafka.consumer.properties."}, {"STREAMS_PROPERTIES_", "spring.kafka.streams.properties."},
		{"PROPERTIES_", "spring.kafka.properties."},
	} {
		if k, ok := strings.CutPrefix(rest, m.env); ok {
			return m.path + strings.ToLower(strings.ReplaceAll(k, "_", ".")), true
		}
	}
	for _, section := range []string{"CONSUMER", "LISTENER", "STREAMS"} {
		if k, ok := strings.CutPrefix(rest, section+"_"); ok {
			return "spring.kafka." + strings.ToLower(section) + "." + strings.ToLower(strings.ReplaceAll(k, "_", "-")), true
		}
	}
	return "spring.kafka." + strings.ToLower(strings.ReplaceAll(rest, "_", "-")), true
}

// clientKeyOf finds the client key at the end of a variable's name, behind any
// prefix: KAFKA_CONSUMER_SESSION_TIMEOUT_MS. Only keys that concern a group count,
// for a short name may mean anything.
func clientKeyOf(name string) (string, bool) {
	low := strings.ToLower(strings.NewReplacer("-", "_", ".", "_").Replace(name))
	if path := strings.Split(name, "__"); len(path) > 1 { // .NET's way to nest
		key := foldedKeys()[settings.Fold(path[len(path)-1])]
		return key, groupKeys[key]
	}
	for key := range brokerKeys { // group.min.session.timeout.ms ends as a consumer's key does
		if strings.HasPrefix(key, "consumer.") {
			continue // a group's setting, and how applications name their consumer's
		}
		if env := strings.ReplaceAll(key, ".", "_"); low == env || strings.HasSuffix(low, "_"+env) {
			return "", false
		}
	}
	for key := range groupKeys {
		env := strings.ReplaceAll(key, ".", "_")
		if low == env || strings.HasSuffix(low, "_"+env) {
			if strings.HasPrefix(low, "kafka_group_initial") || strings.Contains(low, "kafka_offsets_") {
				return "", false
			}
			return key, true
		}
	}
	return "", false
}

func sniffCompose(name string, data []byte) int {
	if isYAML(name, data) && composeHead.Match(data) {
		return 85
	}
	return 0
}

func readCompose(name string, data []byte, o Options) ([]inspect.ClientConfig, error) {
	docs, err := parseYAML(data)
	if err != nil {
		return nil, err
	}
	var out []inspect.ClientConfig
	for _, doc := range docs {
		services := doc.kid("services")
		if services == nil {
			continue
		}
		for _, s := range services.kids {
			vars := append(composeVariables(s.kid("environment")), arguments(s)...)
			configs := fromVariables(name, "compose", s.key, vars, s.line, ofImage(s.text("image"), o))
			if n, err := strconv.Atoi(s.text("deploy", "replicas")); err == nil && n > 0 {
				for i := range configs {
					configs[i].Members = n * max(1, configs[i].Members)
				}
			}
			out = append(out, configs...)
		}
		for _, c := range childrenOf(doc.kid("configs")) { // inline configs
			if content := c.kid("content"); content != nil {
				out = append(out, embedded(name, c.key, content, o)...)
			}
		}
	}
	return out, nil
}

var (
	releaseName = pattern.New(`^\d+\.\d+(\.\d+)?$`)
	// cpConnect is Confluent's image of a Connect worker.
	cpConnect = pattern.New(`(?:^|/)cp-kafka-connect(?:-base)?:(\d+)\.(\d+)`)
)

// ofImage takes the version of Kafka from the image of a worker: Confluent's 5.5 is 2.5,
// 6.0 is 2.6, 7.4 is 3.4, 8.0 is 4.0.
func ofImage(image string, o Options) Options {
	m := cpConnect.FindStringSubmatch(image)
	if m == nil || o.Version != "" {
		return o
	}
	minor, _ := strconv.Atoi(m[2])
	switch m[1] {
	case "5":
		o.Version = "2." + m[2]
	case "6":
		o.Version = "2." + strconv.Itoa(6+minor)
	case "7":
		o.Version = "3." + m[2]
	case "8":
		o.Version = "4." + m[2]
	}
	return o
}

func childrenOf(n *node) []*node {
	if n == nil {
		return nil
	}
	return n.kids
}

// composeVariables reads "environment" as a mapping or as a list of KEY=VALUE.
func composeVariables(n *node) []variable {
	var out []variable
	for _, k := range childrenOf(n) {
		name, value := k.key, k.value
		if n.kind == list {
			name, value, _ = strings.Cut(k.value, "=")
		}
		out = append(out, variable{name, value, k.line})
	}
	return out
}

func sniffManifests(name string, data []byte) int {
	if isYAML(name, data) && bytes.Contains(data, []byte("apiVersion:")) && bytes.Contains(data, []byte("kind:")) {
		return 84
	}
	return 0
}

// readManifests reads Kubernetes objects: containers' variables, ConfigMaps that hold
// variables or whole files, and Strimzi's KafkaConnect and KafkaConnector.
func readManifests(name string, data []byte, o Options) ([]inspect.ClientConfig, error) {
	docs, err := parseYAML(data)
	if err != nil {
		return nil, err
	}
	var out []inspect.ClientConfig
	var objects []*node
	for _, doc := range docs {
		if doc.text("kind") == "List" {
			objects = append(objects, childrenOf(doc.kid("items"))...)
			continue
		}
		objects = append(objects, doc)
	}
	fillPodNames(objects)
	for _, obj := range objects {
		out = append(out, manifest(name, obj, o)...)
	}
	return out, nil
}

// fillPodNames puts what stands for a pod's name into the files of ConfigMaps that refer
// to it by a variable of the same manifest.
func fillPodNames(objects []*node) {
	var pairs []string
	for _, obj := range objects {
		obj.walk(func(path []string, n *node) {
			if len(path) == 0 || path[len(path)-1] != "containers" {
				return
			}
			for _, c := range n.kids {
				for _, v := range containerVariables(c, obj.text("kind")) {
					if v.value == newPodName || v.value == steadyPodName {
						pairs = append(pairs, "${"+v.name+"}", v.value)
					}
				}
			}
		})
	}
	fill := strings.NewReplacer(pairs...)
	for _, obj := range objects {
		if obj.text("kind") == "ConfigMap" {
			for _, k := range childrenOf(obj.kid("data")) {
				k.value = fill.Replace(k.value)
			}
		}
	}
}

func manifest(name string, obj *node, o Options) []inspect.ClientConfig {
	if v := obj.text("spec", "version"); o.Version == "" && strings.HasPrefix(obj.text("apiVersion"), "kafka.strimzi.io/") && releaseName.MatchString(v) {
		o.Version = v
	}
	switch obj.text("kind") {
	case "ConfigMap":
		return configMap(name, obj.kid("data"), o)
	case "KafkaConnect", "KafkaMirrorMaker2":
		return strimziWorker(name, obj, o)
	case "KafkaConnector":
		return strimziConnector(name, obj, o)
	}
	if b := consumerOfKind(name, obj, o); b != nil {
		return []inspect.ClientConfig{b.c}
	}
	return workload(name, obj, o)
}

func strimziWorker(name string, obj *node, o Options) []inspect.ClientConfig {
	config := obj.at("spec", "config")
	for _, cluster := range childrenOf(obj.at("spec", "clusters")) { // MirrorMaker 2 runs in the one that it names
		if cluster.text("alias") == obj.text("spec", "connectCluster") {
			config = cluster.kid("config")
		}
	}
	if config == nil {
		return nil
	}
	out := worker(name, entriesOf(config), config.line, o)
	for i := range out {
		out[i].Dialect = "strimzi"
		if n, err := strconv.Atoi(obj.text("spec", "replicas")); err == nil && i == 0 {
			out[i].Members = n
		}
	}
	return out
}

func strimziConnector(name string, obj *node, o Options) []inspect.ClientConfig {
	config := obj.at("spec", "config")
	if config == nil {
		return nil
	}
	out := connector(name, obj.text("metadata", "name"), entriesOf(config), config.line, o)
	for i := range out {
		out[i].Dialect = "strimzi"
		if n, err := strconv.Atoi(obj.text("spec", "tasksMax")); err == nil {
			out[i].Members = n
		}
	}
	return out
}

// workload reads the variables and arguments of the containers of a Deployment, a
// StatefulSet or the like.
func workload(name string, obj *node, o Options) []inspect.ClientConfig {
	var out []inspect.ClientConfig
	replicas, _ := strconv.Atoi(obj.text("spec", "replicas")) // 0 where it is not said
	obj.walk(func(path []string, n *node) {
		if len(path) == 0 || path[len(path)-1] != "containers" || n.kind != list {
			return
		}
		for _, c := range n.kids {
			vars := append(containerVariables(c, obj.text("kind")), arguments(c)...)
			configs := fromVariables(name, "kubernetes", obj.text("metadata", "name"), vars, c.line, ofImage(c.text("image"), o))
			for i := range configs {
				configs[i].Members = replicas * max(1, configs[i].Members)
			}
			out = append(out, configs...)
		}
	})
	return out
}

// consumerOfKind reads Strimzi's kinds that hold a consumer's own settings: KafkaBridge
// and the old KafkaMirrorMaker.
func consumerOfKind(name string, obj *node, o Options) *builder {
	kind := obj.text("kind")
	config := obj.at("spec", "consumer", "config")
	if kind != "KafkaBridge" && kind != "KafkaMirrorMaker" || config == nil {
		return nil
	}
	b := newBuilder(name, "strimzi", inspect.Java, o, config.line)
	b.c.Name = obj.text("metadata", "name")
	if g := obj.at("spec", "consumer", "groupId"); g != nil {
		b.set("group.id", "spec.consumer.groupId", g.value, g.line, rankOwn)
	}
	for _, e := range entriesOf(config) {
		b.own(e.path, "spec.consumer.config."+e.path, e.value, e.line, rankOwn)
	}
	for _, key := range []string{"numStreams"} {
		if n, err := strconv.Atoi(obj.text("spec", "consumer", key)); err == nil && n > 0 && n < 10_000 {
			b.c.Members = n
		}
	}
	return b
}

// containerVariables are a container's variables; one that is the pod's name, in a
// workload that gives each pod a new one, is marked by its value.
func containerVariables(c *node, kind string) []variable {
	var vars []variable
	for _, e := range childrenOf(c.kid("env")) {
		switch {
		case e.kid("value") != nil:
			vars = append(vars, variable{e.text("name"), e.text("value"), e.kid("value").line})
		case podName[e.text("valueFrom", "fieldRef", "fieldPath")]:
			value := newPodName
			if kind == "StatefulSet" {
				value = steadyPodName
			}
			vars = append(vars, variable{e.text("name"), value, e.line})
		}
	}
	for i, v := range vars { // $(OTHER) is Kubernetes' reference to a variable before it
		for _, w := range vars[:i] {
			vars[i].value = strings.ReplaceAll(vars[i].value, "$("+w.name+")", w.value)
		}
		vars[i].name = v.name
	}
	return vars
}

// podName are the fields of a pod that name it.
var podName = map[string]bool{"metadata.name": true, "metadata.uid": true, "status.podIP": true}

// What stands for a pod's name where it is no literal: one that a restart changes, and one
// that it does not.
const (
	newPodName    = "{pod name of a Deployment}"
	steadyPodName = "{pod name of a StatefulSet}"
)

// flagValue is --name=value, or --name with the value as the next argument.
var flagValue = pattern.New(`^--?([A-Za-z][A-Za-z0-9_.-]*)(?:=(.*))?$`)

// arguments are the settings on a container's command line: --session-timeout-ms 20000,
// -X key=value, -Dspring.kafka.consumer.group-id=g.
func arguments(c *node) []variable { return argumentsOf(commandWords(c)) }

// argumentsOf are the settings among the words of a command line.
func argumentsOf(words []variable) []variable {
	var out []variable
	for i, w := range words {
		next := variable{}
		if i+1 < len(words) {
			next = words[i+1]
		}
		if v, ok := handedOn(w, next); ok {
			out = append(out, v)
		}
		m := flagValue.FindStringSubmatch(w.value)
		switch {
		case m == nil:
		case m[2] != "":
			out = append(out, variable{m[1], m[2], w.line})
		case next.value != "" && !strings.HasPrefix(next.value, "-"):
			out = append(out, variable{m[1], next.value, w.line})
		}
	}
	return out
}

// commandWords are the words of a container's command line, each as a value with its line.
func commandWords(c *node) []variable {
	var words []variable
	for _, key := range []string{"command", "args"} {
		n := c.kid(key)
		if n == nil {
			continue
		}
		for _, k := range append([]*node{n}, n.kids...) {
			if k.kind != scalar {
				continue
			}
			for i, line := range strings.Split(k.value, "\n") {
				for _, w := range strings.Fields(line) {
					words = append(words, variable{value: strings.Trim(w, `"'\`), line: k.line + i})
				}
			}
		}
	}
	return words
}

// handedOn is the setting of an option that hands key=value on to the client, in the same
// word or the next.
func handedOn(w, next variable) (variable, bool) {
	for _, option := range []string{"-X", "-D", "--consumer-property=", "--consumer-property"} {
		rest, ok := strings.CutPrefix(w.value, option)
		if !ok {
			continue
		}
		if rest == "" {
			rest, w = next.value, next
		}
		key, value, pair := strings.Cut(rest, "=")
		return variable{key, value, w.line}, pair
	}
	return variable{}, false
}

// sniffValues knows the values of a Helm chart, or a Terraform file, by variables of a
// consumer anywhere in it.
func sniffValues(name string, data []byte) int {
	if configs, err := readValues(name, data, Options{}); err == nil && len(configs) > 0 {
		return 62
	}
	return 0
}

// readValues reads variables wherever a nested file has them, as a mapping or as a list
// of name and value, and whole configuration files that it holds as text.
func readValues(name string, data []byte, o Options) ([]inspect.ClientConfig, error) {
	trees, err := structuredTrees(name, data)
	if err != nil {
		return nil, err
	}
	var out []inspect.ClientConfig
	for _, t := range trees {
		t.walk(func(path []string, n *node) {
			if n.kind == scalar {
				if len(path) > 0 && strings.Contains(n.value, "\n") && len(n.value) < len(data) {
					out = append(out, embedded(name, path[len(path)-1], n, o)...)
				}
				return
			}
			out = append(out, fromVariables(name, "values", join(path), variablesOf(n), n.line, o)...)
		})
	}
	return out, nil
}

// variablesOf are the variables that a node holds itself: SCREAMING names of a mapping,
// or the name and value of each element or block.
func variablesOf(n *node) []variable {
	var out []variable
	for _, k := range n.kids {
		switch {
		case k.kind == scalar && n.kind == mapping && k.key == strings.ToUpper(k.key) && strings.Contains(k.key, "_"):
			out = append(out, variable{k.key, k.value, k.line})
		case k.kind == mapping && (n.kind == list || k.key == "env") && k.text("name") != "" && k.kid("value") != nil:
			out = append(out, variable{k.text("name"), k.text("value"), k.kid("value").line})
		}
	}
	return out
}

// configMap reads data whose keys are file names or variables.
func configMap(name string, data *node, o Options) []inspect.ClientConfig {
	var out []inspect.ClientConfig
	var vars []variable
	for _, k := range childrenOf(data) {
		if k.kind != scalar {
			continue
		}
		if strings.ContainsAny(k.value, "\n") || strings.Contains(k.key, ".") && strings.ContainsAny(k.value, "=:{") {
			out = append(out, embedded(name, k.key, k, o)...)
			continue
		}
		vars = append(vars, variable{k.key, k.value, k.line})
	}
	return append(out, fromVariables(name, "kubernetes", "", vars, 1, o)...)
}

// embedded reads a file inside a file; lines are those of the outer one.
func embedded(name, inner string, n *node, o Options) []inspect.ClientConfig {
	o.Dialect = ""
	configs, err := Read(inner, []byte(n.value), o)
	if err != nil {
		return nil // no configuration, or none that can be read: other keys may be
	}
	configs = slices.DeleteFunc(configs, func(c inspect.ClientConfig) bool { return len(c.Settings) == 0 && c.Framework == "" })
	shift := n.line - 1
	if n.block {
		shift = n.line
	}
	move := func(p *inspect.Position) {
		p.File = name
		if p.Line > 0 {
			p.Line += shift
		}
	}
	for i := range configs {
		c := &configs[i]
		move(&c.Where)
		for j := range c.Settings {
			move(&c.Settings[j].Where)
			if c.Settings[j].Overrides != nil {
				at := *c.Settings[j].Overrides
				move(&at)
				c.Settings[j].Overrides = &at
			}
		}
		for j := range c.Problems {
			move(&c.Problems[j].Where)
		}
		if c.Name == "" {
			c.Name = inner
		}
	}
	return configs
}
