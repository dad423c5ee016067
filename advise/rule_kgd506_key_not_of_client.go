package advise

import (
	"fmt"
	"strings"

	"github.com/kgdiag/kgdiag/inspect"
)

// javaOnly are consumer settings that librdkafka does not know and refuses.
var javaOnly = map[string]bool{
	keyRecords: true, keyAPI: true, "key.deserializer": true, "value.deserializer": true, "exclude.internal.topics": true,
	"interceptor.classes": true, "metric.reporters": true, keyRemote: false, "internal.leave.group.on.close": true,
}

// rdkafkaOnly are settings of librdkafka that the Java client ignores.
var rdkafkaOnly = map[string]bool{
	keySocket: true, "topic.metadata.refresh.interval.ms": true, "enable.auto.offset.store": true, "queued.min.messages": true,
	"queued.max.messages.kbytes": true, "group.protocol.type": true, "coordinator.query.interval.ms": true, "statistics.interval.ms": true,
	"enable.partition.eof": true, "debug": true, "fetch.error.backoff.ms": true, "socket.keepalive.enable": true,
	"broker.version.fallback": true, "api.version.request": true, "log.connection.close": true,
}

var _ = register(Rule{
	ID: "KGD506", Name: "key-not-of-client", Severity: Error, Since: "v0.1.0", Scope: PerFile,
	Needs: []inspect.Fact{inspect.FactClientConfig},
	Doc: Doc{
		Summary: "A setting belongs to another client library, or to a later version of this one.",
		Why: "Client libraries share many names, but not all. librdkafka refuses to start with a key that it does not know (max.poll.records is one: it hands out " +
			"records one at a time); the Java client ignores such keys, so that the default counts.",
		Fix:   "Delete the key, or use what this client has for it.",
		Price: "none: the setting has no effect now",
		Refs:  []string{"librdkafka CONFIGURATION.md", "ConsumerConfig"},
	},
	Check: func(s *Subject, report func(Finding)) {
		for _, set := range s.Config.Settings {
			sev, why := s.foreign(set)
			if why == "" {
				continue
			}
			where := set.Where
			f := s.Finding(sev, fmt.Sprintf("%s %s", set.Spelled, why), Value{Where: &where})
			if s.Assumed {
				f.Confidence = inspect.Medium
				f.Evidence = append(f.Evidence, "taken for "+s.client()+"; name yours with --client NAME@VERSION")
			}
			f.Fix = &Fix{Delete: []string{set.Key}}
			report(f)
		}
	},
})

// foreign says why a setting is not this client's; "" where it is.
func (s *Subject) foreign(set inspect.Setting) (Severity, string) {
	if set.Origin == inspect.OriginDefault {
		return Info, ""
	}
	switch s.Family {
	case inspect.Librdkafka:
		switch {
		case set.Key == keyPoll && s.before("1.0"):
			return Error, fmt.Sprintf("exists from librdkafka 1.0 on: %s refuses to start", s.Version)
		case set.Key == keyRecords && s.Version != "" && atLeast(s.Version, "2.16"):
			return Info, ""
		case set.Key == keyFetchWait && strings.HasPrefix(set.Spelled, "fetch.max"):
			return Error, "is Java's name: librdkafka calls it fetch.wait.max.ms and refuses to start"
		case javaOnly[set.Key]:
			return Error, "is no setting of librdkafka, which refuses to start"
		}
	case inspect.Java, inspect.StreamsLib:
		switch {
		case set.Key == keyPoll && s.before("0.10.1"):
			return Warning, fmt.Sprintf("exists from Java 0.10.1 on: in %s the session timeout bounds the work", s.Version)
		case rdkafkaOnly[set.Key]:
			return Warning, "is a setting of librdkafka, the Java client ignores it"
		case set.Key == keyFetchWait && strings.HasPrefix(set.Spelled, "fetch.wait"):
			return Warning, "is librdkafka's name, the Java client ignores it: fetch.max.wait.ms"
		}
	}
	return Info, ""
}
