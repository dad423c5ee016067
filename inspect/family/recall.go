package family

import "slices"

// sticky are the assignors whose members send what they last had.
var sticky = []string{"sticky", "cooperative-sticky"}

// Recalled is the generation that a classic member says that it was last part of, in the
// subscription of its first JoinGroup under a member id: -1 where it was part of none,
// nil where the bytes do not tell. protocol is the assignor that was selected.
//
// A client that the coordinator put out loses its member id, but a sticky assignor keeps the
// assignment and the generation that it last saw and sends them again; franz-go keeps the
// generation whatever the assignor. A new process has neither. Seen with Java, Spring,
// librdkafka, Sarama and franz-go (the recordings of inspect/judge).
func Recalled(protocol string, b []byte) *int32 {
	s, ok := readSubscription(b)
	switch {
	case !ok:
		return nil
	case s.generation >= 0:
		return &s.generation
	case slices.Contains(sticky, protocol):
		return stickyGeneration(s.userData)
	}
	return nil
}

// stickyGeneration is the generation in a sticky assignor's user data: all of it
// (cooperative-sticky of Java), or behind the assignment; -1 where nothing is sent, or,
// as by franz-go, an empty assignment.
func stickyGeneration(userData []byte) *int32 {
	none := int32(-1)
	if len(userData) == 0 {
		return &none
	}
	r := reader{b: userData}
	if len(userData) != 4 {
		r.assignment()
	}
	generation := r.int32()
	switch {
	case r.bad || len(r.b) > 0:
		return nil // the first version of StickyAssignor's has none
	case generation == 0: // the first generation is 1: no topics
		return &none
	}
	return &generation
}
