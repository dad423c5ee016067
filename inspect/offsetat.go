package inspect

// OffsetQuery asks where the log of a partition was at a moment.
type OffsetQuery struct {
	Topic     string
	Partition int32
	At        Time
}

// OffsetAt is where the log of a partition was at a moment, as its leader answered
// ListOffsets by timestamp (KIP-79). Its limits are those of record timestamps: with
// CreateTime the producers set them, so a clock that is wrong moves the answer; what
// retention has deleted by now is missing (see Start); a transaction's marker takes an
// offset, and so may a record that was compacted away, so a difference of offsets is
// the most records that there can have been, not their number.
type OffsetAt struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	At        Time   `json:"at"` // the moment asked about
	// Offset is of the first record whose timestamp is At or later; the log end (high
	// watermark) at Asked where there was none.
	Offset int64 `json:"offset"`
	Next   Time  `json:"next"`  // timestamp of that record; zero where there was none
	Start  int64 `json:"start"` // log start at Asked: what lay before it cannot be seen; -1 unknown
	Asked  Time  `json:"asked"` // when the leader answered
}
