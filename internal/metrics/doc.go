// Package metrics shows what a watch sees as OpenMetrics: rebalances by group and cause,
// evictions, members, generations, silent members and those at risk.
//
// The number of time series is bounded: groups beyond MostGroups have none, and no
// member, host or topic is ever a label. A group that is not readable has no gauges, so
// that old values are not taken for new ones. The package refuses to judge: a cause
// counts once it is settled (watch.Settler).
package metrics
