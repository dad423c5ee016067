package locate

import (
	"fmt"
	"slices"
)

// Broker is one broker of a Metadata answer.
type Broker struct {
	ID   int32
	Host string
	Port int32
	Rack string // "" where the broker has none
}

// PartitionState is one partition of a coordinator topic as Metadata shows it.
type PartitionState struct {
	Partition int32
	Leader    int32   // broker id; -1 while there is none
	Replicas  []int32 // in order of preference: the first is the preferred leader
	ISR       []int32 // in sync, as the leader last told the controller
	Offline   []int32 // replicas on brokers or disks that are down (Metadata v5+)
}

// Description is what Metadata says about the topic behind the coordinators, and
// about the brokers that could lead its partitions.
type Description struct {
	Cluster    string // id; "" unknown. It says whether groups are placed as Redpanda does
	Topic      string
	Partitions []PartitionState // by partition number, from 0, without a hole
	Brokers    []Broker         // the living ones: Metadata lists no others
}

// Placement is where an id lives.
type Placement struct {
	ID        string
	Hash      int32
	Partition int32
	State     PartitionState
}

// Place computes where id lives. Errors: those of Partition.
func (d *Description) Place(id string) (Placement, error) {
	cluster := d.Cluster
	if d.Topic != OffsetsTopic {
		cluster = "" // where Redpanda has transactional ids is not known here
	}
	p, err := PartitionIn(cluster, id, int32(len(d.Partitions)))
	if err != nil {
		return Placement{}, fmt.Errorf("%s: %w", d.Topic, err)
	}
	return Placement{ID: id, Hash: Hash(id), Partition: p, State: d.Partitions[p]}, nil
}

// Broker finds a living broker by id.
func (d *Description) Broker(id int32) (Broker, bool) {
	i := slices.IndexFunc(d.Brokers, func(b Broker) bool { return b.ID == id })
	if i < 0 {
		return Broker{}, false
	}
	return d.Brokers[i], true
}

// Known reports whether id is a living broker or a replica of some partition of
// the topic. A broker that is down is in no Metadata broker list, but the
// partitions still name it.
func (d *Description) Known(id int32) bool {
	if _, ok := d.Broker(id); ok {
		return true
	}
	return slices.ContainsFunc(d.Partitions, func(p PartitionState) bool { return slices.Contains(p.Replicas, id) })
}

// LedBy lists the partitions that the broker leads now: the groups in them are
// the ones that feel it when this broker goes.
func (d *Description) LedBy(broker int32) []int32 {
	return d.where(func(p PartitionState) bool { return p.Leader == broker })
}

// PreferredBy lists the partitions that the broker would lead if all were well
// (it is their first replica) and does not lead now.
func (d *Description) PreferredBy(broker int32) []int32 {
	return d.where(func(p PartitionState) bool {
		return p.Leader != broker && len(p.Replicas) > 0 && p.Replicas[0] == broker
	})
}

func (d *Description) where(keep func(PartitionState) bool) []int32 {
	var out []int32
	for _, p := range d.Partitions {
		if keep(p) {
			out = append(out, p.Partition)
		}
	}
	return out
}

// LeaderAlive reports whether the partition has a leader that Metadata lists
// among the living brokers; without one the groups in it have no coordinator.
func (d *Description) LeaderAlive(p PartitionState) bool {
	_, ok := d.Broker(p.Leader)
	return p.Leader >= 0 && ok
}

// OutOfISR lists the replicas that do not keep up, in replica order.
func (p PartitionState) OutOfISR() []int32 {
	var out []int32
	for _, r := range p.Replicas {
		if !slices.Contains(p.ISR, r) {
			out = append(out, r)
		}
	}
	return out
}

// UnderReplicated reports whether a replica is out of the ISR.
func (p PartitionState) UnderReplicated() bool { return len(p.OutOfISR()) > 0 }

// Unreplicated reports whether the partition has one replica only: when its broker
// goes, its groups have no coordinator, and when its disk goes, no offsets.
func (p PartitionState) Unreplicated() bool { return len(p.Replicas) == 1 }

// Outcome is what happens to the coordinator of a partition when a broker goes.
type Outcome string

// The outcomes.
const (
	Moves     Outcome = "moves"     // another broker in the ISR takes over
	Unchanged Outcome = "unchanged" // the broker does not lead the partition
	NoLeader  Outcome = "no_leader" // nobody may take over: no coordinator until a replica in the ISR is back
)

// Succession says who coordinates the groups of a partition when a broker goes.
type Succession struct {
	Down    int32
	Outcome Outcome
	Leader  int32   // after the broker is gone; -1 with NoLeader
	ISR     []int32 // of the ISR, those that are left
}

// IfDown works out who leads the partition when the broker down goes: the first
// replica, in replica order, that is in the ISR and alive (the controller's clean
// election, KRaft PartitionChangeBuilder and the older ReplicaStateMachine alike).
// An unclean election, which may lose offsets, is never assumed. What it cannot
// see is the ISR of the moment of failure: a lagging replica may have dropped out
// by then, and from Kafka 4.1 on the eligible leader replicas of KIP-966, which
// Metadata does not show, may still take over where this says NoLeader.
func (d *Description) IfDown(p PartitionState, down int32) Succession {
	s := Succession{Down: down, Outcome: Unchanged, Leader: p.Leader, ISR: without(p.ISR, down)}
	if p.Leader != down && p.Leader >= 0 {
		return s
	}
	s.Outcome, s.Leader = NoLeader, -1
	for _, r := range p.Replicas {
		if _, alive := d.Broker(r); alive && slices.Contains(s.ISR, r) && !slices.Contains(p.Offline, r) {
			s.Outcome, s.Leader = Moves, r
			break
		}
	}
	return s
}

func without(ids []int32, gone int32) []int32 {
	out := make([]int32, 0, len(ids))
	for _, id := range ids {
		if id != gone {
			out = append(out, id)
		}
	}
	return out
}
