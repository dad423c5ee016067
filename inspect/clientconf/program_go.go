package clientconf

import (
	"strings"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/pattern"
)

var (
	returnWord   = pattern.New(`\breturn\b[^\n;}]*`)
	caseClause   = pattern.New(`(?m)^\s*(case\b[^\n]*|default)\s*:`)
	mayReturn    = pattern.New(`!\s*(?:ok|more|open|opened|isOpen|channelOpen)\b|\.Done\(\)|\.Err\(\)|== nil|ctx\b|stop|quit|clos|shutdown`)
	onTimer      = pattern.New(`time\.(?:After|Tick)\(|\.C\b|[tT]imer|[tT]icker`)
	onError      = pattern.New(`\berr(?:or)?\b\s*!=\s*nil|\berr\b`)
	errorHandled = pattern.New(`return\s+(?:\w*[eE]rr\w*|fmt\.Errorf|errors\.)`)
)

// claimsLeft tells of a ConsumeClaim that returns while its session goes on: at a timer, or
// with the error of a record.
func (a *acting) claimsLeft() {
	told := map[inspect.ActKind]bool{}
	for _, f := range a.blocks {
		if f.function != "ConsumeClaim" {
			continue
		}
		for _, m := range returnWord.FindAllStringSubmatchIndex(a.bare[f.start:min(f.end, len(a.bare))], -1) {
			at := f.start + m[0]
			kind, call := a.leavesClaim(at, a.raw[at:f.start+m[1]], f)
			if kind == "" || told[kind] {
				continue
			}
			told[kind] = true
			a.add(inspect.Act{Kind: kind, Where: a.position(at), Call: call})
		}
	}
}

// leavesClaim says what a return in the loop of ConsumeClaim is for; "" for one that is due,
// or that the text does not explain.
func (a *acting) leavesClaim(at int, text string, f block) (inspect.ActKind, string) {
	guards, looped := "", false
	for _, b := range a.around(at) {
		if b.start <= f.start {
			break
		}
		if !b.loop && b.function != "" || strings.Contains(b.header, "func(") {
			return "", "" // of a function within it
		}
		looped = looped || b.loop
		clause := ""
		for _, c := range caseClause.FindAllStringSubmatchIndex(a.bare[b.start:at], -1) {
			clause = a.code[b.start+c[2] : b.start+c[3]]
		}
		guards += " " + clause + " " + strings.TrimSpace(lastOf(b.header))
		if b.loop {
			break
		}
	}
	switch {
	case !looped, mayReturn.MatchString(guards):
		return "", ""
	case onTimer.MatchString(guards):
		return inspect.ActClaimTimer, strings.TrimSpace(text)
	case onError.MatchString(guards) && errorHandled.MatchString(text):
		return inspect.ActClaimError, strings.TrimSpace(text)
	}
	return "", ""
}

// lastOf is the last line of a block's head: what stands before it may belong to others.
func lastOf(header string) string {
	return header[strings.LastIndexByte(header, '\n')+1:]
}

var readerConfig = pattern.New(`\bReaderConfig\s*\{`)

// readerAt is where the first Reader is made.
func (a *acting) readerAt() int {
	if at := a.named["NewReader"]; len(at) > 0 {
		return at[0]
	}
	return len(a.bare)
}

// commitsWithoutGroup tells of kafka-go's Reader without GroupID, that commits.
func (a *acting) commitsWithoutGroup() {
	configs := readerConfig.FindAllStringSubmatchIndex(a.bare, -1)
	if strings.Contains(a.bare, "ConsumerGroupConfig") && len(configs) == 1 && !strings.Contains(a.bare, "CommitOffsets") && a.readsAlone(made{at: a.readerAt()}) {
		a.add(inspect.Act{Kind: inspect.ActReaderNoCommit, Where: a.position(configs[0][0]), Call: "kafka.NewReader"})
		return
	}
	if len(configs) != 1 || strings.Contains(a.bare, "GroupID") || strings.Contains(a.bare, "ConsumerGroupConfig") {
		return
	}
	for _, c := range a.methods(set("CommitMessages")) {
		a.add(inspect.Act{Kind: inspect.ActCommitNoGroup, Where: a.position(c.at), Call: c.written})
		return
	}
}
