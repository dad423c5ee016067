package inspect

import (
	"testing"
	"time"
)

func TestRoundUp(t *testing.T) {
	for _, tc := range []struct{ in, want time.Duration }{
		{0, time.Second}, {-time.Hour, time.Second},
		{time.Second, time.Second}, {time.Second + 1, 2 * time.Second},
		{9*time.Minute + 45*time.Second, 10 * time.Minute},
		{10 * time.Minute, 10 * time.Minute}, {31 * time.Minute, 45 * time.Minute},
		{60 * time.Minute, time.Hour}, {61 * time.Minute, 2 * time.Hour}, {25 * time.Hour, 25 * time.Hour},
		{1<<63 - 1, 1<<63 - 1},
	} {
		if got := RoundUp(tc.in); got != tc.want {
			t.Errorf("RoundUp(%v) = %v, want %v", tc.in, got, tc.want)
		}
	}
}

func TestPollIntervalFor(t *testing.T) {
	for _, tc := range []struct{ need, def, present, want time.Duration }{
		{8 * time.Minute, 5 * time.Minute, 5 * time.Minute, 10 * time.Minute},
		{25 * time.Second, 5 * time.Minute, 0, 5 * time.Minute}, // never below the default
		{25 * time.Second, 0, 7 * time.Minute, 7 * time.Minute}, // never below the present value
		{1<<63 - 1, 0, 0, 1<<63 - 1},
	} {
		if got := PollIntervalFor(tc.need, tc.def, tc.present); got != tc.want {
			t.Errorf("PollIntervalFor(%v, %v, %v) = %v, want %v", tc.need, tc.def, tc.present, got, tc.want)
		}
	}
	for need := time.Millisecond; need < 100*time.Hour; need = need*3/2 + 1 {
		if got := PollIntervalFor(need, 0, 0); got*PollMarginDen < need*PollMarginNum {
			t.Errorf("%v leaves no margin over %v", got, need)
		}
	}
}

func TestRecordsDown(t *testing.T) {
	for in, want := range map[int64]int64{-5: 0, 0: 0, 1: 1, 2: 2, 3: 2, 4: 2, 5: 5, 9: 5, 24: 20, 25: 25,
		49: 25, 256: 250, 500: 500, 999: 500, 1000: 1000, 2600: 2500, 1<<63 - 1: 5000000000000000000} {
		if got := RecordsDown(in); got != want {
			t.Errorf("RecordsDown(%d) = %d, want %d", in, got, want)
		}
	}
}
