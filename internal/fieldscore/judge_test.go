package fieldscore

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/kgdiag/kgdiag/cmd"
	"github.com/kgdiag/kgdiag/internal/term"
)

// The verdicts, the best first. Misled: a warning or error says what is forbidden, or
// stands where nothing is wrong. Partly: the best finding, of any severity, has at
// least half of what is asked for. Nothing: no finding comes near.
const (
	right   = "right"
	partly  = "partly"
	nothing = "nothing"
	misled  = "misled"
)

var verdicts = []string{right, partly, nothing, misled}

// finding is what the JSON of advise says, as far as a person reads it.
type finding struct {
	ID, Name, Severity, Message, Group string
	Evidence                           []string
	BecauseOf                          string `json:"because_of"`
	Fix                                struct {
		Summary, Price string
		Set            map[string]string
		Alternatives   []map[string]string
		Delete         []string
		Notes          map[string]string
		Edits          []struct{ Key, Spelled, Value string }
	}
}

type pair struct{ key, value string }

// settings are all pairs that the fix would set, alternatives and edits included.
func (f finding) settings() []pair {
	var out []pair
	for _, m := range append([]map[string]string{f.Fix.Set}, f.Fix.Alternatives...) {
		for k, v := range m {
			out = append(out, pair{k, v})
		}
	}
	for _, e := range f.Fix.Edits {
		out = append(out, pair{firstOf(e.Spelled, e.Key), e.Value})
	}
	return out
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func (f finding) own() string {
	words := []string{f.Message, f.Fix.Summary, f.Fix.Price}
	for _, p := range f.settings() {
		words = append(words, p.key+"="+p.value)
	}
	for _, k := range f.Fix.Delete {
		words = append(words, "delete "+k)
	}
	for k, v := range f.Fix.Notes {
		words = append(words, k+": "+v)
	}
	slices.Sort(words[3:])
	return strings.Join(words, "\n")
}

func (f finding) title() string { return f.ID + " " + f.Name + " " + f.Message }

func (f finding) full() string {
	return f.title() + "\n" + f.own() + "\n" + strings.Join(f.Evidence, "\n")
}

func rank(severity string) int { return slices.Index([]string{"info", "warning", "error"}, severity) }

var (
	bare  = regexp.MustCompile(`^-?\d+(\.\d+)?$`)
	parts = regexp.MustCompile(`(\d+(?:\.\d+)?) ?(ns|us|µs|ms|s|m|h|d)`)
	units = map[string]float64{"ns": 1e-6, "us": 1e-3, "µs": 1e-3, "ms": 1, "s": 1e3, "m": 6e4, "h": 36e5, "d": 864e5}
)

// millis are the milliseconds of 720000, 12m, 1h30m, 0.5s or PT12M; NaN for others.
func millis(value string, suffix bool) float64 {
	v := strings.ReplaceAll(strings.Trim(strings.TrimSpace(value), `"'`), "_", "")
	if bare.MatchString(v) {
		if suffix {
			return math.NaN()
		}
		n, _ := strconv.ParseFloat(v, 64)
		return n
	}
	v = strings.ReplaceAll(strings.TrimPrefix(strings.TrimPrefix(strings.ToLower(v), "p"), "t"), " ", "")
	sum, read := 0.0, ""
	for _, m := range parts.FindAllStringSubmatch(v, -1) {
		n, _ := strconv.ParseFloat(m[1], 64)
		sum += n * units[m[2]]
		read += m[0]
	}
	if read == "" || read != v {
		return math.NaN()
	}
	return sum
}

var noLetter = regexp.MustCompile(`[^a-z]`)

func norm(key string) string { return noLetter.ReplaceAllString(strings.ToLower(key), "") }

// meets says if one of the pairs is within the bound.
func (b bound) meets(pairs []pair) bool {
	top := b.Max
	if top == 0 {
		top = math.Inf(1)
	}
	for _, p := range pairs {
		n := millis(p.value, b.Suffix)
		named := slices.ContainsFunc(append([]string{b.Key}, b.Also...), func(k string) bool { return strings.HasSuffix(norm(p.key), norm(k)) })
		if named && n >= b.Min && n <= top {
			return true
		}
	}
	return false
}

// lacks are what a finding does not have of the wanted one, and how much is wanted.
func (w want) lacks(f finding) (miss []string, of int) {
	miss = unmet(f.full(), w.Must)
	for _, m := range unmet(f.own(), w.Own) {
		miss = append(miss, m+" (in its own words)")
	}
	of = len(w.Must) + len(w.Own)
	if len(w.Numbers) > 0 {
		of++
		if !slices.ContainsFunc(w.Numbers, func(b bound) bool { return b.meets(f.settings()) }) {
			miss = append(miss, fmt.Sprintf("a fix with %v", w.Numbers))
		}
	}
	if rank(f.Severity) < rank(firstOf(w.Severity, "warning")) {
		miss = append(miss, fmt.Sprintf("severity %s, it is %s", firstOf(w.Severity, "warning"), f.Severity))
	}
	return miss, of
}

// best is the verdict on one wanted finding, with what the nearest one lacks.
func (w want) best(findings []finding) (string, string) {
	verdict, why, least := nothing, "no finding comes near", math.MaxInt
	for _, f := range findings {
		miss, of := w.lacks(f)
		if len(miss) == 0 {
			return right, ""
		}
		if len(miss) >= least {
			continue
		}
		least, why = len(miss), "nearest is "+f.ID+", which lacks: "+strings.Join(miss, "; ")
		if met := of - len(miss); 2*met >= of && met > 0 {
			verdict = partly
		}
	}
	return verdict, why
}

// answer is what one command line gave.
type answer struct {
	exit           int
	stdout, stderr string
}

// judge scores the answer to one run, with the reasons where it is not right.
func (r run) judge(a answer) (string, []string) {
	var doc struct{ Findings []finding }
	if err := json.Unmarshal([]byte(a.stdout), &doc); err != nil || !strings.Contains(a.stdout, `"findings"`) {
		named := !slices.ContainsFunc(r.files(), func(f string) bool { return !strings.Contains(a.stderr, f) })
		if r.MayRefuse && a.exit == 2 && named {
			return right, nil
		}
		return nothing, []string{fmt.Sprintf("no JSON, exit %d: %s", a.exit, strings.SplitN(a.stderr, "\n", 2)[0])}
	}
	if bad := r.misleading(doc.Findings); len(bad) > 0 {
		return misled, bad
	}
	if r.Quiet {
		return right, nil
	}
	verdict, reasons := right, []string(nil)
	for _, w := range append([]want{r.want}, r.Also...) {
		v, why := w.best(doc.Findings)
		if v != right {
			reasons = append(reasons, why)
		}
		verdict = worse(verdict, v)
	}
	if verdict == nothing && len(reasons) < 1+len(r.Also) {
		verdict = partly // one of several findings is there
	}
	return verdict, reasons
}

// misleading are the warnings and errors that no one should have read. Of a finding
// that is folded under another one only what is shown of it counts.
func (r run) misleading(findings []finding) []string {
	var bad []string
	for _, f := range findings {
		if rank(f.Severity) < 1 {
			continue
		}
		text := f.full()
		if f.BecauseOf != "" {
			text = f.title()
		}
		for _, re := range r.MustNot {
			if matches(re, text) {
				bad = append(bad, fmt.Sprintf("said %s %s, which matches the forbidden %s", f.Severity, f.ID, re))
			}
		}
		if r.Quiet {
			bad = append(bad, fmt.Sprintf("false alarm: %s %s %s", f.Severity, f.ID, f.Message))
		}
	}
	return bad
}

func worse(a, b string) string {
	return verdicts[max(slices.Index(verdicts, a), slices.Index(verdicts, b))]
}

// advise runs the command in a folder: the program that -kgdiag names, or this one.
func advise(t *testing.T, folder string, args []string) answer {
	t.Helper()
	all := slices.Concat([]string{"advise"}, args, []string{"-o", "json", "--min-severity", "info", "--project", ""})
	var out, err bytes.Buffer
	if *program != "" {
		c := exec.Command(*program, all...)
		c.Dir, c.Stdout, c.Stderr = folder, &out, &err
		_ = c.Run() // the exit code says it
		return answer{c.ProcessState.ExitCode(), out.String(), err.String()}
	}
	back, wdErr := os.Getwd()
	if wdErr != nil {
		t.Fatal(wdErr)
	}
	if err := os.Chdir(folder); err != nil {
		t.Fatal(err)
	}
	defer os.Chdir(back)
	code := cmd.Main(all, &term.Streams{In: strings.NewReader(""), Out: &out, Err: &err})
	return answer{code, out.String(), err.String()}
}
