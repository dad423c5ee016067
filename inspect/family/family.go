package family

import "github.com/kgdiag/kgdiag/inspect"

// Evidence is what a member shows of the library that it runs on.
type Evidence struct {
	Group        string
	Type         inspect.GroupType // protocol of the member
	ProtocolType string            // "consumer", "connect", …
	Protocol     string            // selected assignor; "" unknown
	Assignors    []string          // the list, where a record holds it
	ClientID     string
	MemberID     string
	InstanceID   *string
	Subscription []byte // member metadata as it is on the wire; nil unknown
	Session      *inspect.Millis
	Rebalance    *inspect.Millis
}

// Guess names the library. Signs that are not yet read leave it unknown.
func Guess(e Evidence) inspect.ClientGuess {
	return inspect.ClientGuess{Family: inspect.Unknown, Confidence: inspect.Low}
}
