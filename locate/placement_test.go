package locate

import (
	"slices"
	"testing"
)

// three is a topic of three partitions on brokers 1 to 3 (4 is down), one of each
// trouble: partition 1 has lost broker 4 from its ISR, partition 2 has no leader.
func three() *Description {
	return &Description{
		Topic: OffsetsTopic,
		Partitions: []PartitionState{
			{Partition: 0, Leader: 1, Replicas: []int32{1, 2, 3}, ISR: []int32{3, 1, 2}},
			{Partition: 1, Leader: 2, Replicas: []int32{4, 3, 2}, ISR: []int32{2, 3}, Offline: []int32{4}},
			{Partition: 2, Leader: -1, Replicas: []int32{4}, ISR: []int32{4}, Offline: []int32{4}},
		},
		Brokers: []Broker{{ID: 1, Host: "a", Port: 9092}, {ID: 2, Host: "b", Port: 9092}, {ID: 3, Host: "c", Port: 9092}},
	}
}

func TestPlace(t *testing.T) {
	d := three()
	p, err := d.Place("foo") // hash 101574, divisible by 3
	if err != nil || p.Partition != 0 || p.Hash != 101574 || p.State.Leader != 1 {
		t.Errorf("Place(foo) = %+v, %v", p, err)
	}
	if _, err := (&Description{Topic: OffsetsTopic}).Place("foo"); err == nil {
		t.Error("a topic without partitions places nothing")
	}
	if _, err := d.Place("\xff"); err == nil {
		t.Error("an id that is not UTF-8 is placed nowhere")
	}
}

func TestFlags(t *testing.T) {
	d := three()
	for i, want := range []struct {
		under, single, alive bool
		out                  []int32
	}{
		{false, false, true, nil},
		{true, false, true, []int32{4}},
		{false, true, false, nil},
	} {
		p := d.Partitions[i]
		if p.UnderReplicated() != want.under || p.Unreplicated() != want.single ||
			d.LeaderAlive(p) != want.alive || !slices.Equal(p.OutOfISR(), want.out) {
			t.Errorf("partition %d: under %v, single %v, alive %v, out %v; want %+v",
				i, p.UnderReplicated(), p.Unreplicated(), d.LeaderAlive(p), p.OutOfISR(), want)
		}
	}
	if ghost := (PartitionState{Leader: 9, Replicas: []int32{9}}); d.LeaderAlive(ghost) {
		t.Error("a leader that Metadata does not list is not alive")
	}
}

func TestInverse(t *testing.T) {
	d := three()
	if got := d.LedBy(2); !slices.Equal(got, []int32{1}) {
		t.Errorf("LedBy(2) = %v", got)
	}
	if got := d.PreferredBy(4); !slices.Equal(got, []int32{1, 2}) {
		t.Errorf("PreferredBy(4) = %v", got)
	}
	if got := d.PreferredBy(1); len(got) != 0 {
		t.Errorf("PreferredBy(1) = %v: what it leads now it has not lost", got)
	}
	for id, want := range map[int32]bool{1: true, 4: true, 5: false} {
		if d.Known(id) != want {
			t.Errorf("Known(%d) = %v", id, d.Known(id))
		}
	}
}

func TestIfDown(t *testing.T) {
	d := three()
	for _, c := range []struct {
		name            string
		partition, down int32
		want            Outcome
		leader          int32
		isr             []int32
	}{
		{"the first living replica of the ISR, in replica order", 0, 1, Moves, 2, []int32{3, 2}},
		{"a follower goes: the leader stays", 0, 3, Unchanged, 1, []int32{1, 2}},
		{"the preferred replica is down already", 1, 2, Moves, 3, []int32{3}},
		{"a broker without a part in it", 1, 1, Unchanged, 2, []int32{2, 3}},
		{"no leader now, and none then", 2, 1, NoLeader, -1, []int32{4}},
	} {
		got := d.IfDown(d.Partitions[c.partition], c.down)
		if got.Outcome != c.want || got.Leader != c.leader || got.Down != c.down || !slices.Equal(got.ISR, c.isr) {
			t.Errorf("%s: IfDown(%d, %d) = %+v, want %v %d %v", c.name, c.partition, c.down, got, c.want, c.leader, c.isr)
		}
	}
	last := PartitionState{Leader: 1, Replicas: []int32{1, 2}, ISR: []int32{1}}
	if got := d.IfDown(last, 1); got.Outcome != NoLeader || got.Leader != -1 {
		t.Errorf("a replica out of the ISR took over: %+v", got)
	}
}

func TestRedpandaPartition(t *testing.T) {
	// The paper's defining property: growing from n to n+1 buckets moves a key to
	// the new bucket or not at all; and one bucket holds everything.
	for _, id := range []string{"a", "orders", "消費者グループ"} {
		last := int32(0)
		for n := int32(1); n <= 200; n++ {
			p, err := RedpandaPartition(id, n)
			if err != nil || (p != last && p != n-1) {
				t.Fatalf("RedpandaPartition(%q, %d) = %d after %d, %v", id, n, p, last, err)
			}
			last = p
		}
	}
}
