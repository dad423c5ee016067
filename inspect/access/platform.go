package access

import "strings"

// Platform is who runs the cluster, as far as its answers tell.
type Platform struct {
	Name   string   `json:"name"`   // "redpanda", "msk", …; "" for Apache Kafka or unknown
	Title  string   `json:"title"`  // for people
	Limits []string `json:"limits"` // what kgdiag cannot know there, each a sentence
}

// platforms are recognised by the cluster id or by the names that brokers
// advertise. Redpanda prefixes its cluster id; the services give out names of
// their own domain.
var platforms = []struct {
	Platform
	idPrefix string
	domains  []string // the advertised host contains one of them
}{
	{Platform{"redpanda", "Redpanda", []string{
		"it places groups by a hash of its own, which kgdiag computes too where the cluster's id tells; tried on a simulated cluster only",
		"no KIP-848, share or streams groups on most versions"}}, "redpanda.", nil},
	{Platform{"msk_serverless", "Amazon MSK Serverless", []string{
		"access is by IAM alone, kafka-acls does not apply", "internal topics may be hidden: then there is no history"}}, "", []string{".kafka-serverless."}},
	{Platform{"msk", "Amazon MSK", []string{
		"with IAM, permissions are an IAM policy (kafka-cluster:DescribeGroup, DescribeTopic, ReadData, DescribeCluster), not ACLs"}}, "", []string{".kafka.", ".amazonaws.com"}},
	{Platform{"confluent_cloud", "Confluent Cloud", []string{
		"__consumer_offsets is an internal topic of the service and is usually not readable: no history, no timeouts of classic groups",
		"settings of brokers are shown in part"}}, "lkc-", []string{".confluent.cloud"}},
	{Platform{"event_hubs", "Azure Event Hubs", []string{
		"it has no __consumer_offsets topic: no locate, no history; a coordinator is a front end",
		"settings of brokers and groups are not given"}}, "", []string{".servicebus."}},
	{Platform{"aiven", "Aiven for Apache Kafka", []string{
		"permissions are set on service users in Aiven (console, avn service user-acl-add, or Kafka-native ACLs), not with kafka-acls on the brokers"}}, "", []string{".aivencloud.com"}},
}

func platformOf(clusterID string, hosts []string) Platform {
	for _, p := range platforms {
		if p.idPrefix != "" && strings.HasPrefix(clusterID, p.idPrefix) {
			return p.Platform
		}
		for _, h := range hosts {
			if len(p.domains) > 0 && containsAll(strings.ToLower(h), p.domains) {
				return p.Platform
			}
		}
	}
	return Platform{Limits: []string{}}
}

func containsAll(host string, parts []string) bool {
	for _, p := range parts {
		if !strings.Contains(host, p) {
			return false
		}
	}
	return true
}
