package fakecluster

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kgdiag/kgdiag/locate"
)

// DenyOffsetsRead answers TOPIC_AUTHORIZATION_FAILED to every Fetch of
// __consumer_offsets, as to a principal with DESCRIBE only. undo allows it again.
func (c *Cluster) DenyOffsetsRead() (undo func()) {
	h := c.kf.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Fetch}, Topic: locate.OffsetsTopic, Err: kerr.TopicAuthorizationFailed, Count: -1})
	return h.Remove
}

// DenyGroup answers GROUP_AUTHORIZATION_FAILED to those who describe the group from
// outside, and hides it from ListGroups, as a broker does without DESCRIBE on it.
// Members stay. undo allows it again.
func (c *Cluster) DenyGroup(group string) (undo func()) {
	c.denyMu.Lock()
	defer c.denyMu.Unlock()
	c.deny[group] = kerr.GroupAuthorizationFailed
	return func() {
		c.denyMu.Lock()
		defer c.denyMu.Unlock()
		delete(c.deny, group)
	}
}

// denied changes the answer to an outsider about a denied group; nil changes nothing.
func (c *Cluster) denied(cn *conn, resp kmsg.Response) kmsg.Response {
	c.denyMu.Lock()
	defer c.denyMu.Unlock()
	if len(c.deny) == 0 || cn.member {
		return nil
	}
	changed := false
	switch r := resp.(type) {
	case *kmsg.DescribeGroupsResponse:
		changed = refuse(c.deny, r.Groups, func(g *kmsg.DescribeGroupsResponseGroup) string { return g.Group },
			func(id string, code int16) kmsg.DescribeGroupsResponseGroup {
				return kmsg.DescribeGroupsResponseGroup{Group: id, ErrorCode: code}
			})
	case *kmsg.ConsumerGroupDescribeResponse:
		changed = refuse(c.deny, r.Groups, func(g *kmsg.ConsumerGroupDescribeResponseGroup) string { return g.Group },
			func(id string, code int16) kmsg.ConsumerGroupDescribeResponseGroup {
				return kmsg.ConsumerGroupDescribeResponseGroup{Group: id, ErrorCode: code}
			})
	case *kmsg.OffsetFetchResponse:
		changed = refuse(c.deny, r.Groups, func(g *kmsg.OffsetFetchResponseGroup) string { return g.Group },
			func(id string, code int16) kmsg.OffsetFetchResponseGroup {
				return kmsg.OffsetFetchResponseGroup{Group: id, ErrorCode: code}
			})
	case *kmsg.FindCoordinatorResponse:
		changed = refuse(c.deny, r.Coordinators, func(k *kmsg.FindCoordinatorResponseCoordinator) string { return k.Key },
			func(id string, code int16) kmsg.FindCoordinatorResponseCoordinator {
				return kmsg.FindCoordinatorResponseCoordinator{Key: id, ErrorCode: code, NodeID: -1, Port: -1}
			})
	case *kmsg.ListGroupsResponse:
		n := len(r.Groups)
		r.Groups = slices.DeleteFunc(r.Groups, func(g kmsg.ListGroupsResponseGroup) bool { return c.deny[g.Group] != nil })
		changed = len(r.Groups) != n
	}
	if !changed {
		return nil
	}
	return resp
}

// refuse puts an answer that holds nothing but the error code in the place of each
// that is about a denied group, and reports whether there was one.
func refuse[G any](deny map[string]*kerr.Error, answers []G, group func(*G) string, refusal func(string, int16) G) (changed bool) {
	for i := range answers {
		id := group(&answers[i])
		if err := deny[id]; err != nil {
			answers[i], changed = refusal(id, err.Code), true
		}
	}
	return changed
}

// advertised writes the brokers' advertised addresses into an answer that holds
// addresses, and reports whether it does.
func (c *Cluster) advertised(resp kmsg.Response) bool {
	switch r := resp.(type) {
	case *kmsg.MetadataResponse:
		for i := range r.Brokers {
			b := &r.Brokers[i]
			b.Host, b.Port = c.opts.advertise(b.NodeID)
		}
	case *kmsg.FindCoordinatorResponse:
		if r.NodeID >= 0 && r.Host != "" {
			r.Host, r.Port = c.opts.advertise(r.NodeID)
		}
		for i := range r.Coordinators {
			if k := &r.Coordinators[i]; k.ErrorCode == 0 {
				k.Host, k.Port = c.opts.advertise(k.NodeID)
			}
		}
	default:
		return false
	}
	return true
}

// Silence makes a broker accept connections and requests and answer none, as one
// behind a dropped route or in a long pause. undo lets the answers out.
func (c *Cluster) Silence(broker int32) (undo func(), err error) {
	n, err := c.nw.byID(broker)
	if err != nil {
		return nil, err
	}
	n.gate.shut()
	return n.gate.unshut, nil
}

// StopBroker kills a broker: its connections are cut and new ones refused.
// Leadership and coordination stay with it until MoveCoordinator.
func (c *Cluster) StopBroker(broker int32) error {
	n, err := c.nw.byID(broker)
	if err != nil {
		return err
	}
	n.setDown()
	return nil
}

// StartBroker starts a killed broker on its old address.
func (c *Cluster) StartBroker(broker int32) error {
	n, err := c.nw.byID(broker)
	if err != nil {
		return err
	}
	return n.setUp()
}

// Compact cleans the offsets topic now: of each key the last record stays.
func (c *Cluster) Compact() { c.admin(c.kf.Compact) }
