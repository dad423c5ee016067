package clientconf

import (
	"fmt"
	"sort"
	"strings"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/clientconf/properties"
)

// Options say what the reader of the file knows beyond its text.
type Options struct {
	Dialect string         // name of a dialect, or "" to recognise it by content
	Family  inspect.Family // client library, or "" for the dialect's own
	Version string         // of the client, or "" for unknown
}

// Read finds the consumers that a file configures. name is used in positions and
// errors only. A *NotRecognised means that nothing in the file concerns a consumer; any
// other error that it could not be read at all. Everything smaller is a Problem in the
// result.
func Read(name string, data []byte, o Options) ([]inspect.ClientConfig, error) {
	if err := properties.Check(data); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	ranked, err := pick(name, data, o.Dialect)
	if err != nil {
		return nil, err
	}
	var failed error
	for _, d := range ranked {
		configs, err := d.read(name, data, o)
		switch {
		case err != nil && failed == nil:
			failed = fmt.Errorf("%s: %w", name, err)
		case err == nil && recognised(configs) && (o.Dialect != "" || !brokerFile(data)):
			return configs, nil
		}
	}
	if failed != nil {
		return nil, failed
	}
	return nil, &NotRecognised{File: name, Looks: looksLike(name, data)}
}

// dialect is one way of writing a consumer's configuration down.
type dialect struct {
	name string
	// sniff says how sure the dialect is that the text is its own: 0 not at all,
	// 100 no doubt. The highest wins.
	sniff func(name string, data []byte) int
	read  func(name string, data []byte, o Options) ([]inspect.ClientConfig, error)
}

var dialects = map[string]dialect{}

func register(d dialect) struct{} {
	if _, twice := dialects[d.name]; twice {
		panic("clientconf: dialect " + d.name + " is registered twice")
	}
	dialects[d.name] = d
	return struct{}{}
}

// Dialects are the names that Options.Dialect accepts, sorted.
func Dialects() []string {
	names := make([]string, 0, len(dialects))
	for n := range dialects {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

// pick lists the dialects that take a text for their own, the surest first; the one that
// was asked for alone, where one was.
func pick(name string, data []byte, forced string) ([]dialect, error) {
	if forced != "" {
		d, ok := dialects[forced]
		if !ok {
			return nil, fmt.Errorf("dialect %q: unknown, known are %s", forced, strings.Join(Dialects(), ", "))
		}
		return []dialect{d}, nil
	}
	sure := map[string]int{}
	var out []dialect
	for _, n := range Dialects() { // sorted, so that a draw has one winner
		if s := dialects[n].sniff(name, data); s > 0 {
			sure[n] = s
			out = append(out, dialects[n])
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return sure[out[i].name] > sure[out[j].name] })
	return out, nil
}

// FromFlags stands for the file in the position of a setting that came from --set.
const FromFlags = "command line"

// Override sets key to value as --set does: it outranks the file. The canonical
// name, the value in milliseconds and problems are worked out as for a file.
func Override(c *inspect.ClientConfig, key, value string) {
	where := inspect.Position{File: FromFlags}
	s, problem := NewSetting(key, key, value, where)
	s.Origin = inspect.OriginFlag
	if problem != nil {
		c.Problems = append(c.Problems, *problem)
	}
	for i := range c.Settings {
		if c.Settings[i].Key == s.Key {
			old := c.Settings[i].Where
			s.Overrides = &old
			c.Settings[i] = s
			return
		}
	}
	c.Settings = append(c.Settings, s)
	if s.Key == "group.id" {
		c.Group = s.Value
	}
}
