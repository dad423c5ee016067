package platform

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

// Book gathers files of one platform until their lives are asked for: an event of one
// file may say how a life of another ended. The zero Book is ready to use.
type Book struct {
	lives   []inspect.ProcessLife
	events  []podEvent
	seen    inspect.Time // newest moment in all files
	objects int          // pods, events and containers that were read
}

// ErrForeign says that a file is none of the kinds that Add reads.
var ErrForeign = errors.New("neither pods, events, docker inspect nor docker events")

// Add reads one file and gives how many pods, events and containers are in it. name is
// for messages. The error names the file and what was looked for; nothing of a file with
// an error is kept.
func (b *Book) Add(name string, data []byte) (objects int, err error) {
	next := Book{lives: slices.Clone(b.lives), events: slices.Clone(b.events), seen: b.seen}
	if err := next.add(name, data); err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	*b = next
	return next.objects, nil
}

func (b *Book) add(name string, data []byte) error {
	trimmed := bytes.TrimSpace(data)
	switch {
	case len(trimmed) == 0:
		return errors.New("the file is empty: want the output of kubectl get pods -o json")
	case trimmed[0] == '[':
		return b.dockerInspect(name, trimmed)
	case trimmed[0] != '{':
		return fmt.Errorf("%w: want JSON: kubectl get pods -o json", ErrForeign)
	}
	var head struct {
		Kind  string            `json:"kind"`
		Items []json.RawMessage `json:"items"`
		Type  string            `json:"Type"`
	}
	if err := json.NewDecoder(bytes.NewReader(trimmed)).Decode(&head); err != nil {
		return jsonError(trimmed, err)
	}
	switch head.Kind {
	case "List", "PodList", "EventList":
		for i, item := range head.Items {
			if err := b.object(name, item); err != nil {
				return fmt.Errorf("items[%d]: %w", i, err)
			}
		}
		return nil
	case "Pod", "Event":
		return b.object(name, trimmed)
	case "":
		if head.Type != "" {
			return b.dockerEvents(name, trimmed)
		}
		return fmt.Errorf("%w: want kubectl get pods -o json, or docker inspect", ErrForeign)
	}
	return fmt.Errorf("%w: kind %s: want kubectl get pods -o json, or events", ErrForeign, head.Kind)
}

// object reads one Kubernetes object; kinds that say nothing of processes are passed over.
func (b *Book) object(name string, data []byte) error {
	var head struct {
		Kind string `json:"kind"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return jsonError(data, err)
	}
	switch head.Kind {
	case "Pod":
		b.objects++
		return b.pod(name, data)
	case "Event":
		b.objects++
		return b.event(name, data)
	}
	return nil
}

// jsonError names the line at which JSON breaks off or a value has another type.
func jsonError(data []byte, err error) error {
	at := int64(-1)
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	if errors.As(err, &syntax) {
		at = syntax.Offset
	} else if errors.As(err, &kind) {
		return fmt.Errorf("%s: want another type than %s: is this the output of kubectl get -o json?", kind.Field, kind.Value)
	}
	if at < 0 || at > int64(len(data)) {
		return fmt.Errorf("not JSON: %w", err)
	}
	return fmt.Errorf("line %d: not JSON: %w", 1+bytes.Count(data[:at], []byte("\n")), err)
}

// see notes a moment that a file shows.
func (b *Book) see(moments ...time.Time) {
	for _, at := range moments {
		if at.After(b.seen.Time) {
			b.seen = inspect.At(at.UTC())
		}
	}
}

// Lives are all lives that were read, by start: events have said how they ended, and
// where the list no longer has a pod, that it was there.
func (b *Book) Lives() []inspect.ProcessLife {
	lives := slices.Clone(b.lives)
	for i := range b.events {
		lives = b.events[i].tell(lives)
	}
	for i := range lives {
		lives[i].Seen = b.seen
	}
	slices.SortStableFunc(lives, func(x, y inspect.ProcessLife) int {
		return cmp.Or(x.Started.Compare(y.Started.Time), cmp.Compare(x.Name, y.Name), cmp.Compare(x.Container, y.Container))
	})
	return lives
}

// endOf is how a process ended by its exit code: 128 + n is signal n, and 143, SIGTERM,
// is what a platform sends first.
func endOf(code int32) inspect.ProcessEnd {
	switch code {
	case 0:
		return inspect.EndCompleted
	case 143:
		return inspect.EndStopped
	}
	return inspect.EndCrashed
}
