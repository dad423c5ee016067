package locate

import (
	"fmt"
	"strings"

	"github.com/cespare/xxhash/v2"
)

// RedpandaPartition is the partition that Redpanda gives a group, where its
// __consumer_offsets has n partitions: the jump consistent hash of the xxHash64 of
// the id (coordinator_ntp_mapper::ntp_for). It explains the answers of brokers that
// do not agree with Partition; what counts is always what the brokers say. Errors:
// those of Partition.
func RedpandaPartition(id string, n int32) (int32, error) {
	if err := encodable(id); err != nil {
		return -1, err
	}
	if n < 1 {
		return -1, fmt.Errorf("partition count %d: want at least 1", n)
	}
	return jump(xxhash.Sum64String(id), n), nil
}

// PartitionIn is the partition of a group in the cluster of this id: Redpanda, which calls
// its clusters redpanda.…, places groups by another hash than Kafka. Errors: those of
// Partition.
func PartitionIn(cluster, id string, n int32) (int32, error) {
	if strings.HasPrefix(cluster, "redpanda.") {
		return RedpandaPartition(id, n)
	}
	return Partition(id, n)
}

// jump is the consistent hash of Lamping and Veach, "A Fast, Minimal Memory,
// Consistent Hash Algorithm": of n buckets, the one for key.
func jump(key uint64, n int32) int32 {
	var b, j int64 = -1, 0
	for j < int64(n) {
		b = j
		key = key*2862933555777941757 + 1
		j = int64(float64(b+1) * (float64(1<<31) / float64(key>>33+1)))
	}
	return int32(b)
}
