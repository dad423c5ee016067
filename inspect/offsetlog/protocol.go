package offsetlog

import "github.com/kgdiag/kgdiag/inspect"

// subscription decodes ConsumerProtocolSubscription (v0 to v3, never flexible)
// into m. A version above 3 is read as 3, which is how the clients themselves deal
// with it. Topics decide: if what follows them does not fit, as with clients that
// claim a version whose fields they do not write, the topics are kept.
func subscription(m *inspect.GroupMember, in *interner) {
	w := wire{b: m.Subscription, in: in}
	version := w.int16()
	topics := w.strs()
	if w.bad || version < 0 {
		return
	}
	m.SubscriptionVersion, m.Topics = version, topics
	userData(&w)
	if version >= 1 {
		named(&w) // owned partitions
	}
	if version >= 2 {
		if generation := w.int32(); !w.bad {
			m.OwnedGeneration = generation
		}
	}
}

// assignment decodes ConsumerProtocolAssignment. No bytes at all is what the
// coordinator records for a member to which the leader assigned nothing.
func assignment(b []byte, in *interner) []inspect.TopicPartitions {
	if len(b) == 0 {
		return []inspect.TopicPartitions{}
	}
	w := wire{b: b, in: in}
	version := w.int16()
	out := named(&w)
	if w.bad || version < 0 {
		return nil
	}
	return out
}

// named reads an array of topics with their partitions.
func named(w *wire) []inspect.TopicPartitions {
	return list(w, 6, func(w *wire) inspect.TopicPartitions {
		return inspect.TopicPartitions{Topic: w.str(), Partitions: w.ints()}
	})
}

// userData passes over the assignor's own bytes, which may be null.
func userData(w *wire) {
	if n := w.int32(); n > 0 {
		w.take(int(n))
	}
}
