package explain

import (
	"fmt"
	"slices"

	"github.com/kgdiag/kgdiag/inspect/errcode"
)

// tags are words of clients' logs that are no codes of the protocol.
var tags = []Term{
	{"MAXPOLL", []string{"Application maximum poll interval exceeded"}, "librdkafka's tag for a consumer that was not polled for max.poll.interval.ms and leaves the group. The limit in the line is the one in force; the excess is how late the check came, not how long the work took.", []string{"max.poll.interval.ms", "KGD215"}},
	{"SESSTMOUT", []string{"Consumer group session timed out"}, "librdkafka's tag for a session without an answer from the coordinator. The line names the time, the broker and the last error; \"Success\" means that the broker was silent.", []string{"session timeout", "KGD227"}},
	{"REQTMOUT", []string{"Timed out in flight"}, "librdkafka's tag for a request that was given up. \"Possibly held back by preceeding blocking JoinGroupRequest\" means that it waited behind another one on the same connection.", []string{"KGD229"}},
	{"COMMITFAIL", []string{"Offset commit failed"}, "librdkafka's tag for offsets that were not committed; the error after it is the reason.", []string{"UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION"}},
	{"CommitFailedException", []string{"CommitFailedError", "Commit cannot be completed"}, "A commit was refused because the member was no longer in the group: evicted, or left after a poll timeout. What the text says about max.poll.interval.ms is the same whatever the cause was.", []string{"KGD219", "KGD215"}},
}

// ofKafka explains a code of Kafka's protocol by its number, its name or the name of
// an exception of any client, or a tag of a client's log.
func ofKafka(word, key string) (Term, bool) {
	for _, t := range tags {
		if t.is(word, key) {
			return t, true
		}
	}
	c, ok := errcode.Lookup(word)
	if !ok {
		return Term{}, false
	}
	return errorTerm(c), true
}

func errorTerm(c errcode.Code) Term {
	if c.Number == 0 {
		return Term{Word: c.Name, Also: c.Wordings, Text: "An error of clients: " + c.Meaning + ". " + c.Do}
	}
	text := fmt.Sprintf("Kafka's error %d: %s", c.Number, c.Message)
	if c.Meaning != "" {
		text = fmt.Sprintf("Kafka's error %d. To a group it means that %s. %s", c.Number, c.Meaning, c.Do)
	} else if c.Retriable {
		text += " Clients try again by themselves."
	}
	also := []string{fmt.Sprint(c.Number)}
	if c.Exception != "" {
		also = append(also, c.Exception)
	}
	return Term{Word: c.Name, Also: also, Text: text}
}

// kafkaWords are the words that ofKafka knows, for the list and for near misses.
func kafkaWords() []string {
	var out []string
	for _, t := range tags {
		out = append(out, t.Word)
	}
	for _, c := range errcode.All() {
		if c.Meaning != "" {
			out = append(out, c.Name)
		}
	}
	return slices.Clip(out)
}

// isError reports whether a word is a code of Kafka's protocol.
func isError(word string) bool {
	_, ok := errcode.Lookup(word)
	return ok
}
