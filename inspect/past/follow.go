package past

import (
	"context"
	"os"
	"slices"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/clientlog"
)

// LogFollower reads log files again as they grow. It is not safe for concurrent use.
type LogFollower struct {
	Logs  // as they were read last
	ctx   context.Context
	names []string
	o     clientlog.Options
	sizes []int64
	told  bool
}

// FollowLogs reads log files for the first time. A file that cannot be read now is an
// error; later it stays what was read before.
func FollowLogs(ctx context.Context, names []string, o clientlog.Options) (*LogFollower, error) {
	f := &LogFollower{ctx: ctx, names: names, o: o}
	_, err := f.read()
	return f, err
}

// Beside reads the files of a query once, for who follows a cluster: what they say, in a
// case without a cluster, and the logs, to be read again as they grow. Its events are in
// the case too. Errors are as ReadLogs and ReadProcesses have them.
func Beside(ctx context.Context, q Query) (*Past, *LogFollower, error) {
	f, err := FollowLogs(ctx, slices.Concat(q.Logs, q.GCLogs), q.LogOptions)
	if err != nil {
		return nil, nil, err
	}
	p := &Past{Case: &inspect.Case{}}
	if err := p.take(ctx, q, f.Logs); err != nil {
		return nil, nil, err
	}
	return p, f, nil
}

// Said gives all events, and whether there may be other ones than the last time.
func (f *LogFollower) Said() ([]inspect.LogEvent, bool) {
	again, err := f.read()
	changed := again && err == nil || !f.told
	f.told = true
	return f.Events, changed
}

// read reads the files if one has another size than when they were read last.
func (f *LogFollower) read() (bool, error) {
	sizes := make([]int64, len(f.names))
	for i, name := range f.names {
		if info, err := os.Stat(name); err == nil {
			sizes[i] = info.Size()
		}
	}
	if f.sizes != nil && slices.Equal(sizes, f.sizes) {
		return false, nil
	}
	found, err := ReadLogs(f.ctx, f.names, f.o)
	if err != nil {
		return true, err
	}
	f.Logs, f.sizes = found, sizes
	return true, nil
}
