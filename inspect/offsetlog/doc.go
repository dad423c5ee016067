// Package offsetlog reads __consumer_offsets: it decodes every record type that
// the group coordinator of Kafka 2.x to 4.3 writes there, and scans, tails and
// searches the partitions of the topic.
//
// # Decoding
//
// [Decode] turns key and value bytes into an inspect.Record. The layouts are those
// of the message definitions in Kafka's group-coordinator module (4.1, 4.2 and
// 4.3; core for the older classic ones). [PeekKey] reads type and group alone,
// without allocating, and is what a scan does for the many records that nobody
// asked for. A type or version that this program does not know is a typed error
// ([ErrUnknownType], [ErrUnknownVersion]) that a scan counts and passes over, as
// the broker does.
//
// # Scanning
//
// A [Scanner] issues plain Fetch requests and walks the record batches in place:
// no consumer, no group, no session, nothing that the cluster would remember.
// [Scanner.Scan] reads a range of one or many partitions, [Scanner.LatestMetadata]
// searches backwards from the tail, [Scanner.Follow] tails live.
//
// # What it refuses to do
//
// It judges nothing: causes are the business of package judge. It never sends
// anything but Metadata, ListOffsets and Fetch, never commits, never asks for a
// group. It does not hold a log in memory: what it keeps depends on the fetch size
// and on the groups asked for. It does not hide damage: corrupt batches, unknown
// types and compaction gaps are counted in the inspect.PartitionLog.
package offsetlog
