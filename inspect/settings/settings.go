package settings

import (
	"embed"
	"fmt"
	"path"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"

	"github.com/kgdiag/kgdiag/inspect"
)

//go:embed data/*.tsv
var files embed.FS

// Setting is one setting of a client in a range of its releases in which it is the same.
type Setting struct {
	Client  inspect.Family
	Key     string   // Java name, by which the rest of kgdiag knows it
	Name    string   // as the client spells it
	Type    string   // "ms", "s" (its plain numbers are seconds), "int", "boolean", "text", …
	Default string   // "" none, or worked out by the client; durations in milliseconds
	Least   string   // smallest number that the client accepts; "" no bound
	Most    string   // largest; "" no bound
	Values  []string // the only values that it accepts, in lower case; a final * stands for any rest; nil any
	Since   string   // first release that has it so; "" the oldest known
	Before  string   // first release that has it so no more; "" the newest still has it
	Role    string   // librdkafka: "C" consumers, "P" producers, "*" both
	Source  string
}

// Constraint is what a library or its documentation says of two of its settings.
type Constraint struct {
	Since, Before string
	Left, Right   string // Java names
	Op            string // "<", "<=", ">" or ">=": Left Op Right must hold
	Effect        string // Refused, Cut, Capped, Warned or Documented
	Rule          string // id of the rule that judges the pair by more than its numbers; ""
	Source        string
	Set, Unset    []string // Java names that must be set, or must not be, for the library to compare
	Plus          int64    // added to the right one
}

// The effects of a constraint that does not hold.
const (
	Refused    = "refused"    // the client does not start
	Cut        = "cut"        // a wait is given up before its answer can come
	Capped     = "capped"     // one of the two has no effect beyond the other
	Warned     = "warned"     // the library logs a warning
	Documented = "documented" // the documentation asks for it, nothing checks it
)

// Unit is the unit of the setting's plain numbers where it is not the milliseconds of
// Java: "s"; else "".
func (s Setting) Unit() string {
	if s.Type == "s" {
		return "s"
	}
	return ""
}

type catalogue struct {
	settings    map[inspect.Family]map[string][]Setting // by Java name
	constraints map[inspect.Family][]Constraint
}

// load reads the tables once. They are part of the program, and a test reads every line.
var load = sync.OnceValue(func() catalogue {
	c := catalogue{map[inspect.Family]map[string][]Setting{}, map[inspect.Family][]Constraint{}}
	for _, row := range lines("overlay") {
		c.add(inspect.Family(row[0]), settingOf(row[1:], row[11]))
	}
	names, _ := files.ReadDir("data")
	for _, f := range names {
		client := strings.TrimSuffix(f.Name(), ".tsv")
		if client == "overlay" || client == "constraints" || client == "frameworks" || client == "faults" {
			continue
		}
		source := sourceOf(client)
		for _, row := range lines(client) {
			c.add(inspect.Family(client), settingOf(row, strings.TrimSpace(source+" "+row[6])))
		}
	}
	for _, row := range lines("constraints") {
		plus, _ := strconv.ParseInt(row[11], 10, 64)
		for _, client := range strings.Split(row[0], ",") {
			f := inspect.Family(client)
			c.constraints[f] = append(c.constraints[f], Constraint{Since: row[1], Before: row[2], Left: Key(row[3]), Op: row[4], Right: Key(row[5]),
				Effect: row[6], Rule: row[7], Source: row[8], Set: keysOf(row[9]), Unset: keysOf(row[10]), Plus: plus})
		}
	}
	return c
})

func (c catalogue) add(client inspect.Family, s Setting) {
	if c.settings[client] == nil {
		c.settings[client] = map[string][]Setting{}
	}
	s.Client = client
	if s.Name == "" {
		s.Name = s.Key
	}
	s.Key = Key(s.Key)
	c.settings[client][s.Key] = append(c.settings[client][s.Key], s)
}

// columns of the widest table; shorter lines are filled up.
const columns = 12

func lines(table string) [][]string {
	data, _ := files.ReadFile(path.Join("data", table+".tsv"))
	var out [][]string
	for _, line := range strings.Split(string(data), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		row := strings.Split(line, "\t")
		for len(row) < columns {
			row = append(row, "")
		}
		out = append(out, row)
	}
	return out
}

// sourceOf is what the head of a table says of its origin, in a word or two.
func sourceOf(table string) string {
	data, _ := files.ReadFile(path.Join("data", table+".tsv"))
	head, _, _ := strings.Cut(string(data), "\n")
	_, source, _ := strings.Cut(head, "Source: ")
	source, _, _ = strings.Cut(source, " (")
	return source
}

func settingOf(row []string, source string) Setting {
	s := Setting{Key: row[0], Type: row[1], Default: row[2], Least: row[3], Most: row[4], Since: row[6], Before: row[7], Role: row[8], Name: row[9], Source: source}
	if row[5] != "" {
		s.Values = strings.Split(row[5], ",")
	}
	return s
}

// aliases are names of one setting for which the Java client has another.
var aliases = map[string]string{
	"fetch.wait.max.ms": "fetch.max.wait.ms", "metadata.broker.list": "bootstrap.servers", "fetch.message.max.bytes": "max.partition.fetch.bytes",
}

// Key is the Java name of a setting that a client spells otherwise: dots for the
// underscores of Python, and the aliases of librdkafka.
func Key(name string) string {
	if a, ok := aliases[name]; ok {
		return a
	}
	return strings.ReplaceAll(name, "_", ".")
}

// parents are the clients of which another one takes what it has not of its own.
var parents = map[inspect.Family]inspect.Family{inspect.StreamsLib: inspect.Java}

// Lookup finds a setting by its Java name as a release of a client has it; version "" is
// the newest.
func Lookup(client inspect.Family, version, key string) (Setting, bool) {
	for f := client; f != ""; f = parents[f] {
		for _, s := range load().settings[f][key] {
			if version == "" && s.Before == "" || version != "" && AtLeast(version, s.Since) && (s.Before == "" || !AtLeast(version, s.Before)) {
				return s, true
			}
		}
	}
	return Setting{}, false
}

// Has reports whether any release of a client has the setting, and the first one that
// has it; "" where the oldest known has it.
func Has(client inspect.Family, key string) (since string, ok bool) {
	for f := client; f != ""; f = parents[f] {
		for _, s := range load().settings[f][key] {
			if !ok || s.Since == "" || since != "" && !AtLeast(s.Since, since) {
				since = s.Since
			}
			ok = true
		}
	}
	return since, ok
}

// All lists the settings of a client by name, oldest first.
func All(client inspect.Family) []Setting {
	var out []Setting
	for _, ss := range load().settings[client] {
		out = append(out, ss...)
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].Key < out[j].Key })
	return out
}

// Clients lists the client libraries that have a table.
func Clients() []inspect.Family {
	var out []inspect.Family
	for f := range load().settings {
		out = append(out, f)
	}
	sort.Slice(out, func(i, j int) bool { return out[i] < out[j] })
	return out
}

// Constraints lists what a release of a client says of its settings against each other;
// version "" is the newest.
func Constraints(client inspect.Family, version string) []Constraint {
	var out []Constraint
	for _, c := range load().constraints[client] {
		if version == "" && c.Before == "" || version != "" && AtLeast(version, c.Since) && (c.Before == "" || !AtLeast(version, c.Before)) {
			out = append(out, c)
		}
	}
	return out
}

// keysOf splits a list of settings, as a client spells them, into Java names.
func keysOf(list string) []string {
	var out []string
	for _, k := range strings.Split(list, ",") {
		if k != "" {
			out = append(out, Key(k))
		}
	}
	return out
}

// Holds reports whether the constraint holds for two numbers.
func (c Constraint) Holds(left, right int64) bool {
	right += c.Plus
	switch c.Op {
	case "<":
		return left < right
	case "<=":
		return left <= right
	case ">":
		return left > right
	}
	return left >= right
}

// Refuses says why a client does not accept a value of the setting, such as "below 1,
// the least that librdkafka accepts"; "" where it accepts it, or does not check.
func (s Setting) Refuses(value string) string {
	if s.Values != nil {
		return s.refusesWord(strings.ToLower(strings.TrimSpace(value)))
	}
	if s.Type == "boolean" {
		return s.refusesBool(strings.ToLower(strings.TrimSpace(value)))
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return ""
	}
	if least, err := strconv.ParseInt(s.Least, 10, 64); err == nil && n < least {
		return fmt.Sprintf("below %s, the least that %s accepts", s.Least, s.Client)
	}
	if most, err := strconv.ParseInt(s.Most, 10, 64); err == nil && n > most {
		return fmt.Sprintf("above %s, the most that %s accepts", s.Most, s.Client)
	}
	return ""
}

// refusesBool: Java takes true and false (ConfigDef.parseType), librdkafka also t, f, 1
// and 0 (rd_kafka_conf_set_prop). Of others it is not known.
func (s Setting) refusesBool(value string) string {
	accepted := map[inspect.Family][]string{
		inspect.Java: {"true", "false"}, inspect.StreamsLib: {"true", "false"}, inspect.Librdkafka: {"true", "false", "t", "f", "1", "0"},
	}[s.Client]
	if accepted == nil || slices.Contains(accepted, value) {
		return ""
	}
	return fmt.Sprintf("neither true nor false, which is all that %s accepts", s.Client)
}

func (s Setting) refusesWord(value string) string {
	for _, v := range s.Values {
		if rest, open := strings.CutSuffix(v, "*"); Fold(v) == Fold(value) || open && strings.HasPrefix(value, rest) {
			return ""
		}
	}
	return fmt.Sprintf("none of the values that %s accepts: %s", s.Client, strings.Join(s.Values, ", "))
}

// AtLeast reports whether version is at least limit, comparing the numbers between
// dots; "" as limit is always reached, and a missing part counts as zero.
func AtLeast(version, limit string) bool {
	if limit == "" {
		return true
	}
	a, b := versionParts(version), versionParts(limit)
	for i := range max(len(a), len(b)) {
		x, y := 0, 0
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		if x != y {
			return x > y
		}
	}
	return true
}

// versionParts reads the numbers of "v2.16.0-rc1"; everything from the first part
// that is no number on is dropped.
func versionParts(v string) []int {
	var out []int
	for _, part := range strings.Split(strings.TrimPrefix(v, "v"), ".") {
		digits := part
		if i := strings.IndexFunc(part, func(r rune) bool { return r < '0' || r > '9' }); i >= 0 {
			digits = part[:i]
		}
		n, err := strconv.Atoi(digits)
		if err != nil {
			break
		}
		out = append(out, n)
		if digits != part {
			break
		}
	}
	return out
}

// Fault is a fault of some releases of a client that shows in its groups.
type Fault struct {
	Client        inspect.Family
	Since, Before string // Since inclusive, Before exclusive
	Severity      string // "info", "warning" or "error"
	When          string // "cooperative": with such an assignor; "consumer": under that group protocol; "" always
	Fixed         string // first release without it
	What          string // continues "NAME VERSION …"
	Source        string
}

// Faults lists what is known to be wrong with a release of a client; nothing for version
// "", which is no release.
func Faults(client inspect.Family, version string) []Fault {
	var out []Fault
	for _, row := range lines("faults") {
		f := Fault{inspect.Family(row[0]), row[1], row[2], row[3], row[4], row[5], row[6], row[7]}
		if f.Client == client && version != "" && AtLeast(version, f.Since) && !AtLeast(version, f.Before) {
			out = append(out, f)
		}
	}
	return out
}
