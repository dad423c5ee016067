package credentials

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	signer "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	awsconfig "github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/oauth"

	"github.com/kgdiag/kgdiag/internal/kconn/fault"
	"github.com/kgdiag/kgdiag/internal/pattern"
)

// mskOptions are the options of aws-msk-iam-auth's IAMLoginModule.
type mskOptions struct {
	profile, roleARN, session, externalID, stsRegion, region string
}

func mskOptionsOf(entry jaas) mskOptions {
	o := entry.options
	return mskOptions{profile: o["awsProfileName"], roleARN: o["awsRoleArn"], session: cmp.Or(o["awsRoleSessionName"], "kgdiag"),
		externalID: o["awsRoleExternalId"], stsRegion: o["awsStsRegion"], region: o["awsRegion"]}
}

// awsSource gives credentials and region by the SDK's own chain: environment,
// profile, web identity, SSO, container and instance roles.
type awsSource func(ctx context.Context) (aws.Credentials, string, error)

func (o mskOptions) source() awsSource {
	return func(ctx context.Context) (aws.Credentials, string, error) {
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second) // an instance role that is not there is asked for long
		defer cancel()
		var opts []func(*awsconfig.LoadOptions) error
		if o.profile != "" {
			opts = append(opts, awsconfig.WithSharedConfigProfile(o.profile))
		}
		if o.stsRegion != "" && o.roleARN != "" {
			opts = append(opts, awsconfig.WithRegion(o.stsRegion))
		}
		cfg, err := awsconfig.LoadDefaultConfig(ctx, opts...)
		if err != nil {
			return aws.Credentials{}, "", awsError(err)
		}
		provider := cfg.Credentials
		if o.roleARN != "" {
			provider = stscreds.NewAssumeRoleProvider(sts.NewFromConfig(cfg), o.roleARN, func(a *stscreds.AssumeRoleOptions) {
				a.RoleSessionName = o.session
				if o.externalID != "" {
					a.ExternalID = aws.String(o.externalID)
				}
			})
		}
		creds, err := provider.Retrieve(ctx)
		if err != nil {
			return aws.Credentials{}, "", awsError(err)
		}
		return creds, cmp.Or(o.region, cfg.Region), nil
	}
}

func awsError(err error) *fault.Error {
	text := err.Error()
	if i := strings.LastIndex(text, ", "); len(text) > 200 && i > 0 {
		text = "…" + text[i+1:]
	}
	return &fault.Error{Kind: fault.Token, Msg: "no AWS credentials: " + strings.ReplaceAll(text, "\n", " "), Err: err,
		Tip: "AWS_PROFILE=…, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a role; aws sts get-caller-identity has to work"}
}

// mskIAM prepares AWS_MSK_IAM.
func (r reader) mskIAM(c *Credentials) {
	c.Mechanisms = []sasl.Mechanism{mskMechanism{source: mskOptionsOf(r.jaas).source(), now: time.Now, expires: 900, agent: r.about.Agent}}
}

// mskOAuth prepares the other way of IAM, a presigned URL as an OAUTHBEARER token
// (aws-msk-iam-sasl-signer). It needs the region beforehand: the mechanism is not
// told which broker it speaks to.
func (r reader) mskOAuth(c *Credentials) error {
	source := mskOptionsOf(r.jaas).source()
	bootstrap := r.about.Bootstrap
	c.Mechanisms = []sasl.Mechanism{oauth.Oauth(func(ctx context.Context) (oauth.Auth, error) {
		creds, region, err := source(ctx)
		if err != nil {
			return oauth.Auth{}, err
		}
		if of := mskRegion(bootstrap); of != "" {
			region = of
		}
		if region == "" {
			return oauth.Auth{}, errNoRegion
		}
		u, err := mskPresign(ctx, creds, "kafka."+region+".amazonaws.com", region, time.Now(), 900)
		if err != nil {
			return oauth.Auth{}, awsError(err)
		}
		return oauth.Auth{Token: base64.RawURLEncoding.EncodeToString([]byte(u + "&User-Agent=kgdiag"))}, nil
	})}
	return nil
}

var errNoRegion = &fault.Error{Kind: fault.Token, Msg: "the AWS region is not in the broker's name", Tip: "AWS_REGION=eu-west-1"}

// mskMechanism is AWS_MSK_IAM as aws-msk-iam-auth speaks it: the client sends a
// signed description of itself as JSON, and the broker answers with anything.
type mskMechanism struct {
	source  awsSource
	now     func() time.Time
	expires int // seconds
	agent   string
}

func (mskMechanism) Name() string { return MSKIAM }

// Authenticate signs for the broker at host:port.
func (m mskMechanism) Authenticate(ctx context.Context, addr string) (sasl.Session, []byte, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, nil, err
	}
	creds, region, err := m.source(ctx)
	if err != nil {
		return nil, nil, err
	}
	if of := mskRegion(host); of != "" {
		region = of
	}
	if region == "" {
		return nil, nil, errNoRegion
	}
	signed, err := mskPresign(ctx, creds, host, region, m.now(), m.expires)
	if err != nil {
		return nil, nil, awsError(err)
	}
	u, err := url.Parse(signed)
	if err != nil {
		return nil, nil, awsError(err)
	}
	payload := map[string]string{"version": "2020_10_22", "host": host, "user-agent": m.agent}
	for k, v := range u.Query() {
		payload[strings.ToLower(k)] = v[0]
	}
	first, err := json.Marshal(payload)
	return mskSession{}, first, err
}

type mskSession struct{}

// Challenge takes the broker's one answer.
func (mskSession) Challenge(resp []byte) (bool, []byte, error) {
	if len(resp) == 0 {
		return false, nil, errors.New("empty answer to AWS_MSK_IAM")
	}
	return true, nil, nil
}

// mskPresign signs the action kafka-cluster:Connect with signature version 4.
func mskPresign(ctx context.Context, creds aws.Credentials, host, region string, at time.Time, expires int) (string, error) {
	q := url.Values{"Action": {"kafka-cluster:Connect"}, "X-Amz-Expires": {strconv.Itoa(expires)}}
	u := url.URL{Scheme: "https", Host: host, Path: "/", RawQuery: q.Encode()}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return "", err
	}
	const emptyBody = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" // its SHA-256
	signed, _, err := signer.NewSigner().PresignHTTP(ctx, creds, req, emptyBody, "kafka-cluster", region, at.UTC())
	return signed, err
}

var regionLabel = pattern.New(`^[a-z]+(-[a-z0-9]+)+-\d+$`)

// mskRegion finds the region in the name of an MSK broker
// (b-1.x.c2.kafka.eu-west-1.amazonaws.com); "" for other names.
func mskRegion(host string) string {
	host = strings.ToLower(host)
	if !strings.Contains(host, ".amazonaws.") && !strings.Contains(host, ".api.aws") {
		return ""
	}
	host, _, _ = strings.Cut(strings.Split(host, ",")[0], ":")
	labels := strings.Split(host, ".")
	slices.Reverse(labels)
	for _, l := range labels {
		if regionLabel.MatchString(l) {
			return l
		}
	}
	return ""
}
