// Package locate says where Kafka keeps a consumer group or a transactional id:
// the hash of the id, the partition of the coordinator's topic, and from a
// description of that topic the leader (which is the coordinator), the replicas
// behind it, and who would take over.
//
// Everything here is arithmetic on values that the caller hands in. The package
// does no I/O, reads no clock, and imports nothing of ours; asking a cluster is
// the work of inspect/collect. It refuses what it cannot answer rightly: ids that
// are not valid UTF-8, since the broker would hash another string, and partition
// counts below one. There is no default partition count: Kafka counts the
// partitions of the topic as it is, never the 50 of its configuration.
//
//	p, err := locate.Partition("orders", 50) // 31, nil
package locate
