package settings

import (
	"sort"
	"strings"
	"sync"

	"github.com/kgdiag/kgdiag/inspect"
)

// Framework is a program or a library that holds a consumer and has names, defaults or
// limits of its own for its settings.
type Framework struct {
	Name   string
	Client inspect.Family // the library below
	// OwnThread says that it polls on a thread of its own, so that slow work does not
	// delay the next poll.
	OwnThread bool
	fields    []Field
}

// Field is one name of a framework.
type Field struct {
	Name    string // as the framework spells it, with dots for nesting; a final * hands the rest on
	Key     string // Java name; "" for a name that ends in *
	Unit    string // of a plain number: "ms", "s", "ns"; "" for no duration
	Default string // in the Java client's unit; "" the client's own
	Source  string
}

// Members is the Key of a field that says how many consumers are started.
const Members = "@members"

var loadFrameworks = sync.OnceValue(func() map[string]*Framework {
	out := map[string]*Framework{}
	for _, row := range lines("frameworks") {
		f := out[row[0]]
		if f == nil {
			f = &Framework{Name: row[0]}
			out[row[0]] = f
		}
		switch row[1] {
		case "@client":
			f.Client = inspect.Family(row[2])
		case "@polls":
			f.OwnThread = row[2] == "own"
		default:
			f.fields = append(f.fields, Field{row[1], row[2], row[3], row[4], row[5]})
		}
	}
	return out
})

// FrameworkOf finds a framework of the catalogue by name.
func FrameworkOf(name string) (*Framework, bool) {
	f, ok := loadFrameworks()[name]
	return f, ok
}

// Frameworks lists the names of all frameworks.
func Frameworks() []string {
	var out []string
	for n := range loadFrameworks() {
		out = append(out, n)
	}
	sort.Strings(out)
	return out
}

// Fields lists the names that a framework has.
func (f *Framework) Fields() []Field { return append([]Field(nil), f.fields...) }

// Has reports whether the framework's file can set a setting of the client: by a name of
// its own, or among those that it hands on.
func (f *Framework) Has(key string) bool {
	for _, x := range f.fields {
		if x.Key == key || strings.HasSuffix(x.Name, "*") {
			return true
		}
	}
	return false
}

// Default is what the framework sets a setting to where its file does not; false where
// that is left to the client.
func (f *Framework) Default(key string) (Field, bool) {
	for _, x := range f.fields {
		if x.Key == key && x.Default != "" {
			return x, true
		}
	}
	return Field{}, false
}

// Field finds what a name below the framework's section means, whatever its case, its
// dashes and its underscores. For a name that ends in * the key is the rest.
func (f *Framework) Field(name string) (Field, bool) {
	for _, x := range f.fields {
		if head, open := strings.CutSuffix(x.Name, "*"); open {
			if rest, ok := cutFold(name, head); ok && rest != "" {
				x.Key = Key(rest)
				return x, true
			}
			continue
		}
		if Fold(x.Name) == Fold(name) {
			return x, true
		}
	}
	return Field{}, false
}

func cutFold(name, head string) (string, bool) {
	if len(name) >= len(head) && strings.EqualFold(name[:len(head)], head) {
		return name[len(head):], true
	}
	return "", false
}

// Fold is a name without case, dashes, underscores and dots, by which spellings of one
// setting in different frameworks are told to be the same.
func Fold(name string) string {
	return strings.ToLower(strings.NewReplacer("-", "", "_", "", ".", "").Replace(name))
}
