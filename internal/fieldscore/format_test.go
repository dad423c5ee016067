package fieldscore

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// expected is the expected.json of a batch.
type expected struct {
	About string            `json:"about"`
	Cases map[string]report `json:"cases"`
}

// report is one public report. Kind is empty where the files hold the evidence of the
// accepted cause, "open" where they bear more than one, and the answer must say so,
// and "format" where the cause stayed open, and the files must only be read rightly.
type report struct {
	Source string `json:"report"`
	Kind   string `json:"kind"`
	run
	Runs []json.RawMessage `json:"runs"` // each is a run over the report's own fields
}

// run is one command line and its right answer.
type run struct {
	Args     []string `json:"args"`     // of advise, relative to the report's folder
	Accepted string   `json:"accepted"` // the right answer in one line
	want
	Also      []want   `json:"also"`       // further findings that must be there
	MustNot   []string `json:"must_not"`   // no warning or error may match one of these
	Quiet     bool     `json:"quiet"`      // nothing above info is the right answer
	MayRefuse bool     `json:"may_refuse"` // so is exit 2 with an error that names the files
}

// want is one finding that must be there. Must and Own are ANDs of ORs of regular
// expressions, without case: Must holds for the whole finding, Own for its message and
// fix alone, so that a quoted log line does not count.
type want struct {
	Accepted string     `json:"-"`
	Severity string     `json:"severity"` // at least; warning where empty
	Must     [][]string `json:"must"`
	Own      [][]string `json:"own"`
	Numbers  bounds     `json:"numbers"` // one of them suffices
}

// bounds are the values of which the fix must set one.
type bounds []bound

// bound asks for a setting Key, or one of Also, between Min and Max milliseconds; with
// Suffix a bare number is wrong, since the field takes a duration.
type bound struct {
	Key    string   `json:"key"`
	Also   []string `json:"also"`
	Min    float64  `json:"min"`
	Max    float64  `json:"max"`
	Suffix bool     `json:"suffix"`
}

// UnmarshalJSON takes one bound or a list of them.
func (b *bounds) UnmarshalJSON(data []byte) error {
	var list []bound
	if err := json.Unmarshal(data, &list); err == nil {
		*b = list
		return nil
	}
	var one bound
	if err := json.Unmarshal(data, &one); err != nil {
		return err
	}
	*b = bounds{one}
	return nil
}

// runs are the command lines of a report.
func (r report) runs() ([]run, error) {
	if len(r.Runs) == 0 {
		return []run{r.run}, nil
	}
	var out []run
	for _, raw := range r.Runs {
		one := r.run
		if err := json.Unmarshal(raw, &one); err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}

func readBatch(t *testing.T, name string) expected {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name, "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	var e expected
	if err := json.Unmarshal(data, &e); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return e
}

// batches are the names of the folders under testdata, the oldest first.
func batches(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/*/expected.json")
	if err != nil || len(files) == 0 {
		t.Fatal("no batch of reports found", err)
	}
	var out []string
	for _, f := range files {
		out = append(out, filepath.Base(filepath.Dir(f)))
	}
	slices.SortFunc(out, func(a, b string) int {
		if (a == "field") != (b == "field") {
			return map[bool]int{true: -1, false: 1}[a == "field"]
		}
		if strings.HasPrefix(a, "batch") && strings.HasPrefix(b, "batch") { // batch10 after batch9
			return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
		}
		return strings.Compare(a, b)
	})
	return out
}

// TestExpectations holds the expectations against themselves: an accepted answer
// matches what it asks for and nothing that it forbids, every file is there and used,
// and no report stands twice.
func TestExpectations(t *testing.T) {
	seen := map[string]string{}
	for _, batch := range batches(t) {
		e := readBatch(t, batch)
		for _, name := range slices.Sorted(maps.Keys(e.Cases)) {
			r, where := e.Cases[name], batch+"/"+name
			if other := seen[r.Source]; other != "" || r.Source == "" {
				t.Errorf("%s: report %q, as in %q", where, r.Source, other)
			}
			seen[r.Source] = where
			if !slices.Contains([]string{"", "open", "format"}, r.Kind) {
				t.Errorf("%s: unknown kind %q", where, r.Kind)
			}
			for _, fault := range faults(r, filepath.Join("testdata", batch, name)) {
				t.Errorf("%s: %s", where, fault)
			}
		}
		dirs, _ := filepath.Glob(filepath.Join("testdata", batch, "*", ""))
		for _, d := range dirs {
			if info, err := os.Stat(d); err == nil && info.IsDir() && e.Cases[filepath.Base(d)].Source == "" {
				t.Errorf("%s is a folder without a report", d)
			}
		}
	}
}

func faults(r report, folder string) []string {
	runs, err := r.runs()
	if err != nil {
		return []string{err.Error()}
	}
	var out []string
	for _, one := range runs {
		for _, f := range one.files() {
			if _, err := os.Stat(filepath.Join(folder, f)); err != nil {
				out = append(out, "no file "+f)
			}
		}
		if one.Quiet {
			continue
		}
		if len(one.Must)+len(one.Own) == 0 {
			out = append(out, "nothing is asked for")
		}
		for _, m := range append(unmet(one.Accepted, one.Must), unmet(one.Accepted, one.Own)...) {
			out = append(out, "the accepted answer does not match "+m)
		}
		for _, re := range one.MustNot {
			if matches(re, one.Accepted) {
				out = append(out, "the accepted answer matches the forbidden "+re)
			}
		}
	}
	return out
}

// files are the arguments that name files.
func (r run) files() []string {
	var out []string
	for i, a := range r.Args[:max(0, len(r.Args)-1)] {
		if slices.Contains([]string{"-f", "--config", "--log", "--gc-log"}, a) {
			out = append(out, r.Args[i+1])
		}
	}
	return out
}

// matches says if a text has a match of a regular expression, without case. A leading
// (?!.*…) under ^, which Go's expressions do not have, stands for "has no match of".
func matches(re, text string) bool {
	if not, ok := strings.CutPrefix(re, "^(?!.*"); ok {
		return !matches(strings.TrimSuffix(not, ")"), text)
	}
	return regexp.MustCompile("(?is)" + re).MatchString(text)
}

// unmet are the lists of which a text matches none.
func unmet(text string, ands [][]string) []string {
	var out []string
	for _, ors := range ands {
		if !slices.ContainsFunc(ors, func(re string) bool { return matches(re, text) }) {
			out = append(out, strings.Join(ors, "/"))
		}
	}
	return out
}

func (b bound) String() string {
	s := fmt.Sprintf("%s >= %.0f", strings.Join(append([]string{b.Key}, b.Also...), " or "), b.Min)
	if b.Max > 0 {
		s += fmt.Sprintf(" and <= %.0f", b.Max)
	}
	return s
}
