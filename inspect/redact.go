package inspect

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"sort"
	"strings"
	"time"

	"github.com/kgdiag/kgdiag/internal/pattern"
)

// Redact makes a copy of a case in which group names, client ids, instance ids and
// hosts are replaced, each always by the same word, so that a case can be handed to
// strangers and still tells its story. Topic names, offsets, times and settings
// stay. Client ids that a library gives by itself stay too, because they tell which
// one it is. Bytes that clients encode for themselves (subscription, assignment) may
// hold names and are dropped.
func Redact(c *Case) (*Case, error) {
	b, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("redact: %w", err)
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	var tree map[string]any
	if err := dec.Decode(&tree); err != nil {
		return nil, fmt.Errorf("redact: %w", err)
	}
	r := &redactor{words: map[string]string{}, n: map[string]int{}}
	r.collect("", tree)
	r.prepare()
	r.walk("", tree)
	if b, err = json.Marshal(tree); err != nil {
		return nil, fmt.Errorf("redact: %w", err)
	}
	var out Case
	if err := json.Unmarshal(b, &out); err != nil {
		return nil, fmt.Errorf("redact: %w", err)
	}
	return &out, nil
}

// kindOf says what a JSON key of a Case holds, where that is a name to hide.
var kindOf = map[string]string{
	"group": "group", "client_id": "client", "instance_id": "instance", "host": "host", "new_host": "host",
	"rack": "rack", "context": "cluster", "bootstrap": "bootstrap", "process_id": "process",
	"pod": "pod", "namespace": "namespace", "node": "node", "hostname": "host", "addresses": "host",
}

// holdsNames are keys of text, or of ids, in which names may stand.
var holdsNames = map[string]bool{
	"text": true, "reason": true, "why": true, "why_not": true, "what": true, "needs": true, "evidence": true, "notes": true,
	"from": true, "file": true, "name": true, "message": true, "lane": true, "member": true, "member_id": true, "leader": true,
	"old_member_id": true, "new_member_id": true, "back_as": true, "converged_last": true, "metadata": true, "error": true, "value": true,
}

// dropped are keys of opaque bytes.
var dropped = map[string]bool{"subscription": true, "assignment": true}

// libraryIDs are client ids that libraries give by themselves.
var libraryIDs = pattern.New(`^(rdkafka|sarama|kgo|kafkajs|aiokafka-[0-9.]+|kafka-python-[0-9.]+|kafka-go|connect-\d+)$`)

// javaDefault is the Java consumer's own client id, which holds the group's name.
var javaDefault = pattern.New(`^consumer-(.+)-(\d+)$`)

type redactor struct {
	words    map[string]string // from the name to its replacement
	n        map[string]int
	replacer *strings.Replacer
}

// collect finds the names.
func (r *redactor) collect(key string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range keysOf(v) {
			if k == "batch_times_ms" {
				if m, ok := v[k].(map[string]any); ok {
					for _, g := range keysOf(m) {
						r.learn("group", g)
					}
				}
				continue
			}
			r.collect(k, v[k])
		}
	case []any:
		for _, e := range v {
			r.collect(key, e)
		}
	case string:
		if kind := kindOf[key]; kind != "" {
			r.learn(kind, v)
		}
	}
}

func keysOf(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

// learn gives a name its replacement.
func (r *redactor) learn(kind, name string) {
	if name == "" || r.words[name] != "" || kind == "client" && libraryIDs.MatchString(name) {
		return
	}
	if m := javaDefault.FindStringSubmatch(name); m != nil && kind == "client" {
		r.learn("group", m[1])
		r.words[name] = "consumer-" + r.words[m[1]] + "-" + m[2]
		return
	}
	r.n[kind]++
	r.words[name] = fmt.Sprintf("%s-%d", kind, r.n[kind])
}

// prepare makes the replacer for text: the longest names first, so that a name
// inside another one is not replaced in its place.
func (r *redactor) prepare() {
	names := make([]string, 0, len(r.words))
	for n := range r.words {
		names = append(names, n)
	}
	sort.Slice(names, func(i, j int) bool {
		if len(names[i]) != len(names[j]) {
			return len(names[i]) > len(names[j])
		}
		return names[i] < names[j]
	})
	var pairs []string
	for _, n := range names {
		pairs = append(pairs, n, r.words[n])
	}
	r.replacer = strings.NewReplacer(pairs...)
}

// walk replaces in place.
func (r *redactor) walk(key string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			_, bytes := e.(string)
			switch {
			case dropped[k] && bytes:
				delete(v, k)
			case k == "batch_times_ms":
				if m, ok := e.(map[string]any); ok {
					v[k] = r.renamed(m)
				}
			default:
				v[k] = r.walk(k, e)
			}
		}
	case []any:
		for i, e := range v {
			v[i] = r.walk(key, e)
		}
	case string:
		return r.text(key, v)
	}
	return v
}

// text replaces a name, or the names within a text, by what the key says it holds.
func (r *redactor) text(key, v string) string {
	switch {
	case kindOf[key] != "":
		return cmp.Or(r.words[v], v)
	case holdsNames[key] && !isTime(v):
		return r.replacer.Replace(v)
	}
	return v
}

// isTime holds for the moments that stand under the same keys as names do ("from" is
// a source here and a time there): a group called 30 must not change them.
func isTime(s string) bool {
	_, err := time.Parse(time.RFC3339, s)
	return err == nil
}

func (r *redactor) renamed(m map[string]any) map[string]any {
	out := make(map[string]any, len(m))
	for k, v := range m {
		if w := r.words[k]; w != "" {
			k = w
		}
		out[k] = v
	}
	return out
}
