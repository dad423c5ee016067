package main

import (
	"slices"
	"strings"
	"testing"
)

func TestStatements(t *testing.T) {
	for _, tc := range []struct {
		language, text string
		want           []statement
	}{
		{"java", "log.info(\"(Re-)joining group {}\", g);\nlog.warn(\"a \" +\n    \"b {}\", x);", []statement{{"info", "", "(Re-)joining group {}"}, {"warn", "", "a b {}"}}},
		{"python", "log.warning(\"Heartbeat failed for group %s\"\n            \" because it is rebalancing\", g)\nlog.debug(f'x {y!r} z')", []statement{{"warning", "", "Heartbeat failed for group {} because it is rebalancing"}, {"debug", "", "x {} z"}}},
		{"c", `rd_kafka_dbg(rkcg->rkcg_rk, CGRP, "REBALANCE", "Group \"%.*s\" has %" PRId32 " members", a, b);
rd_kafka_log(rk, LOG_WARNING, "MAXPOLL", "Application maximum poll interval (%dms) "
  "exceeded by %dms", x, y);`, []statement{{"debug", "REBALANCE", `Group "{}" has {} members`}, {"warning", "MAXPOLL", "Application maximum poll interval ({}ms) exceeded by {}ms"}}},
		{"go", `Logger.Printf("client/coordinator coordinator for %s is #%d\n", g, id)`, []statement{{"printf", "", "client/coordinator coordinator for {} is #{}"}}},
		{"javascript", "logger.error(`Crash: ${e.name}: ${e.message}`, { groupId })", []statement{{"error", "", "Crash: {}: {}"}}},
		{"ruby", `@logger.info "Joining group #{@group_id.inspect}"`, []statement{{"info", "", "Joining group {}"}}},
		{"elixir", `Logger.debug(fn -> "Joined consumer group #{group_name}" end)`, []statement{{"debug", "", "Joined consumer group {}"}}},
	} {
		if got := statements(tc.language, tc.text); !slices.Equal(got, tc.want) {
			t.Errorf("%s:\n got %q\nwant %q", tc.language, got, tc.want)
		}
	}
}

func TestOnlyWhatTheTableLacks(t *testing.T) {
	known := templates("java\t2.0-\tinfo\t\tjoined\tjoined\t\t\tSuccessfully joined group with generation {gen}\n", "java")
	var b strings.Builder
	write(&b, "java", "4.2.0", map[statement]bool{{"info", "", "Successfully joined group with generation {}."}: true, {"warn", "", "A new one {}"}: true}, known)
	if want := "java\t4.2.0-\twarn\t\t-\t\t\t\tA new one {}\n# 2 statements, 1 of them not in the table\n"; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}
