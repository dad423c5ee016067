package advise

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/settings"
	"github.com/kgdiag/kgdiag/internal/prose"
)

// OriginLive marks a value that the group itself runs with, as the broker or the
// offsets log shows it.
const OriginLive inspect.Origin = "live"

// OriginLogged marks a value that a line of the client's log names as in force.
const OriginLogged inspect.Origin = "logged"

// Value is one setting of a subject.
type Value struct {
	Key     string // Java name
	Spelled string // as the reader spells it
	Text    string
	Raw     string        // a duration as its file writes it, where that is not its number of milliseconds
	D       time.Duration // where Timed
	Timed   bool
	Origin  inspect.Origin
	Where   *inspect.Position // nil where no line of a file stands behind it
	Source  string            // of a default
}

// Say is "session.timeout.ms is 45s", with a note where that is a default.
func (v Value) Say() string { return v.Spelled + " is " + v.amount() }

// amount is "45s", with a note where that is a default.
func (v Value) amount() string {
	what := v.Text
	if v.Timed {
		what = span(v.D)
		if v.D == maxInt {
			what = "2147483647 (never)"
		}
	}
	if v.Origin == inspect.OriginDefault {
		what += ", the default"
	}
	return what
}

// Subject is what one call of a rule looks at: a consumer, a group or a cluster,
// the same whether it was read from a file or from a broker.
type Subject struct {
	Scope Scope
	Name  string // "client orders-2", "orders.properties", …
	Group string // "" unknown

	Family     inspect.Family
	FamilySure inspect.Confidence
	Version    string // of the client; "" unknown
	Assumed    bool   // family or version are assumptions

	Case     *inspect.Case
	Config   *inspect.ClientConfig // the file behind a consumer; nil where it was read live
	Live     *inspect.Group        // the group as the cluster shows it; nil where none was read
	Timeline *inspect.Timeline     // its history; nil where none was read
	Members  []inspect.Member      // its live members: of a consumer, those that run with the same settings
	Departed []inspect.Departure   // of a consumer: who left and is not back
	Clients  []*Subject            // of a group: its consumers

	values map[string]Value
	gaps   map[gapKey]lack    // by the gaps of the case; nil until it is asked for
	logs   []inspect.LogEvent // of a log subject: what the logs say of its group
	laned  []lane             // logs by who wrote them, when a rule first asks
	target target
}

// Get is the value of a setting: from the file, the broker, or the client's
// default; false where it is unknown.
func (s *Subject) Get(key string) (Value, bool) {
	v, ok := s.values[key]
	return v, ok
}

// Timed is the value of a duration; false where it is unknown or no number.
func (s *Subject) Timed(key string) (Value, bool) {
	v, ok := s.values[key]
	return v, ok && v.Timed
}

// Sane is Timed for values that are no slip of the unit. A rule that compares two
// durations uses it, because KGD108 has said already what is wrong with a slip.
func (s *Subject) Sane(key string) (Value, bool) {
	v, ok := s.Timed(key)
	return v, ok && !unitSlip(v)
}

// Int is the value of a whole number.
func (s *Subject) Int(key string) (int64, Value, bool) {
	v, ok := s.values[key]
	if !ok || v.Timed {
		return 0, v, false
	}
	n, ok := whole(v.Text)
	return n, v, ok
}

// Set reports whether the configuration itself gives the setting a value.
func (s *Subject) Set(key string) (Value, bool) {
	v, ok := s.values[key]
	return v, ok && (v.Origin == inspect.OriginSet || v.Origin == inspect.OriginInherited || v.Origin == inspect.OriginFlag)
}

// ServerSide reports whether the broker runs the group protocol (KIP-848), so that
// session timeout and heartbeat interval are the broker's.
func (s *Subject) ServerSide() bool {
	v, ok := s.values[keyProtocol]
	return ok && strings.EqualFold(v.Text, "consumer")
}

// Polls reports whether the consumer leaves the group by itself when it is not
// polled in time.
func (s *Subject) Polls() bool {
	if s.Config == nil {
		_, ok := s.values[keyPoll]
		return ok
	}
	return watchesPolls(s.Family, s.Version)
}

// Worker reports whether the subject is a Connect worker and not a consumer.
func (s *Subject) Worker() bool { return s.Family == inspect.Connect }

// DefaultOf is the default duration of a setting for this client; zero where there
// is none.
func (s *Subject) DefaultOf(key string) time.Duration {
	d, ok := defaultOf(s.Family, s.Version, key)
	if !ok {
		return 0
	}
	return s.defaultValue(key, d).D
}

// client is "java 3.7", "java 4.3 (assumed)".
func (s *Subject) client() string {
	v := s.Version
	if v == "" {
		v = newest[s.Family]
	}
	if s.Config == nil {
		return string(s.Family)
	}
	if s.Assumed {
		return fmt.Sprintf("%s %s (assumed)", s.Family, v)
	}
	return fmt.Sprintf("%s %s", s.Family, v)
}

// Finding starts a finding about the subject: group, name, confidence and place are
// those of the values that it leans on.
func (s *Subject) Finding(sev Severity, message string, leans ...Value) Finding {
	f := Finding{Severity: sev, Confidence: inspect.High, Group: s.Group, Subject: s.Name, Message: message, Evidence: []string{}}
	for _, v := range leans {
		if f.Where == nil && v.Where != nil && v.Where.File != "" {
			at := *v.Where
			f.Where = &at
		}
		if v.Origin == inspect.OriginDefault {
			f.Evidence = append(f.Evidence, s.aboutDefault(v))
			if s.Assumed {
				f.Confidence = inspect.Medium
			}
		}
	}
	if f.Where == nil && s.Config != nil {
		f.Where = &inspect.Position{File: s.Config.Where.File}
	}
	if s.Config == nil && s.FamilySure == inspect.Low {
		f.Confidence = inspect.Medium
	}
	return f
}

func (s *Subject) aboutDefault(v Value) string {
	if s.Scope != PerClient {
		return fmt.Sprintf("%s is not set in every file: the client's default applies there (%s)", v.Spelled, v.Source)
	}
	if f := s.framework(); f != nil {
		if _, own := f.Default(v.Key); own {
			return fmt.Sprintf("%s is not set: the default of %s applies (%s)", v.Spelled, f.Name, v.Source)
		}
	}
	e := fmt.Sprintf("%s is not set: the default of %s applies (%s)", v.Spelled, s.client(), v.Source)
	if s.Assumed {
		e += "; name yours with --client NAME@VERSION"
	}
	return e
}

// Bound is a limit that a broker sets, with where it was read.
type Bound struct {
	D    time.Duration
	From string
}

// SessionBounds are the broker's limits for the session timeout of classic members;
// false where they were not read. Several brokers are met in the narrowest range.
func (s *Subject) SessionBounds() (least, most Bound, ok bool) {
	if l := s.Live; l != nil && l.Type != inspect.Consumer && l.Limits.SessionMin != nil && l.Limits.SessionMax != nil {
		return Bound{l.Limits.SessionMin.Duration(), l.Limits.From}, Bound{l.Limits.SessionMax.Duration(), l.Limits.From}, true
	}
	for _, b := range s.Case.Brokers {
		lo, okLo := brokerMillis(b, keyBrokerMin)
		hi, okHi := brokerMillis(b, keyBrokerMax)
		if b.From != "" && okLo != okHi { // a file leaves the other one at its default
			lo, hi = cmp.Or(lo, defaultSessionMin), cmp.Or(hi, defaultSessionMax)
			okLo, okHi = true, true
		}
		if !okLo || !okHi {
			continue
		}
		from := brokerName(b)
		if !ok || lo > least.D {
			least = Bound{lo, from}
		}
		if !ok || hi < most.D {
			most = Bound{hi, from}
		}
		ok = true
	}
	return least, most, ok
}

// brokerName is "broker 1", with the file that says so where it was not asked.
func brokerName(b inspect.Broker) string {
	if b.From != "" {
		return fmt.Sprintf("broker %d (%s)", b.ID, b.From)
	}
	return fmt.Sprintf("broker %d", b.ID)
}

// sessionCeiling is the most that a fix may set session.timeout.ms to.
func (s *Subject) sessionCeiling() time.Duration {
	if _, most, ok := s.SessionBounds(); ok {
		return most.D
	}
	return defaultSessionMax
}

const (
	keyBrokerMin = "group.min.session.timeout.ms"
	keyBrokerMax = "group.max.session.timeout.ms"
	// defaultSessionMax is group.max.session.timeout.ms since Kafka 2.3.
	defaultSessionMax = 30 * time.Minute
	// defaultSessionMin is group.min.session.timeout.ms since Kafka 0.9.
	defaultSessionMin = 6 * time.Second
)

// unreadBrokerKey says that no broker told the value of a key; "" where one did.
func (s *Subject) unreadBrokerKey(key string) string {
	read := false
	for _, b := range s.Case.Brokers {
		if _, ok := b.Config[key]; ok {
			return ""
		}
		read = read || len(b.Config) > 0
	}
	if read {
		return key + " is not among the settings that the brokers gave"
	}
	return key + " of the brokers was not read"
}

func brokerMillis(b inspect.Broker, key string) (time.Duration, bool) {
	n, ok := whole(b.Config[key])
	if !ok || n < 0 || n > int64(100*365*24*time.Hour/time.Millisecond) {
		return 0, false
	}
	return time.Duration(n) * time.Millisecond, true
}

// Need is the longest time that the consumer's work takes between two polls.
type Need struct {
	D        time.Duration // zero: nothing long was seen or declared
	Text     string        // "8m declared (--batch-time)"
	Client   string        // who was seen to take it; "" where it was declared
	Observed bool
}

// PollNeed works out the Need from what was declared and seen; false where nothing
// could have told.
func (s *Subject) PollNeed() (Need, bool) {
	need, known := s.declaredNeed()
	if s.Timeline != nil {
		known = true
		if seen := s.observedNeed(); seen.D > need.D {
			need = seen
		}
	}
	if seen, ok := s.loggedNeed(); ok {
		known = true
		if seen.D > need.D {
			need = seen
		}
	}
	return need, known
}

// declaredNeed is the work as it was declared, with the longest back-off behind it: a
// retry waits between two polls.
func (s *Subject) declaredNeed() (Need, bool) {
	if d := s.Case.Declared; s.pollsAlone() {
		return Need{}, d.BatchTime != nil || d.RecordTime != nil || d.BackOff != nil || len(d.BatchTimes) > 0
	}
	need, known := s.declaredWork()
	b := s.Case.Declared.BackOff
	if b == nil || *b <= 0 {
		return need, known
	}
	text := "a back-off of " + span(b.Duration()) + " (--back-off)"
	if known && need.D > 0 {
		text = need.Text + ", and " + text + " comes on top"
	}
	return Need{D: addSaturating(need.D, b.Duration()), Text: text}, true
}

func addSaturating(a, b time.Duration) time.Duration {
	if sum := a + b; sum >= a {
		return sum
	}
	return 1<<63 - 1
}

// workOf is the name under which the work of this consumer is declared: its group, or its
// place in a file that names none.
func (s *Subject) workOf() string {
	if s.Group != "" || s.Config == nil {
		return s.Group
	}
	return fmt.Sprintf("\x00%s:%d %s", s.Config.Where.File, s.Config.Where.Line, s.Config.Name)
}

func (s *Subject) declaredWork() (Need, bool) {
	d := s.Case.Declared
	var need Need
	known := false
	if b, ok := d.BatchTimes[s.workOf()]; ok {
		need, known = Need{D: b.Duration(), Text: "the work between two polls takes " + span(b.Duration()) + " (declared for this group)"}, true
	} else if d.BatchTime != nil {
		need, known = Need{D: d.BatchTime.Duration(), Text: "the work between two polls takes " + span(d.BatchTime.Duration()) + " (--batch-time)"}, true
	}
	if d.RecordTime == nil {
		return need, known
	}
	records, v, ok := s.Int(keyRecords)
	if !ok || records < 1 {
		records = 1
	}
	each := d.RecordTime.Duration()
	total := each * time.Duration(records)
	if each > 0 && total/each != time.Duration(records) {
		total = 1<<63 - 1
	}
	if total > need.D {
		need = Need{D: total, Text: fmt.Sprintf("one record takes %s (--record-time)", span(each))}
		if ok {
			need.Text = fmt.Sprintf("%s (%s) x %s (--record-time) = %s", count(int(records), "record"), v.Spelled, span(each), span(total))
		}
	}
	return need, true
}

func (s *Subject) observedNeed() Need {
	var need Need
	for _, r := range s.Timeline.Rebalances {
		if r.Stall == nil || r.Confidence == inspect.Low {
			continue
		}
		if r.Cause.Info().Prevented != inspect.ByPollInterval {
			continue
		}
		for _, l := range r.Members.Left {
			if l.Cause != r.Cause || !s.hasClient(l.ClientID, l.MemberID) {
				continue
			}
			if d := r.Stall.Duration(); d > need.D {
				need = Need{D: d, Client: l.ClientID, Observed: true,
					Text: fmt.Sprintf("longest time between polls %s, seen at %s", span(prose.ToCover(d)), at(r.Time))}
			}
		}
	}
	return need
}

func (s *Subject) loggedNeed() (Need, bool) {
	var need Need
	seen := false
	key := keyPoll
	if s.Worker() {
		key = keyRebalance
	}
	limit, ok := s.Timed(key)
	for i := range s.Case.LogEvents {
		e := &s.Case.LogEvents[i] // a log has very many
		// The limit that the line names was in force, whatever a file says.
		tells := e.Kind == inspect.LogPollTimeout && e.Length != nil && (ok || e.Limit != nil)
		if seen && !tells || !s.logsOf(*e) {
			continue
		}
		seen = true
		if !tells {
			continue
		}
		if d := inspect.Or(e.Limit, limit.D) + e.Length.Duration(); d > need.D {
			need = Need{D: d, Client: e.ClientID, Observed: true,
				Text: fmt.Sprintf("at least %s between polls, logged in %s:%d", span(d), e.From.File, e.From.Line)}
		}
	}
	return need, seen
}

// logsOf reports whether a log event is this subject's own.
func (s *Subject) logsOf(e inspect.LogEvent) bool {
	switch {
	case e.Group == "" && e.ClientID == "":
		return false
	case e.Group != "" && s.Group != "" && e.Group != s.Group:
		return false
	case e.ClientID != "" && s.Config == nil:
		return s.hasClient(e.ClientID, e.MemberID)
	}
	return true
}

func (s *Subject) hasClient(clientID, memberID string) bool {
	if s.Config != nil {
		return true
	}
	for _, m := range s.Members {
		if m.ClientID == clientID || m.MemberID == memberID {
			return true
		}
	}
	for _, d := range s.Departed {
		if d.ClientID == clientID || d.MemberID == memberID {
			return true
		}
	}
	return false
}

// LongestPause is the longest stop of the whole process that was declared or
// logged; false where neither could have told.
func (s *Subject) LongestPause() (time.Duration, string, bool) {
	var most time.Duration
	var text string
	known := false
	if p := s.Case.Declared.GCPause; p != nil {
		most, text, known = p.Duration(), "a pause of "+span(p.Duration())+" (--gc-pause)", true
	}
	for _, e := range s.Case.LogEvents {
		if e.Kind != inspect.LogPause {
			continue
		}
		known = true
		if d := inspect.Or(e.Length, 0); d > most {
			most, text = d, fmt.Sprintf("a pause of %s (%s:%d)", span(d), e.From.File, e.From.Line)
		}
	}
	return most, text, known
}

// ofStreams reports whether a line is of a consumer of Kafka Streams, which names it after
// its thread.
func ofStreams(e inspect.LogEvent) bool {
	return e.Family == inspect.StreamsLib || strings.Contains(e.ClientID, "-StreamThread-")
}

// fromFile makes the subject of one configuration.
func fromFile(c *inspect.Case, i int) *Subject {
	cfg := &c.Configs[i]
	s := &Subject{Scope: PerClient, Group: cfg.Group, Family: cfg.Family, FamilySure: inspect.High, Version: cfg.Version,
		Assumed: cfg.Assumed, Case: c, Config: cfg, values: map[string]Value{}, target: target{config: i, group: cfg.Group}}
	if s.Family == "" {
		s.Family, s.Assumed = inspect.Java, true
	}
	s.Name = cfg.Where.File
	if cfg.Name != "" {
		s.Name += " " + cfg.Name
	}
	if cfg.Profile != "" {
		s.Name += " (profile " + cfg.Profile + ")"
	}
	for _, set := range cfg.Settings {
		where := set.Where
		v := Value{Key: set.Key, Spelled: set.Spelled, Text: set.Value, Raw: set.Raw, Origin: set.Origin, Where: &where}
		if set.Millis != nil {
			v.D, v.Timed = set.Millis.Duration(), true
		}
		s.values[set.Key] = v
	}
	s.Live, s.Timeline = groupOf(c, cfg.Group), timelineOf(c, cfg.Group)
	s.fromLive()
	s.fromLogs()
	s.addDefaults()
	s.limitsFromLogs()
	return s
}

// plainFile reports a file that may be any library's.
func (s *Subject) plainFile() bool {
	return s.Config.Dialect == "java" || s.Config.Dialect == "printed"
}

// fromLive takes the library from the members of the group, where the file does not tell
// it and they are known to be of one. Its version stays assumed.
func (s *Subject) fromLive() {
	if !s.Assumed || !s.plainFile() {
		return
	}
	var guesses []inspect.ClientGuess
	if s.Live != nil {
		for _, m := range s.Live.Members {
			guesses = append(guesses, m.Client)
		}
	}
	for _, d := range departures(s.Timeline) {
		guesses = append(guesses, d.Client)
	}
	if len(guesses) == 0 {
		return
	}
	one := guesses[0]
	mixed := slices.ContainsFunc(guesses, func(g inspect.ClientGuess) bool { return g.Family != one.Family || g.Confidence == inspect.Low })
	if mixed || one.Family == "" || one.Family == inspect.Unknown || Spell(one.Family, keySession) != keySession {
		return
	}
	s.Family = one.Family
}

// fromLogs takes library and version from the logs where nothing else tells them.
func (s *Subject) fromLogs() {
	if !s.Assumed || len(s.Case.LogEvents) == 0 {
		return
	}
	if len(s.Case.Configs) > 1 {
		return
	}
	if s.Family == inspect.Java && len(s.Config.Settings) == 0 && slices.ContainsFunc(s.Case.LogEvents, ofStreams) {
		s.Family = inspect.StreamsLib // whose max.poll.records is 1000
	}
	if version := loggedVersion(s.Case, s.Family); version != "" {
		s.Version, s.Assumed = version, false
		return
	}
	// A plain file may be any library's: the one whose version the log tells, or whose lines
	// alone are in it.
	if !s.plainFile() {
		return
	}
	var told, seen []inspect.Family
	for _, e := range s.Case.LogEvents {
		if e.Kind == inspect.LogVersion && !slices.Contains(told, e.Family) {
			told = append(told, e.Family)
		}
		if !slices.Contains(seen, e.Family) {
			seen = append(seen, e.Family)
		}
	}
	switch {
	case len(told) == 1 && told[0] != "":
		if version := loggedVersion(s.Case, told[0]); version != "" {
			s.Family, s.Version, s.Assumed = told[0], version, false
		}
	case len(told) == 0 && len(seen) == 1 && seen[0] == inspect.Librdkafka && s.Family == inspect.Java:
		s.Family = inspect.Librdkafka
	}
}

// limitsFromLogs takes the limit that a client's own line names for the one in force,
// where the file leaves it at its default.
func (s *Subject) limitsFromLogs() {
	v, ok := s.values[keyPoll]
	if !ok || v.Origin != inspect.OriginDefault || len(s.Case.Configs) > 1 {
		return
	}
	for _, e := range s.Case.LogEvents {
		if e.Kind == inspect.LogPollTimeout && e.Limit != nil && s.logsOf(e) {
			where := e.From
			v.D, v.Timed, v.Text, v.Origin, v.Where = e.Limit.Duration(), true, ms(e.Limit.Duration()), OriginLogged, &where
			s.values[keyPoll] = v
			return
		}
	}
}

// addDefaults fills in what the client takes for settings that are not set.
func (s *Subject) addDefaults() {
	s.addFrameworkDefaults()
	for _, key := range judged {
		if _, ok := s.values[key]; ok || s.hidden(key) {
			continue
		}
		if d, ok := defaultOf(s.Family, s.Version, key); ok {
			s.values[key] = s.defaultValue(key, d)
		}
	}
	// aiokafka takes the session timeout where no rebalance timeout is given.
	if _, ok := s.values[keyRebalance]; !ok && s.Family == inspect.AIOKafka {
		if v, ok := s.values[keySession]; ok && v.Timed {
			v.Key, v.Spelled, v.Origin, v.Where, v.Source = keyRebalance, s.spell(keyRebalance), inspect.OriginDefault, nil, "aiokafka: the session timeout"
			s.values[keyRebalance] = v
		}
	}
}

// hidden reports whether the file sets a setting to a value that its text does not tell.
func (s *Subject) hidden(key string) bool {
	return s.Config != nil && slices.ContainsFunc(s.Config.Problems, func(p inspect.ConfigProblem) bool { return p.Of == key })
}

func (s *Subject) defaultValue(key string, d Default) Value {
	v := Value{Key: key, Spelled: s.spell(key), Text: d.Value, Origin: inspect.OriginDefault, Source: d.Source}
	if n, ok := whole(d.Value); ok && strings.HasSuffix(key, ".ms") {
		v.D, v.Timed = time.Duration(n)*time.Millisecond, true
	}
	return v
}

// addFrameworkDefaults fills in what the program or library around the client sets where
// its file does not: those outrank the client's own defaults.
func (s *Subject) addFrameworkDefaults() {
	f := s.framework()
	if f == nil {
		return
	}
	for _, x := range f.Fields() {
		if _, ok := s.values[x.Key]; !ok && !s.hidden(x.Key) && x.Default != "" && x.Key != "" {
			s.values[x.Key] = s.defaultValue(x.Key, Default{x.Default, x.Source})
		}
	}
}

// framework is the program or library around the consumer that has defaults or limits of
// its own; nil where there is none.
func (s *Subject) framework() *settings.Framework {
	if s.Config == nil {
		return nil
	}
	f, _ := settings.FrameworkOf(s.Config.Framework)
	return f
}

// pollsAlone reports whether the framework polls on a thread of its own, so that slow
// work does not delay the next poll.
func (s *Subject) pollsAlone() bool { f := s.framework(); return f != nil && f.OwnThread }

// spell is the reader's own spelling of a setting.
func (s *Subject) spell(key string) string {
	if v, ok := s.values[key]; ok && v.Spelled != "" {
		return v.Spelled
	}
	if s.Config != nil {
		if sp, ok := s.Config.Spellings[key]; ok {
			return sp
		}
	}
	return Spell(s.Family, key)
}

// writtenAs is the spelling of a setting with its path in the reader's file: that of the
// setting itself, else of one beside those that it has.
func (s *Subject) writtenAs(key string) string {
	spelled := s.spell(key)
	if v, ok := s.values[key]; ok && v.Origin != inspect.OriginDefault || s.Config == nil {
		return spelled
	}
	if _, given := s.Config.Spellings[key]; given {
		return spelled
	}
	prefix := ""
	for _, set := range s.Config.Settings {
		for _, name := range []string{Spell(s.Family, set.Key), set.Key} {
			if head, ok := strings.CutSuffix(set.Spelled, name); ok && head != "" && (prefix == "" || set.Origin == inspect.OriginSet) {
				prefix = head
			}
		}
	}
	if prefix == "" && s.Config.Dialect == "spring" {
		prefix = "spring.kafka.consumer.properties."
	}
	if strings.HasPrefix(spelled, prefix) {
		return spelled
	}
	return prefix + spelled
}

// liveClients splits the members of a group by client library and settings, so that
// a fleet of equal consumers is judged once.
func liveClients(c *inspect.Case, g *inspect.Group, timeline *inspect.Timeline) []*Subject {
	byKey := map[string]*Subject{}
	var order []string
	get := func(key string, m inspect.Member) *Subject {
		s, ok := byKey[key]
		if !ok {
			s = &Subject{Scope: PerClient, Group: g.ID, Family: m.Client.Family, FamilySure: m.Client.Confidence, Case: c,
				Live: g, Timeline: timeline, values: liveValues(g, m), target: target{config: -1, group: g.ID, clients: map[string]bool{}}}
			if s.Family == "" {
				s.Family = inspect.Unknown
			}
			byKey[key] = s
			order = append(order, key)
		}
		return s
	}
	present := map[string]bool{}
	for _, m := range g.Members {
		present[m.ClientID+"\x00"+m.Host] = true
		s := get(liveKey(m), m)
		s.Members = append(s.Members, m)
		s.target.clients[m.MemberID] = true
	}
	for _, d := range departures(timeline) {
		if present[d.ClientID+"\x00"+d.Host] {
			continue
		}
		m := inspect.Member{MemberID: d.MemberID, ClientID: d.ClientID, Host: d.Host, Client: d.Client, Protocol: g.Type, Session: d.Session, Rebalance: d.Rebalance}
		s := get(liveKey(m), m)
		s.Departed = append(s.Departed, d)
		s.target.clients[d.MemberID] = true
	}
	out := make([]*Subject, 0, len(order))
	for _, k := range order {
		s := byKey[k]
		s.Name = clientName(s)
		s.addPollLimit()
		out = append(out, s)
	}
	return out
}

func departures(t *inspect.Timeline) []inspect.Departure {
	if t == nil {
		return nil
	}
	var out []inspect.Departure
	for _, r := range t.Rebalances {
		out = append(out, r.Members.Left...)
	}
	return out
}

func liveKey(m inspect.Member) string {
	return fmt.Sprintf("%s|%s|%v|%v|%v", m.Client.Family, m.Protocol, inspect.Or(m.Session, -1), inspect.Or(m.Rebalance, -1), inspect.Or(m.Heartbeat, -1))
}

func liveValues(g *inspect.Group, m inspect.Member) map[string]Value {
	values := map[string]Value{}
	put := func(key string, p *inspect.Millis) {
		if p != nil {
			values[key] = Value{Key: key, Spelled: Spell(m.Client.Family, key), D: p.Duration(), Timed: true, Text: ms(p.Duration()), Origin: OriginLive}
		}
	}
	put(keySession, m.Session)
	put(keyHeartbeat, m.Heartbeat)
	if m.Client.Family.PollInterval() {
		put(keyPoll, m.Rebalance)
	} else {
		put(keyRebalance, m.Rebalance)
	}
	protocol := m.Protocol
	if protocol == inspect.UnknownType {
		protocol = g.Type
	}
	if protocol == inspect.Classic || protocol == inspect.Consumer {
		values[keyProtocol] = Value{Key: keyProtocol, Spelled: keyProtocol, Text: string(protocol), Origin: OriginLive}
	}
	if m.InstanceID != nil {
		values[keyInstance] = Value{Key: keyInstance, Spelled: Spell(m.Client.Family, keyInstance), Text: *m.InstanceID, Origin: OriginLive}
	}
	return values
}

// addPollLimit takes the rebalance timeout of an unknown client for its
// max.poll.interval.ms where its departures were of that kind.
func (s *Subject) addPollLimit() {
	v, ok := s.values[keyRebalance]
	if !ok || s.Family != inspect.Unknown || s.Timeline == nil {
		return
	}
	for _, r := range s.Timeline.Rebalances {
		for _, l := range r.Members.Left {
			if l.Cause == inspect.PollIntervalExceeded && s.hasClient(l.ClientID, l.MemberID) {
				v.Key, v.Spelled = keyPoll, keyPoll
				s.values[keyPoll] = v
				delete(s.values, keyRebalance)
				return
			}
		}
	}
}

func clientName(s *Subject) string {
	seen := map[string]bool{}
	var names []string
	add := func(id, member string) {
		if id == "" {
			id = member
		}
		if !seen[id] {
			seen[id] = true
			names = append(names, id)
		}
	}
	for _, m := range s.Members {
		add(m.ClientID, m.MemberID)
	}
	for _, d := range s.Departed {
		add(d.ClientID, d.MemberID)
	}
	sort.Strings(names)
	if len(names) == 1 {
		return "client " + names[0]
	}
	return "clients " + list(names)
}

// groupSubject joins everything that is known of one group.
func groupSubject(c *inspect.Case, index inspect.Index, id string, clients []*Subject) *Subject {
	s := &Subject{Scope: PerGroup, Name: "group " + id, Group: id, Case: c, Live: index.Group(id), Timeline: index.Timeline(id),
		Clients: clients, values: map[string]Value{}, target: target{config: -1, group: id}, FamilySure: inspect.High}
	if s.Live != nil {
		s.Members = s.Live.Members
	}
	return s
}

func clusterSubject(c *inspect.Case) *Subject {
	name := "cluster " + c.Cluster.Context
	switch {
	case c.Cluster.Context != "":
	case c.Cluster.Bootstrap == "" && len(c.Brokers) > 0 && c.Brokers[0].From != "":
		name = "the brokers of " + c.Brokers[0].From
	default:
		name = "cluster " + c.Cluster.Bootstrap
	}
	return &Subject{Scope: PerCluster, Name: name, Case: c, values: map[string]Value{}, FamilySure: inspect.High,
		target: target{config: -1, cluster: true}}
}

func groupOf(c *inspect.Case, id string) *inspect.Group {
	if id == "" {
		return nil
	}
	for i := range c.Groups {
		if c.Groups[i].ID == id {
			return &c.Groups[i]
		}
	}
	return nil
}

func timelineOf(c *inspect.Case, id string) *inspect.Timeline {
	if id == "" {
		return nil
	}
	for i := range c.Timelines {
		if c.Timelines[i].Group == id {
			return &c.Timelines[i]
		}
	}
	return nil
}
