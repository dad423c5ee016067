package cmd

import (
	"cmp"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/access"
	"github.com/kgdiag/kgdiag/internal/kconn"
	"github.com/kgdiag/kgdiag/internal/kconn/fault"
	"github.com/kgdiag/kgdiag/internal/prose"
	"github.com/kgdiag/kgdiag/internal/render"
	"github.com/kgdiag/kgdiag/internal/term"
)

const checkSchema = "kgdiag.check/v1"

// checkDoc is the document kgdiag.check/v1.
type checkDoc struct {
	envelope
	OK         bool             `json:"ok"`
	Error      *checkError      `json:"error"` // what ended the check; null where all could be asked
	Connection checkConnection  `json:"connection"`
	Bootstrap  []checkBroker    `json:"bootstrap"`
	Brokers    []checkBroker    `json:"brokers"`
	Rights     []access.Right   `json:"rights"`
	Commands   []access.Command `json:"commands"`
	Grants     []access.Grant   `json:"grants"`
	Platform   *access.Platform `json:"platform"` // null before it could be told
}

type checkError struct {
	Kind    string `json:"kind"` // stable names, see docs/connecting.md
	Message string `json:"message"`
	Hint    string `json:"hint"`
}

type checkConnection struct {
	Bootstrap string `json:"bootstrap"`
	Source    string `json:"source"` // what named the cluster
	Context   string `json:"context"`
	Protocol  string `json:"protocol"`
	Mechanism string `json:"mechanism"` // "" without SASL
	Principal string `json:"principal"` // "" where only the broker knows it
	// ClientCertificateUntil is the end of the client certificate; null without one.
	ClientCertificateUntil *inspect.Time `json:"client_certificate_until"`
}

type checkBroker struct {
	ID               *int32         `json:"id"` // null for a bootstrap address
	Address          string         `json:"address"`
	Dialled          string         `json:"dialled"` // differs from address with a broker map
	Addresses        []string       `json:"addresses"`
	TLS              string         `json:"tls"` // "" for plaintext
	CertificateUntil *inspect.Time  `json:"certificate_until"`
	Release          string         `json:"release"`
	TookMS           inspect.Millis `json:"took_ms"`
	Error            *checkError    `json:"error"`
}

func checkErrorOf(err error) *checkError {
	if err == nil {
		return nil
	}
	var e *fault.Error
	if errors.As(err, &e) {
		return &checkError{Kind: string(e.Kind), Message: e.Error(), Hint: e.Hint()}
	}
	return &checkError{Kind: "other", Message: err.Error()}
}

func until(cert *x509.Certificate) *inspect.Time {
	if cert == nil {
		return nil
	}
	t := inspect.At(cert.NotAfter)
	return &t
}

func checkBrokers(list []kconn.Broker) []checkBroker {
	out := make([]checkBroker, 0, len(list))
	for _, b := range list {
		c := checkBroker{Address: b.Addr, Dialled: b.Target, Addresses: b.Addresses, TLS: b.TLS, CertificateUntil: until(b.Cert),
			Release: b.Release, TookMS: inspect.Millis(b.Took.Milliseconds())}
		if c.Addresses == nil {
			c.Addresses = []string{}
		}
		if b.NodeID >= 0 {
			c.ID = &b.NodeID
		}
		if b.Err != nil {
			c.Error = checkErrorOf(b.Err)
		}
		out = append(out, c)
	}
	return out
}

// view shows the check: passing lines are short, failing ones say what to do.
func (o *checkCmd) view(c *checked) render.View {
	cluster := inspect.Cluster{Context: c.conn.Context, Bootstrap: c.conn.Bootstrap}
	doc := checkDoc{OK: c.failed == nil, Error: checkErrorOf(c.failed), Bootstrap: checkBrokers(c.seeds), Brokers: checkBrokers(c.brokers),
		Rights: []access.Right{}, Commands: []access.Command{}, Grants: []access.Grant{},
		Connection: checkConnection{Bootstrap: c.conn.Bootstrap, Source: c.conn.Source, Context: c.conn.Context, Protocol: c.conn.Protocol,
			Mechanism: c.conn.Mechanism, Principal: c.conn.Principal(), ClientCertificateUntil: until(c.conn.ClientCertificate())}}
	blocks := []render.Block{{Lines: o.connectionLines(c), NoTSV: true}}
	if c.access != nil {
		blocks[0].Lines = append(blocks[0].Lines, rightLines(c.access)...)
	}
	if r := c.access; r != nil {
		cluster.ID, cluster.Brokers, cluster.Platform = r.ClusterID, r.Brokers, r.Platform.Name
		for _, b := range c.brokers {
			if b.Err == nil {
				cluster.Answered++
			}
		}
		doc.Rights, doc.Commands, doc.Platform = r.Rights, o.commands(r), &r.Platform
		if grants := r.Grants(c.conn.Seeds()[0], c.conn.Principal(), c.conn.Protocol != "PLAINTEXT"); grants != nil {
			doc.Grants = grants
		}
		blocks = append(blocks, commandBlocks(doc.Commands, doc.Grants, o.principalNote(c.conn)...)...)
	}
	doc.envelope = o.envelopeOf(checkSchema, &inspect.Case{Cluster: cluster})
	head := o.clusterLine(cluster, o.clockOf(o.now()).Head(o.now()))
	if c.access == nil {
		head = render.Line{render.S(term.Bold, "%s", cmp.Or(cluster.Context, cluster.Bootstrap)), render.P("  not connected  %s", o.clockOf(o.now()).Head(o.now()))}
	}
	blocks = append(blocks, render.Block{Table: checkTSV(&doc), TSVOnly: true})
	return render.View{Head: head, Blocks: blocks, Data: doc}
}

// checkTSV is a line for each thing that was checked, up to where the check ended.
func checkTSV(doc *checkDoc) *render.Table {
	t := &render.Table{Columns: render.Cols("CHECK", "NAME", "RESULT", "DETAIL", "NEEDS")}
	add := func(cells ...string) { t.Rows = append(t.Rows, render.Row(cells...)) }
	failed := func(check, name string, e *checkError) { add(check, name, "failed", e.Message, e.Hint) }
	reached := func(check string, list []checkBroker) {
		for _, b := range list {
			name := b.Address
			if b.ID != nil {
				name = fmt.Sprint(*b.ID)
			}
			if b.Error != nil {
				failed(check, name, b.Error)
				continue
			}
			add(check, name, "ok", strings.TrimPrefix(strings.Join([]string{b.TLS, b.Release}, " "), " "))
		}
	}
	add("settings", doc.Connection.Bootstrap, "ok", strings.TrimSpace(doc.Connection.Protocol+" "+doc.Connection.Mechanism))
	reached("bootstrap", doc.Bootstrap)
	reached("broker", doc.Brokers)
	if doc.Error != nil {
		failed("connect", doc.Connection.Bootstrap, doc.Error)
	}
	for _, r := range doc.Rights {
		needs := ""
		if r.State == access.No {
			needs = r.Grant()
		}
		add("read", r.What, string(r.State), r.Detail, needs)
	}
	for _, c := range doc.Commands {
		add("command", c.Name, string(c.Works), strings.Join(c.Without, "; "))
	}
	return t
}

// step is one line of the check.
func step(style term.Style, mark, name, format string, args ...any) render.Line {
	return render.Line{render.S(style, "%-5s", mark), render.P(" %-13s %s", name, fmt.Sprintf(format, args...))}
}

func good(name, format string, args ...any) render.Line {
	return step(term.Good, "ok", name, format, args...)
}

func bad(name string, err error) []render.Line {
	lines := []render.Line{step(term.Bad, "FAIL", name, "%s", err.Error())}
	var e *fault.Error
	if errors.As(err, &e) {
		for _, h := range strings.Split(e.Hint(), "\n") {
			if h != "" {
				lines = append(lines, render.L("%20s%s", "", h))
			}
		}
	}
	return lines
}

// connectionLines are the steps up to an authenticated connection.
func (o *checkCmd) connectionLines(c *checked) []render.Line {
	how := c.conn.Protocol
	if c.conn.Mechanism != "" {
		how += " " + c.conn.Mechanism
	}
	if p := c.conn.Principal(); p != "" {
		how += " as " + p
	}
	lines := []render.Line{good("settings", "%s, named by %s", how, c.conn.Source)}
	lines = append(lines, o.certificateLine("client cert", c.conn.ClientCertificate())...)
	for _, b := range c.seeds {
		switch {
		case b.Err != nil && c.failed != nil && b.Err.Error() == c.failed.Error():
			// the line below says the same
		case b.Err != nil:
			lines = append(lines, bad("bootstrap", b.Err)...)
		case o.flags.verbose || c.failed != nil:
			lines = append(lines, good("bootstrap", "%s%s%s", b.Addr, resolvedTo(b), tlsOf(b)))
		}
	}
	if c.failed != nil && c.access == nil {
		return append(lines, bad("connect", c.failed)...)
	}
	return append(lines, o.brokerLines(c)...)
}

// resolvedTo shows addresses where they are not what was written.
func resolvedTo(b kconn.Broker) string {
	host, _, _ := net.SplitHostPort(b.Target)
	if len(b.Addresses) == 0 || len(b.Addresses) == 1 && b.Addresses[0] == host {
		return ""
	}
	return " (" + strings.Join(b.Addresses, ", ") + ")"
}

func tlsOf(b kconn.Broker) string {
	if b.TLS == "" {
		return ""
	}
	return ", " + b.TLS
}

// soon is how long before its end a certificate deserves a warning.
const soon = 14 * 24 * time.Hour

func (o *checkCmd) certificateLine(name string, cert *x509.Certificate) []render.Line {
	if cert == nil {
		return nil
	}
	left := cert.NotAfter.Sub(o.now())
	text := fmt.Sprintf("%s, until %s", cert.Subject, cert.NotAfter.UTC().Format("2006-01-02"))
	switch {
	case left < 0:
		return []render.Line{step(term.Bad, "FAIL", name, "%s: expired", text)}
	case left < soon:
		return []render.Line{step(term.Warn, "warn", name, "%s: %s left", text, prose.Plural(int(left.Hours()/24), "day"))}
	}
	return []render.Line{good(name, "%s", text)}
}

// brokerLines sum the brokers up, and show those that fail or stand out.
func (o *checkCmd) brokerLines(c *checked) []render.Line {
	var lines []render.Line
	reached, releases, protocols := 0, map[string]int{}, map[string]int{}
	var slowest time.Duration
	var first *x509.Certificate
	for _, b := range c.brokers {
		if b.Err != nil {
			lines = append(lines, bad(fmt.Sprintf("broker %d", b.NodeID), b.Err)...)
			continue
		}
		reached++
		releases[b.Release]++
		protocols[b.TLS]++
		slowest = max(slowest, b.Took)
		if b.Cert != nil && (first == nil || b.Cert.NotAfter.Before(first.NotAfter)) {
			first = b.Cert
		}
		if o.flags.verbose {
			lines = append(lines, good(fmt.Sprintf("broker %d", b.NodeID), "%s%s%s, %s, %s", b.Addr, resolvedTo(b), tlsOf(b), b.Release, tookOf(b.Took)))
		}
	}
	summary := fmt.Sprintf("%d of %s", reached, prose.Plural(len(c.brokers), "broker"))
	if o.flags.verbose || slowest > time.Second {
		summary += ", slowest " + tookOf(slowest)
	}
	if t := keys(protocols); t != "" {
		summary += ", " + t
	}
	if c.conn.Mechanism != "" {
		summary += ", authenticated"
	}
	if reached == len(c.brokers) {
		lines = append(lines, good("connect", "%s", summary))
	} else {
		lines = append(lines, step(term.Warn, "warn", "connect", "%s", summary))
	}
	if first != nil && first.NotAfter.Sub(o.now()) < soon {
		lines = append(lines, o.certificateLine("broker cert", first)...)
	}
	version := keys(releases)
	if len(releases) > 1 {
		version += " (brokers differ: is an upgrade under way?)"
	}
	if version != "" {
		lines = append(lines, good("version", "speaks Kafka %s%s", version, features(c.brokers)))
	}
	return lines
}

func tookOf(d time.Duration) string {
	if d < time.Millisecond {
		return "under 1ms"
	}
	return prose.Exact(d.Round(time.Millisecond))
}

func keys(m map[string]int) string {
	delete(m, "")
	return strings.Join(slices.Sorted(maps.Keys(m)), ", ")
}

// features tells which group protocols the cluster has turned on (KIP-584).
func features(brokers []kconn.Broker) string {
	for _, b := range brokers {
		if b.Err != nil || b.Features == nil {
			continue
		}
		var on []string
		for _, f := range []struct{ name, text string }{{"group.version", "KIP-848 groups"}, {"share.version", "share groups"}, {"streams.version", "streams groups"}} {
			if b.Features[f.name] > 0 {
				on = append(on, f.text)
			}
		}
		if len(on) > 0 {
			return ", with " + strings.Join(on, ", ")
		}
		return ""
	}
	return ""
}

// rightLines show the platform and what may be read.
func rightLines(r *access.Report) []render.Line {
	var lines []render.Line
	if r.Platform.Title != "" {
		lines = append(lines, good("platform", "%s", r.Platform.Title))
		for _, l := range r.Platform.Limits {
			lines = append(lines, render.L("%20s%s", "", l))
		}
	}
	for _, x := range r.Rights {
		style, mark := term.Good, "ok"
		switch x.State {
		case access.No:
			style, mark = term.Bad, "no"
		case access.Absent, access.Unknown, access.Silent:
			style, mark = term.Dim, "-"
		}
		text := x.What
		if x.State == access.No {
			text += ": needs " + x.Grant()
		}
		if x.Detail != "" && x.Detail != "denied" {
			text += " (" + x.Detail + ")"
		}
		lines = append(lines, step(style, mark, "read", "%s", text))
	}
	return append(lines, nil)
}

// commandBlocks show the commands and what would give the rest.
func commandBlocks(commands []access.Command, grants []access.Grant, note ...render.Line) []render.Block {
	t := &render.Table{Columns: render.Cols("COMMAND", "WORKS", "WITHOUT")}
	for _, c := range commands {
		style := map[access.Works]term.Style{access.Fully: term.Good, access.Partly: term.Warn, access.Not: term.Bad}[c.Works]
		t.Rows = append(t.Rows, []render.Span{render.P("%s", c.Name), render.S(style, "%s", c.Works), render.P("%s", strings.Join(c.Without, "; "))})
	}
	blocks := []render.Block{{Table: t, NoTSV: true}}
	if len(grants) > 0 {
		give := []render.Line{nil, render.L("to allow the rest, run as a user who may ALTER the cluster")}
		for _, g := range grants {
			give = append(give, render.L("  %s", g.Command))
		}
		give = append(give, note...)
		blocks = append(blocks, render.Block{Lines: give, NoTSV: true})
	}
	return blocks
}

// principalNote says where the name in the commands may be another one.
func (o *checkCmd) principalNote(c kconn.Config) []render.Line {
	switch {
	case c.Principal() == "":
		return []render.Line{render.L("PRINCIPAL is the name that the broker takes from the token; its authorizer log shows it")}
	case c.Protocol == "SSL" && c.ClientCertificate() != nil:
		return []render.Line{render.L("ssl.principal.mapping.rules on the brokers may give the certificate a shorter name")}
	}
	return nil
}
