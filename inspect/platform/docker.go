package platform

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

// dockerInspect reads the array that `docker inspect` prints.
func (b *Book) dockerInspect(name string, data []byte) error {
	var list []struct {
		ID     string `json:"Id"`
		Name   string
		Config struct{ Hostname string }
		State  *struct {
			Running, OOMKilled    bool
			ExitCode              int32
			Error                 string
			StartedAt, FinishedAt time.Time
		}
		HostConfig      struct{ NetworkMode string }
		NetworkSettings struct {
			IPAddress string
			Networks  map[string]struct{ IPAddress string }
		}
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return jsonError(data, err)
	}
	b.objects = len(list)
	for i, c := range list {
		if c.State == nil || c.ID == "" {
			return fmt.Errorf("[%d]: %w: want the output of docker inspect CONTAINER", i, ErrForeign)
		}
		life := inspect.ProcessLife{From: inspect.Position{File: name}, Platform: "docker", Name: strings.TrimPrefix(c.Name, "/"), Hostname: c.Config.Hostname,
			HostNet: c.HostConfig.NetworkMode == "host", Started: dockerTime(c.State.StartedAt)}
		for _, n := range c.NetworkSettings.Networks {
			life.Addresses = append(life.Addresses, n.IPAddress)
		}
		life.Addresses = append(life.Addresses, c.NetworkSettings.IPAddress)
		slices.Sort(life.Addresses)
		life.Addresses = slices.DeleteFunc(slices.Compact(life.Addresses), func(ip string) bool { return ip == "" })
		if !c.State.Running {
			life.Ended, life.ExitCode, life.Reason = dockerTime(c.State.FinishedAt), &c.State.ExitCode, firstLine(c.State.Error)
			life.End = endOf(c.State.ExitCode)
			if c.State.OOMKilled {
				life.End, life.Reason = inspect.EndOOMKilled, "OOMKilled"
			}
		}
		b.see(life.Started.Time, dockerTime(c.State.FinishedAt).Time)
		b.lives = append(b.lives, life)
	}
	return nil
}

// dockerTime takes the year 1, by which Docker says "never", for unknown.
func dockerTime(t time.Time) inspect.Time {
	if t.Year() < 2000 {
		return inspect.Time{}
	}
	return inspect.At(t.UTC())
}

// dockerEvents reads the lines of `docker events --format '{{json .}}'`: a start begins
// a life, oom and kill say how the next die ended it.
func (b *Book) dockerEvents(name string, data []byte) error {
	open := map[string]*inspect.ProcessLife{} // by container id
	said := map[string]inspect.ProcessEnd{}   // by container id: what came before die
	var order []*inspect.ProcessLife
	dec := json.NewDecoder(bytes.NewReader(data))
	for {
		var e struct {
			Type, Action string
			Actor        struct {
				ID         string
				Attributes struct {
					Name, ExitCode, Signal string
				}
			}
			TimeNano int64 `json:"timeNano"`
		}
		if err := dec.Decode(&e); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return jsonError(data, err)
		}
		if e.Type != "container" || e.Actor.ID == "" || e.TimeNano <= 0 {
			continue
		}
		b.objects++
		at := inspect.At(time.Unix(0, e.TimeNano).UTC())
		b.see(at.Time)
		life := open[e.Actor.ID]
		if life == nil && (e.Action == "start" || e.Action == "die") {
			life = &inspect.ProcessLife{From: inspect.Position{File: name}, Platform: "docker", Name: e.Actor.Attributes.Name, Hostname: shortID(e.Actor.ID)}
			open[e.Actor.ID], order = life, append(order, life)
		}
		switch e.Action {
		case "start":
			life.Started = at
			delete(said, e.Actor.ID)
		case "oom":
			said[e.Actor.ID] = inspect.EndOOMKilled
		case "kill":
			if said[e.Actor.ID] == "" && (e.Actor.Attributes.Signal == "15" || e.Actor.Attributes.Signal == "") {
				said[e.Actor.ID] = inspect.EndStopped
			}
		case "die":
			life.Ended = at
			life.End, life.ExitCode = dockerEnd(e.Actor.Attributes.ExitCode, said[e.Actor.ID])
			delete(open, e.Actor.ID)
		}
	}
	for _, l := range order {
		b.lives = append(b.lives, *l)
	}
	return nil
}

// shortID is a container's default host name: the first twelve digits of its id.
func shortID(id string) string { return id[:min(12, len(id))] }

// dockerEnd is how a life ended by the exit code of die and by what was said before it.
func dockerEnd(exit string, said inspect.ProcessEnd) (inspect.ProcessEnd, *int32) {
	n, err := strconv.ParseInt(exit, 10, 32)
	if err != nil {
		if said == "" {
			said = inspect.EndUnknown
		}
		return said, nil
	}
	code := int32(n)
	if said == "" {
		said = endOf(code)
	}
	return said, &code
}
