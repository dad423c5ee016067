package locate

import (
	"errors"
	"fmt"
	"math"
	"unicode/utf8"
)

// The topics whose partition leaders are the coordinators.
const (
	// OffsetsTopic is behind FindCoordinator key type 0, for groups of every
	// protocol: classic, consumer (KIP-848), share and streams
	// (GroupCoordinatorService.topicPartitionFor).
	OffsetsTopic = "__consumer_offsets"
	// TransactionsTopic is behind FindCoordinator key type 1, for transactional
	// ids (TransactionStateManager.partitionFor).
	TransactionsTopic = "__transaction_state"
)

// MaxIDBytes is the longest id that Kafka can store, in bytes of UTF-8: the keys of
// both coordinator topics hold it as a STRING with a length of int16.
const MaxIDBytes = math.MaxInt16

// What makes an id unusable, found by Validate and Partition.
var (
	ErrEmpty       = errors.New("is empty, and JoinGroup refuses an empty id (INVALID_GROUP_ID)")
	ErrInvalidUTF8 = errors.New("is not valid UTF-8, and the broker would hash another string")
	ErrTooLong     = fmt.Errorf("is longer than %d bytes, which no Kafka request can carry", MaxIDBytes)
)

// Validate reports why id cannot be asked for: ErrEmpty, ErrInvalidUTF8 or
// ErrTooLong; nil for every id that a JVM client could use.
func Validate(id string) error {
	if id == "" {
		return ErrEmpty
	}
	return encodable(id)
}

// encodable is Validate for callers that accept the empty id.
func encodable(id string) error {
	if len(id) > MaxIDBytes {
		return ErrTooLong
	}
	if !utf8.ValidString(id) {
		return ErrInvalidUTF8
	}
	return nil
}

// Hash is Java's String.hashCode of s: h = 31*h + unit in 32 bits over the UTF-16
// units, so a character outside the basic plane counts as its two surrogates.
// Nothing is trimmed, folded or normalised. For a string that is not valid UTF-8
// the result means nothing; Validate tells.
func Hash(s string) int32 {
	const (
		surrogateMin = 0x10000 // first rune that takes two units
		high, low    = 0xd800, 0xdc00
	)
	var h int32
	for _, r := range s {
		if r < surrogateMin {
			h = 31*h + r
			continue
		}
		r -= surrogateMin
		h = 31*h + (high + r>>10)
		h = 31*h + (low + r&0x3ff)
	}
	return h
}

// Abs is Kafka's Utils.abs: the absolute value, but 0 for the smallest integer,
// which has none. Utils.toPositive, which masks the sign bit, is another function
// and belongs to the producers' partitioners.
func Abs(h int32) int32 {
	switch {
	case h == math.MinInt32:
		return 0
	case h < 0:
		return -h
	}
	return h
}

// Partition is the partition of the coordinator's topic that holds id, where the
// topic has n partitions: Utils.abs(id.hashCode()) % n. The mapping is the same
// for groups on OffsetsTopic and transactional ids on TransactionsTopic. The empty
// id hashes to 0, as on the broker. Errors: ErrInvalidUTF8, ErrTooLong, or n below 1.
func Partition(id string, n int32) (int32, error) {
	if err := encodable(id); err != nil {
		return -1, err
	}
	if n < 1 {
		return -1, fmt.Errorf("partition count %d: want at least 1", n)
	}
	return Abs(Hash(id)) % n, nil
}
