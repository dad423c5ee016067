package access

import (
	"fmt"
	"strings"

	"github.com/kgdiag/kgdiag/locate"
)

// Works is how far a command works.
type Works string

// The degrees of working.
const (
	Fully  Works = "fully"
	Partly Works = "partly"
	Not    Works = "no"
)

// Command is a command of kgdiag with what it lacks here.
type Command struct {
	Name    string   `json:"command"`
	Works   Works    `json:"works"`
	Without []string `json:"without"` // what is missing from its output, in a reader's words
	Needs   []ID     `json:"needs"`   // the rights that would bring it
}

// need is a right that a command uses: without a vital one it does not work at all.
type need struct {
	id    ID
	vital bool
	lost  string
}

// needs says which command uses what, in the order of help.
var needs = []struct {
	command string
	needs   []need
}{
	{"why", []need{{Groups, true, "groups"}, {OffsetsRead, false, "history and most causes (a live view remains)"}, {Topics, false, "lag"}, {BrokerConfigs, false, "brokers' bounds"}, {GroupConfigs, false, "timeouts of KIP-848 groups"}, {Cluster, false, "groups that are not permitted one by one"}}},
	{"locate", []need{{OffsetsTopic, true, "the partitions of __consumer_offsets (--offline computes)"}, {Groups, false, "the brokers' own answers: agreement is unverified"}}},
	{"describe", []need{{Groups, true, "groups"}, {OffsetsRead, false, "generation, session and rebalance timeout of classic groups"}, {Topics, false, "lag"}, {GroupConfigs, false, "timeouts of KIP-848 groups"}}},
	{"history", []need{{OffsetsRead, true, "the log of the groups"}, {Cluster, false, "with --all-groups, groups that are not permitted one by one"}}},
	{"watch", []need{{Groups, true, "groups"}, {OffsetsRead, false, "generations, and causes that need the log"}, {Topics, false, "lag"}}},
	{"top", []need{{Groups, true, "groups"}, {OffsetsRead, false, "rebalances before the start, and most causes"}, {Topics, false, "lag"}, {Cluster, false, "groups that are not permitted one by one"}}},
	{"advise", []need{{Groups, true, "live groups (configuration files need no cluster)"}, {OffsetsRead, false, "timeouts of the members, and churn"}, {BrokerConfigs, false, "brokers' bounds"}, {GroupConfigs, false, "timeouts of KIP-848 groups"}}},
	{"record", []need{{Groups, true, "groups"}, {OffsetsRead, false, "the log of the groups"}, {Topics, false, "lag"}, {BrokerConfigs, false, "brokers' bounds"}}},
}

// Commands judges every command by the rights that were found. A right that could
// not be tried does not count as missing.
func (r *Report) Commands() []Command {
	var out []Command
	for _, n := range needs {
		c := Command{Name: n.command, Works: Fully, Without: []string{}, Needs: []ID{}}
		for _, need := range n.needs {
			if state, missing := r.missing(&need); missing {
				c.lack(need, state)
			}
		}
		out = append(out, c)
	}
	return out
}

// missing reports whether a right is known to be missing that a command needs, and
// puts in the place of the need the right that it hangs on.
func (r *Report) missing(n *need) (State, bool) {
	state := r.Right(n.id).State
	if n.id == Groups && state != Yes && r.Right(OffsetsTopic).State == No {
		// Nothing is asked of a coordinator before the topic behind it shows, unless its
		// broker has listed the group.
		state, n.id = No, OffsetsTopic
	}
	// Nothing to show is not something missing: groups, and settings of theirs, may be absent.
	absent := state == Absent && (n.id == OffsetsTopic || n.id == OffsetsRead || n.id == BrokerConfigs)
	return state, state == No || state == Silent || absent
}

// lack notes what a command loses without a right.
func (c *Command) lack(n need, state State) {
	c.Needs = append(c.Needs, n.id)
	switch {
	case n.vital && c.Works != Not:
		c.Works, c.Without = Not, []string{n.lost} // beside which the rest does not matter
	case c.Works != Not:
		c.Works = Partly
		c.Without = append(c.Without, n.lost)
	}
	if state == Absent && n.id == OffsetsTopic {
		c.Without = []string{locate.OffsetsTopic + ": it does not exist"}
	}
}

// Grant is a permission that is missing, and how to give it on this platform.
type Grant struct {
	Rights  []ID   `json:"rights"`
	Command string `json:"command"` // ready to paste; a sentence where the platform has no command line for it
}

// Grants are the permissions that would make every command work fully, one for
// each operation. Into the commands go the address, the principal, and, where
// secure is set, the place for an administrator's own connection settings.
func (r *Report) Grants(bootstrap, principal string, secure bool) []Grant {
	if secure {
		bootstrap += " --command-config ADMIN.properties"
	}
	if principal == "" {
		principal = "User:PRINCIPAL"
	}
	var out []Grant
	for _, op := range []string{"Describe", "Read", "DescribeConfigs"} {
		var ids []ID
		var resources []string
		for _, x := range r.Rights {
			untried := x.State == Unknown && (x.ID == Groups || x.ID == Topics) && r.Right(OffsetsTopic).State == No
			if x.State != No && !untried || x.Operation != op || x.ID == OffsetsRead && op == "Describe" {
				continue
			}
			if x.ID == OffsetsTopic && r.Right(Topics).State != Yes && r.Right(Topics).State != Absent {
				ids = append(ids, x.ID) // --topic '*' of the topics covers it
				continue
			}
			ids = append(ids, x.ID)
			resources = append(resources, x.flag())
		}
		if len(ids) > 0 {
			out = append(out, Grant{Rights: ids, Command: r.Platform.grant(bootstrap, principal, op, resources)})
		}
	}
	return out
}

// flag is the resource as kafka-acls takes it.
func (x Right) flag() string {
	switch {
	case x.Resource == "cluster":
		return "--cluster"
	case x.Name == "*":
		return "--" + x.Resource + " '*'"
	}
	return "--" + x.Resource + " " + x.Name
}

func (p Platform) grant(bootstrap, principal, op string, resources []string) string {
	args := strings.Join(resources, " ")
	switch p.Name {
	case "redpanda":
		return fmt.Sprintf("rpk security acl create --allow-principal %s --operation %s %s", quote(principal), snake(op), args)
	case "confluent_cloud":
		return fmt.Sprintf("confluent kafka acl create --allow --service-account SERVICE-ACCOUNT --operations %s %s", strings.ReplaceAll(snake(op), "_", "-"), strings.ReplaceAll(args, "--cluster", "--cluster-scope"))
	}
	return fmt.Sprintf("kafka-acls --bootstrap-server %s --add --allow-principal %s --operation %s %s", bootstrap, quote(principal), op, args)
}

func quote(s string) string {
	if strings.ContainsAny(s, " ,='\"*$") {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	return s
}

// snake writes an operation as rpk and confluent do: describe_configs.
func snake(op string) string {
	var b strings.Builder
	for i, c := range op {
		if c >= 'A' && c <= 'Z' {
			if i > 0 {
				b.WriteByte('_')
			}
			c += 'a' - 'A'
		}
		b.WriteRune(c)
	}
	return b.String()
}
