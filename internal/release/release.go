package release

import (
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
)

// optionalKeys say nothing about the release: OffsetCommit, OffsetFetch,
// InitProducerId and the streams group requests came as unstable versions, telemetry
// (KIP-714) shows only where a reporter is set up.
var optionalKeys = []int16{8, 9, 22, 71, 72, 88, 89}

// Guess is the release of the broker that gave an answer: "v4.1", "at least v3.9",
// "between v2.4 and v2.5"; "" where it is like none of Apache's.
func Guess(resp *kmsg.ApiVersionsResponse) string {
	guess := kversion.FromApiVersionsResponse(resp).VersionGuess(kversion.SkipKeys(optionalKeys...))
	for _, known := range []string{"v", "at least", "between"} {
		if strings.HasPrefix(guess, known) {
			return guess
		}
	}
	return ""
}
