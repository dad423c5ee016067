package credentials

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// TestMSKSignature holds the signature to the vector that segmentio/kafka-go
// publishes in sasl/aws_msk_iam/msk_iam_test.go.
func TestMSKSignature(t *testing.T) {
	m := mskMechanism{expires: 300, agent: "x", now: func() time.Time { return time.Date(2021, 10, 14, 13, 5, 0, 0, time.UTC) },
		source: func(context.Context) (aws.Credentials, string, error) {
			return aws.Credentials{AccessKeyID: "ACCESS_KEY", SecretAccessKey: "SECRET_KEY"}, "us-east-1", nil
		}}
	_, first, err := m.Authenticate(t.Context(), "localhost:9092")
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]string
	if err := json.Unmarshal(first, &got); err != nil {
		t.Fatal(err)
	}
	for k, want := range map[string]string{
		"version": "2020_10_22", "action": "kafka-cluster:Connect", "host": "localhost", "user-agent": "x", "x-amz-algorithm": "AWS4-HMAC-SHA256",
		"x-amz-credential": "ACCESS_KEY/20211014/us-east-1/kafka-cluster/aws4_request", "x-amz-date": "20211014T130500Z", "x-amz-expires": "300",
		"x-amz-signedheaders": "host", "x-amz-signature": "6b8d25f9b45b9c7db9da855a49112d80379224153a27fd279c305a5b7940d1a7",
	} {
		if got[k] != want {
			t.Errorf("%s: got %q, want %q", k, got[k], want)
		}
		delete(got, k)
	}
	if len(got) > 0 {
		t.Errorf("more than the broker expects: %v", got)
	}
}

func TestMSKRegion(t *testing.T) {
	for host, want := range map[string]string{
		"b-1.x.abc123.c2.kafka.eu-west-1.amazonaws.com":          "eu-west-1",
		"b-1.x.abc123.c2.kafka.cn-north-1.amazonaws.com.cn:9098": "cn-north-1",
		"boot-x.c1.kafka-serverless.us-gov-west-1.amazonaws.com": "us-gov-west-1",
		"vpce-0a1-b.kafka.us-east-1.vpce.amazonaws.com":          "us-east-1",
		"kafka.example.com": "",
	} {
		if got := mskRegion(host); got != want {
			t.Errorf("%s: %q, want %q", host, got, want)
		}
	}
}
