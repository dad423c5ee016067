package judge

// The words around the tables of docs/accuracy.md, which TestDepartures writes.
const (
	accuracyHead = `# How far the causes can be trusted

Written by ` + "`go test ./inspect/judge -run TestDepartures -update`" + `; the test fails when a change of the code changes a number.

A departed member leaves a silence: the time between its last commit and its departure. The timeline compares it with the
windows that the member's protocol, client family and timeouts allow (a close, the session, the poll interval, both of them
one after the other), takes into account how it commits, whether records waited, when the survivors poll, and as what it
came back, and says

* **high** only where exactly one cause fits, at least eight commits show the cadence, the departure is exact or bounded by
  what was seen, records waited in the silence, and the return agrees, or the way of the client leaves nothing else (below);
* **medium** where one cause fits, but one of these is missing;
* **low** where several fit: they are all named.

## What makes a verdict sure without a return

A close after draining for as long as a timeout, and a restart, look like an eviction. Each of these rules that out by what the client does, not by
how likely it is. How many verdicts each turned to high, of the 275 departures of the fourth to seventh hold-out that records can decide, with what polls
saw (100 were high before, 153 are now, none wrong; the fourth and fifth, on which the rules were chosen: 67 of 193 before, 105 now; the sixth and seventh,
on which they were checked then: 33 of 82, now 48):

* Kafka Streams and static members send no LeaveGroup as they close: they leave by the end of their session alone (10 of Streams; static ones are
  among the 7 of other clients that did not come back, with those that commit again and again what they have committed, and so as they close).
* KafkaJS heartbeats between the records that it works, and where there are none: with records waiting it is out after a session, before it can close (14).
* A client with a sticky assignor, and franz-go with any, sends with its JoinGroup the generation that it was last part of, also under a new member id; a new
  process has none. So a classic member can be seen to be the same process (6), which inference from commits alone could not.
* Who worked a record has polled since that came. The leaders are asked where the partition ended nine tenths of a poll interval before the member was out:
  had it committed behind that, it did not overrun, and a close is a close. The same holds for clients without a poll check, and within a poll interval of a join (16).

`
	accuracyHoldout = `
## Advice on public files

1,634 files of 19 public repositories that name a consumer's settings (examples, samples, charts, programs, the libraries' own sources) were given to
` + "`advise -f`" + ` without a log, at a3bd0cb with the kinds of Spark and of librdkafka 1.6 mended. 677 were read, 957 named as not recognised; whether each of these
rightly was not looked at. Outside of tests 35 files earned 42 warnings and errors, and each was read against its text: 10 were right, 32 wrong, most of them in the
libraries' own sources and examples, where a comment, a function's neighbour or a callback's name was taken for what the program does. After the kinds were mended 16
are left, on the same files: the same 10, and 6 wrong ones.

## Hold-outs

` + "`scripts/record-departures`" + ` records groups of which one member had a fault: every client with every fault that it can suffer, and by
chance all else: two to four members, one to eight partitions, 1 to 40 records a second or none, four assignors, static members,
auto-commit intervals, commits per poll, per record or none, time per poll and per record, peers that need 9 s a poll, SIGTERM with
and without a restart, closes after draining, batches whose records are committed one by one. The truth is what was done, where the
coordinator's log agrees. A hold-out is scored before anything is changed for it; afterwards it tunes, and its later rows flatter.

*Right*: the cause is the truth (a static member that came back within its session is ` + "`static_member_restarted`" + `). *Hedged*: the
truth is among the rivals that nothing speaks against. *Unknown*: the tool says that it does not know. *Unreachable* groups are those
whose records do not contain the truth; there *hedged* or *unknown* is right.

Over the five hold-outs, 470 departures as they were when nothing had been changed for them, 85 verdicts by records alone had high
confidence and none of them was wrong, which bounds the share of wrong ones at 3.5 % (95 % confidence); of 188 further verdicts with
medium confidence that were right or wrong, 6 were wrong. With what polls saw, which the last two hold, 1 of 78 with high confidence was wrong. In the sixth to
ninth, 304 more, 65 by records alone had high confidence and none was wrong; with what polls saw 1 of 132, which is described under the eighth.
`
	accuracyHidden = `
## Clusters that hide the offsets topic

Where ` + "`__consumer_offsets`" + ` may not be read, ` + "`watch`, `record --for` and `why --for`" + ` poll the committed offsets every 250 ms: two answers
that differ are a commit in between. Timeouts are not read there: they come from ` + "`-f`, `--set`" + ` or the client's defaults, are named in the
evidence, and no verdict that leans on such commits is surer than medium. The groups are those of the hold-outs of which polls were
kept, as if they had been watched since their members came; their records were taken away and their commits seen by such polls.
The polls of that laboratory often failed for two seconds and more, as it was busy: where they did in the silence, no cause is surer than low.

On a real broker (Kafka 4.1.1) whose ACLs hide the topic, ` + "`" + `TestHiddenCauses` + "`" + ` does 43 faults, eight groups at a time, with librdkafka, Java and
franz-go, classic and KIP-848. On 30 November 2026, in the evening, on two cores under a load of 40 to 70, no verdict was wrong. The 43rd group could
not be watched: its TLS handshake took longer than five seconds. In the morning, with the code of that time, ` + "`" + `watch` + "`" + ` was right 36 times, hedged 3,
unknown 4, ` + "`" + `record --for` + "`" + ` right 38, hedged 1, unknown 4. Where records stand idle nobody's silence says anything: unknown.

| fault | groups | ` + "`" + `watch` + "`" + ` | ` + "`" + `record --for` + "`" + ` | ` + "`" + `why --for` + "`" + ` | the clients' defaults assumed |
|---|---|---|---|---|---|
| SIGKILL | 5 | 5 right | 5 right | 5 right | 1 hedged, 4 unknown |
| SIGKILL, idle topic | 2 | 2 unknown | 2 unknown | 2 unknown | 2 unknown |
| SIGKILL, restarted after 3 s | 4 | 4 right | 4 right | 4 right | 1 right, 3 unknown |
| SIGKILL, slow peer | 2 | 2 right | 2 right | 2 right | 2 unknown |
| SIGSTOP for two sessions | 5 | 5 right | 5 right | 5 right | 5 unknown |
| clean close | 5 | 5 right | 5 right | 5 right | 5 right |
| clean close, idle topic | 1 | 1 unknown | 1 unknown | 1 unknown | 1 unknown |
| clean close, slow peer | 2 | 2 right | 2 right | 2 right | 2 right |
| commits per record in a slow batch | 2 | 1 right, 1 hedged | 2 hedged | 2 hedged | 1 right, 1 hedged |
| duplicate instance id | 5 | 5 right | 5 right | 5 right | 5 right |
| poll overrun | 4 | 4 right | 4 right | 4 right | 4 unknown |
| rolling restart of 4 | 5 | 5 right | 5 right | 5 right | 5 right |
| all | 42 | 38 right, 1 hedged, 3 unknown | 37 right, 2 hedged, 3 unknown | 37 right, 2 hedged, 3 unknown | 19 right, 2 hedged, 21 unknown |

A topic that the user may not describe is left out of those polls without a word. What a member of such a topic last committed is then not known,
no cause is named for its silence, and a Gap names the permission (` + "`" + `TestTopicWithoutDescribe` + "`" + `, on a real broker).

`
	accuracyLabelled = `
## Labelled departures

These tuned the procedure first. 146 consumer groups on Apache Kafka 4.1.1 of two members each, one of which had a fault injected:
clients kafka-clients 4.1.1, librdkafka 2.16.0, kafka-python 3.0.12, aiokafka 0.14.0; session 6 s, poll interval 15 s. The records
alone were given: no live view, no logs, the client family unknown. ` + "`testdata/departures.golden`" + ` has every verdict.

`
	accuracyLabelledAfter = `
Five groups show no member before the fault: their earlier records are missing. Those with little or nothing committed (an
idle topic read by librdkafka or with manual commits) stay unknown: no record separates a crash from a close there.
`
	accuracyStability = `
## Whether verdicts waver

` + "`go test ./inspect/watch -run TestVerdictsDoNotWaver`" + ` lets ` + "`watch`" + ` see the groups of the fourth to ninth hold-out, records and polls in the
order of their times, with its own questions to the leaders answered as they would have been, and compares what it reports. *Became another cause*: a cause was reported with medium or high confidence, and later another
one or unknown. *Late*: the first verdict came more than 20 s after the departure (19 of 434 before there was a word "so far"). Where the rebalance itself
lasts that long (a peer that polls slowly holds the join, a static KIP-848 member is gone a session after it said that it goes), ` + "`watch`" + ` tells after 14 s
what it would say if the rebalance were over ("so far", never of high confidence), and judges again when it is: at the
latest 16 s after the record that ends it, which the test holds. ` + "`inspect/watch/testdata/stability.golden`" + ` has every one.
The last cause is compared with what ` + "`history`" + ` says of the case that the watch keeps, and with what it says of the log alone, where both are of medium confidence
or above: polls bound a departure better than the log does.

The first two rows are of the fourth hold-out alone. What was changed between the second and the third was found on that one; of the fifth, which
was not looked at for it, 1 of 91 became another cause (a close became a part of a deploy), 1 of 79 of the sixth and seventh, and 1 of 92 of the
ninth, which came later. Three of the four that turned since are first overruns inside a batch, told as a close until the same process came back.

| | groups | with a verdict | medium or above, once | of these became another cause | late | last cause is not that of its case | not that of the log | wrong at the end, medium or above |
|---|---|---|---|---|---|---|---|---|
| before | 135 | 131 | 96 | 12 | 11 | - | - | 1 |
| now, fourth alone | 135 | 131 | 96 | 0 | 11 | 0 | 3 | 3 |
`
	accuracyLoop = `
## What is said, done: the loop closed

` + "`TestClosedLoop`" + ` (internal/realtest, the long form) gives a member of a real group a load that makes it leave or be evicted in each of four rounds, sets what ` + "`why`" + `
says for that group, and lets the same load come again in a new one. Who went is counted in the coordinator's log. Kafka 4.1.1, session 6 s, poll
interval 15 s, on a machine under a load of 20 to 37.

| load | client | went before | ` + "`why`" + ` says | went after |
|---|---|---|---|---|
| a poll's work takes 20 s | java classic, commits sync | 4 | poll_interval_exceeded (medium): ` + "`" + `max.poll.interval.ms=300000` + "`" + ` | 0 |
| a poll's work takes 20 s | librdkafka classic, commits auto | 4 | poll_interval_exceeded (medium): ` + "`" + `max.poll.interval.ms=300000` + "`" + ` | 0 |
| a poll's work takes 20 s | librdkafka classic, commits sync | 4 | poll_interval_exceeded (medium): ` + "`" + `max.poll.interval.ms=300000` + "`" + ` | 0 |
| a poll's work takes 20 s | librdkafka consumer, commits sync | 4 | poll_interval_exceeded (high): ` + "`" + `max.poll.interval.ms=300000` + "`" + ` | 0 |
| an event loop that blocks for 10 s | aiokafka classic, commits sync | 4 | session_expired (medium): ` + "`" + `session.timeout.ms=20000` + "`" + ` | 0 |
| an event loop that blocks for 10 s | kafkajs classic, commits auto | 4 | session_expired (high): ` + "`" + `session.timeout.ms=30000` + "`" + ` | 0 |
| an overrun now and then | java classic, commits sync | 4 | poll_interval_exceeded (high): ` + "`" + `max.poll.interval.ms=300000` + "`" + ` | 0 |
| an overrun now and then | java consumer, commits sync | 4 | poll_interval_exceeded (high): ` + "`" + `max.poll.interval.ms=300000` + "`" + ` | 0 |
| an overrun now and then | librdkafka classic, commits sync | 4 | poll_interval_exceeded (high): ` + "`" + `max.poll.interval.ms=300000` + "`" + ` | 0 |
| pauses of 10 s | aiokafka classic, commits sync | 4 | session_expired (medium): ` + "`" + `session.timeout.ms=20000` + "`" + ` | 0 |
| pauses of 10 s | franz-go classic, commits sync | 4 | session_expired (high): ` + "`" + `max.poll.interval.ms=300000` + "`" + `, ` + "`" + `session.timeout.ms=45000` + "`" + ` | 0 |
| pauses of 10 s | java classic, commits sync | 4 | session_expired (high): ` + "`" + `max.poll.interval.ms=300000` + "`" + `, ` + "`" + `session.timeout.ms=45000` + "`" + ` | 0 |
| pauses of 10 s | java consumer, commits sync | 4 | session_expired (high): ` + "`" + `consumer.session.timeout.ms=15000` + "`" + ` | 0 |
| pauses of 10 s | kafkajs classic, commits auto | 4 | session_expired (high): ` + "`" + `session.timeout.ms=30000` + "`" + ` | 0 |
| pauses of 10 s | librdkafka classic, commits sync | 4 | session_expired (medium): ` + "`" + `max.poll.interval.ms=300000` + "`" + `, ` + "`" + `session.timeout.ms=45000` + "`" + ` | 0 |
| pauses of 10 s | librdkafka consumer, commits sync | 4 | session_expired (high): ` + "`" + `consumer.session.timeout.ms=15000` + "`" + ` | 0 |
| pauses of 10 s | sarama classic, commits auto | 4 | session_expired (medium): ` + "`" + `max.poll.interval.ms=300000` + "`" + `, ` + "`" + `session.timeout.ms=45000` + "`" + ` | 0 |
| a crash for good | java consumer, commits sync | 1 | session_expired (medium): no number | - |
| a crash for good | librdkafka classic, commits sync | 1 | session_expired (medium): ` + "`" + `max.poll.interval.ms=300000` + "`" + `, ` + "`" + `session.timeout.ms=45000` + "`" + ` | 1 |
| a crash, and started again after 4 s | aiokafka classic, commits sync | 4 | restarted_within_session (medium): no number | - |
| a crash, and started again after 4 s | franz-go classic, commits sync | 4 | restarted_within_session (medium): no number | - |
| a crash, and started again after 4 s | java classic, commits sync | 4 | restarted_within_session (medium): no number | - |
| a crash, and started again after 4 s | librdkafka classic, commits sync | 4 | restarted_within_session (medium): no number | - |
| a crash, and started again after 4 s | sarama classic, commits auto | 4 | restarted_within_session (medium): no number | - |
| a poll's work takes 20 s | java classic, commits auto | 4 | poll_interval_exceeded (medium): no number | - |
| a poll's work takes 20 s | java consumer, commits sync | 4 | unknown (low): no number | - |

Of the 17 groups with a number **all 68 evictions are gone**. One that crashed for good stays away, whatever is set: the two settings beside it are those of
an unrelated finding. Where an overrun leaves no measure of what a batch needs (Java with automatic commits) the cause is named without a number, and a
KIP-848 member that is always late ended in unknown.
A crash and its restart within the session: ` + "`why`" + ` names no number there, it says to close the consumer on shutdown or to use static membership.
`
	accuracyPerturbed = `
## The labelled groups, changed

Nothing below changes the truth, so nothing may turn a verdict into a wrong one with high confidence: the test fails if it does.

`
	accuracySimulated = `
## Simulated groups

The laboratory held much fixed. A simulator, which is no measurement of a broker, varies timeouts, number of members, cadence
and kind of commits, time per poll of everybody, burstiness of the topic and the delay of a restart. A drained close stops
working for up to one and a half poll intervals before it leaves. 3,000 seeds were tried with no verdict wrong at high
confidence; the table holds the 200 that every test run simulates.

`
	accuracyTail = `
## What no record can separate

1. In classic groups: a pause longer than the session, a crash under a supervisor, a cut network, a blocked event loop. They are
   ` + "`session_expired`" + ` with ` + "`returned: unknown`" + `. KIP-848 separates them by the member id, a sticky assignor (franz-go: any) by the
   generation that the client remembers.
2. A clean stop and a crash of a static member, or of a client that sends no LeaveGroup (Kafka Streams).
3. A first overrun inside a batch whose records are committed one by one, and a close followed by a restart. From the second
   overrun on the tenure decides: each time the member leaves as long after it joined as its poll interval is.
4. An overrun or an expiry without a return, and a close after draining for as long.
5. A crash and an overrun where session and poll interval lie closer together than the commits do.
6. Anything where nothing is committed, or across a change of the coordinator.
7. Who came back, where members share client id and host.

Watching live (` + "`kgdiag watch`" + `, every 250 ms) or reading logs (` + "`--log`" + `) settles most of these.
`
)

// heldOut is a file of departures that did not tune the procedure when it was new, and
// what is known of that time.
type heldOut struct {
	file, text, before string
	seen               bool // it also holds what polls saw and where partitions ended
	wrong, wrongHidden int  // verdicts that are known to be wrong with medium confidence; where the topic is hidden
}

// holdouts are the hold-outs: the latest, then the others in the order of their time.
var holdouts = []heldOut{
	{file: "departures-holdout-9", seen: true, text: `
### Ninth hold-out: the clients' own timeouts on Kafka 4.4.0, after what the eighth showed was mended

122 groups of ten clients (seed 20261501, 145 planned; 12 never came to rest, as the broker was starved for some minutes, 11 are left out by their labels),
at the clients' own timeouts, recorded on two cores under a load of 7 to 40 and scored with the code of commit a3bd0cb, **before anything was changed for it**;
nothing has been since. The rows *c82dac6* are of the code before what makes a verdict sure.

**No verdict was wrong, at any confidence.** Of the 93 departures that records can decide 60 were right at high with what polls saw (65 %, asked: half; c82dac6: 34),
24 at medium, 5 at low, and 4 hedged or unknown (4 %, asked: below a tenth). ` + "`watch`" + `, which a later commit made say causes "so far", had a first
verdict within 20 s of each of 114 departures.

`, before: `| c82dac6, records alone: all 122 | 22 | 64 | 10 | 0 | 3 | 2 | 21 | 0 | 0 | 0 |
| c82dac6, with the client library: all 122 | 22 | 65 | 9 | 0 | 3 | 2 | 21 | 0 | 0 | 0 |
| c82dac6, and where partitions ended: all 122 | 25 | 63 | 11 | 0 | 3 | 2 | 18 | 0 | 0 | 0 |
| c82dac6, and what polls saw: all 122 | 35 | 56 | 8 | 0 | 2 | 2 | 19 | 0 | 0 | 0 |
| c82dac6, decided by records | 22 | 57 | 6 | 0 | 0 | 1 | 7 | 0 | 0 | 0 |
| c82dac6, decided by records, and what polls saw | 34 | 48 | 6 | 0 | 0 | 1 | 4 | 0 | 0 | 0 |
| before, records alone: all 122 | 33 | 53 | 10 | 0 | 3 | 2 | 21 | 0 | 0 | 0 |
| before, with the client library: all 122 | 34 | 54 | 9 | 0 | 3 | 1 | 21 | 0 | 0 | 0 |
| before, and where partitions ended: all 122 | 44 | 45 | 11 | 0 | 3 | 1 | 18 | 0 | 0 | 0 |
| before, and what polls saw: all 122 | 62 | 31 | 8 | 0 | 2 | 1 | 18 | 0 | 0 | 0 |
| before, decided by records | 33 | 47 | 5 | 0 | 0 | 1 | 7 | 0 | 0 | 0 |
| before, decided by records, and what polls saw | 60 | 24 | 5 | 0 | 0 | 1 | 3 | 0 | 0 | 0 |
`},
	{file: "departures-holdout-8", seen: true, text: `
### Eighth hold-out: after what makes a verdict sure was changed

64 groups of ten clients (seed 20261401 on Kafka 4.1.1, timeouts as people set them, 72 planned; seed 20261402 on 4.4.0, the clients' own timeouts, 40
planned), recorded on two cores under a load of 30 to 80: 48 groups never came to rest or met a stalled coordinator, and were left out when they were recorded. Scored with the code of commit
8ef4514, **before anything was changed for it** (the rows *before*); the rows *c82dac6* are what the code before the rules above said.

Of the 42 departures that records can decide 23 were right at high with what polls saw (55 %; c82dac6: 16), 14 at medium, 1 at low, 3 were hedged or unknown (7 %).
**One of 28 with high confidence was wrong**, which c82dac6 had said, wrong as well, with medium: a Streams thread with a session and a poll interval of 30 s and commits every
30 s overran, and its last heartbeat had come 10 s before its poll interval ended, not 3 s: a classic client's heartbeat interval is on no record. That kind is mended: the window of an overrun that
ends with the session begins a third of the session earlier, which leaves such a silence open between the two. None of 17 with medium was wrong.

`, before: `| c82dac6, records alone: all 64 | 10 | 25 | 11 | 0 | 2 | 2 | 14 | 0 | 0 | 0 |
| c82dac6, with the client library: all 64 | 10 | 24 | 12 | 0 | 2 | 2 | 14 | 0 | 0 | 0 |
| c82dac6, and where partitions ended: all 64 | 10 | 24 | 12 | 0 | 2 | 2 | 14 | 0 | 0 | 0 |
| c82dac6, and what polls saw: all 64 | 18 | 24 | 6 | 0 | 0 | 1 | 14 | 0 | 1 | 0 |
| c82dac6, decided by records | 9 | 21 | 6 | 0 | 2 | 2 | 2 | 0 | 0 | 0 |
| c82dac6, decided by records, and what polls saw | 16 | 20 | 2 | 0 | 0 | 1 | 2 | 0 | 1 | 0 |
| before, records alone: all 64 | 12 | 23 | 11 | 0 | 2 | 2 | 14 | 0 | 0 | 0 |
| before, with the client library: all 64 | 12 | 24 | 11 | 0 | 1 | 2 | 14 | 0 | 0 | 0 |
| before, and where partitions ended: all 64 | 14 | 23 | 10 | 0 | 1 | 2 | 14 | 0 | 0 | 0 |
| before, and what polls saw: all 64 | 27 | 17 | 4 | 0 | 0 | 1 | 14 | 1 | 0 | 0 |
| before, decided by records | 10 | 20 | 6 | 0 | 2 | 2 | 2 | 0 | 0 | 0 |
| before, decided by records, and what polls saw | 23 | 14 | 1 | 0 | 0 | 1 | 2 | 1 | 0 | 0 |
`},
	{file: "departures-holdout-7", seen: true, text: `
### Seventh hold-out: the same plan on Kafka 4.4.0, after the sixth was mended

57 groups of ten clients (seed 20261302, 60 planned), recorded on a machine under a load of 20 to 37 and scored with the code of commit 7933066,
**before anything was changed for it**; nothing has been since. The rows *first code* are the verdicts of commit 33e5e8f.

With what polls saw 21 of 21 with high confidence were right and 21 of 21 with medium that were right or wrong. Of the 41 departures that records can
decide 17 were right at high, 19 at medium, 2 at low, 2 were hedged, none was unknown, one was wrong at low confidence (two evictions taken for a
rolling restart, which the first code said with medium). Asked were: high never wrong (met) and for half of these (**missed**: 41 %), medium right
in 97 % (met), hedged or unknown below 10 % (met: 5 %).

`, before: `| first code, records alone: all 57 | 9 | 29 | 7 | 0 | 3 | 0 | 8 | 0 | 1 | 0 |
| first code, and what polls saw: all 57 | 21 | 21 | 3 | 0 | 2 | 1 | 8 | 0 | 1 | 0 |
| before, records alone: all 57 | 9 | 29 | 7 | 0 | 3 | 0 | 8 | 0 | 0 | 1 |
| before, with the client library: all 57 | 9 | 29 | 8 | 0 | 2 | 0 | 8 | 0 | 0 | 1 |
| before, and where partitions ended: all 57 | 10 | 28 | 8 | 0 | 2 | 0 | 8 | 0 | 0 | 1 |
| before, and what polls saw: all 57 | 21 | 21 | 3 | 0 | 2 | 1 | 8 | 0 | 0 | 1 |
| before, decided by records | 6 | 27 | 6 | 0 | 1 | 0 | 0 | 0 | 0 | 1 |
| before, decided by records, and what polls saw | 17 | 19 | 2 | 0 | 1 | 1 | 0 | 0 | 0 | 1 |
`},
	{file: "departures-holdout-6", seen: true, text: `
### Sixth hold-out: timeouts as people set them, later the same day

61 groups of ten clients (seed 20261301, 64 planned) on Kafka 4.1.1, recorded and scored after the rules of the fifth had been changed as said
above, on two cores under a load of 25 to 38: the clients were starved as well, which the coordinator's log labels.

The rows *first code* are the verdicts of commit 33e5e8f, those *before* what commit 5539601 said **before anything was changed for it**. With what polls
saw 21 of 21 with high confidence were right; of the 41 that records can decide 16 were right at high, 15 at medium, 3 at low, 6 were hedged or
unknown, one was wrong at medium: asked were half at high and less than a tenth hedged or unknown. Three kinds were mended then: what is committed with
the work comes up to a batch after its poll (an overrun of 75 s that showed 54 s after the last commit was called a session of 45 s, and one of
20 s that showed after 19.8 s nothing at all), and where no member of before stayed nothing bounds the join (a
medium verdict is now low), and two evictions are no deploy. A silence that exceeds the poll interval by less than a tenth keeps the overrun as a rival.

`, before: `| first code, records alone: all 61 | 11 | 18 | 9 | 0 | 2 | 6 | 14 | 0 | 1 | 0 |
| first code, and what polls saw: all 61 | 21 | 15 | 4 | 0 | 1 | 5 | 14 | 0 | 1 | 0 |
| before, records alone: all 61 | 11 | 19 | 9 | 0 | 2 | 6 | 13 | 0 | 1 | 0 |
| before, with the client library: all 61 | 11 | 19 | 9 | 0 | 2 | 6 | 13 | 0 | 1 | 0 |
| before, and where partitions ended: all 61 | 11 | 19 | 9 | 0 | 2 | 6 | 13 | 0 | 1 | 0 |
| before, and what polls saw: all 61 | 21 | 15 | 4 | 0 | 1 | 5 | 14 | 0 | 1 | 0 |
| before, decided by records | 7 | 19 | 7 | 0 | 1 | 4 | 2 | 0 | 1 | 0 |
| before, decided by records, and what polls saw | 16 | 15 | 3 | 0 | 0 | 3 | 3 | 0 | 1 | 0 |
`},
	{file: "departures-holdout-5", seen: true, wrongHidden: 2, text: `
### Fifth hold-out: timeouts as people set them, 30 November 2026

134 groups of ten clients (seeds 20261208 to 20261211) on Kafka 3.9.1, 4.1.1 and 4.4.0: 17 at the clients' own timeouts, 81 with sessions
of 20 to 60 s and poll intervals of 40 to 300 s, 36 with short ones. The rules by which groups are left out or labelled were those of
the fourth, fixed before this one was scored; 43 of 178 were left out when they were recorded, on two cores that others used heavily.

The rows *first code* are the verdicts of the code before this round (commit 81bb4f0, which judges as 7fa05d1 did), those *before* what commit
461244a said **before anything was changed for it**. Of the 93 that records can decide, 64 were right at medium or high, none was wrong, 15
were hedged or unknown; where the leaders answered whether records waited, 30 of all 134 were unknown instead of 34.
With what polls saw **one verdict of 40 with high confidence was wrong**: every member of a KafkaJS group had lost a coordinator that
was paused and had rejoined under a new id, which was taken for a restart within the session. That kind is fixed: what happens
to all members at once is no restart of one process. The wrong verdict of medium confidence, two of four aiokafka members that left within
24 s, one of them closed and restarted, called a rolling restart, was left as it was until the sixth hold-out showed the kind again: two
evictions, which two faults explain as well, are now a rolling restart of low confidence.

`, before: `| first code, records alone: all 134 | 15 | 57 | 17 | 0 | 3 | 4 | 37 | 0 | 1 | 0 |
| first code, and what polls saw: all 134 | 37 | 48 | 9 | 0 | 1 | 3 | 34 | 1 | 1 | 0 |
| before, records alone: all 134 | 15 | 60 | 17 | 0 | 3 | 4 | 34 | 0 | 1 | 0 |
| before, with the client library: all 134 | 15 | 59 | 18 | 0 | 3 | 4 | 34 | 0 | 1 | 0 |
| before, and where partitions ended: all 134 | 15 | 63 | 18 | 0 | 3 | 4 | 30 | 0 | 1 | 0 |
| before, and what polls saw: all 134 | 39 | 52 | 9 | 0 | 1 | 3 | 28 | 1 | 1 | 0 |
| before, decided by records | 13 | 51 | 14 | 0 | 2 | 2 | 11 | 0 | 0 | 0 |
`},
	{file: "departures-holdout-4", seen: true, text: `
### Fourth hold-out: the clients' own timeouts, 30 November 2026

137 groups of ten clients (seeds 20261204 to 20261207) on Kafka 3.9.1, 4.1.1 and 4.4.0, each at its own timeouts: a session of 45 s
and a poll interval of 300 s in Java, Spring, Streams, librdkafka and kafka-python, a session of 10 s in aiokafka and Sarama, 30 s
in KafkaJS; fresh records nearly all the time, consumers busy for up to nine tenths of it. Recorded on two cores that others used
too. Besides the records, the file holds what polls every 250 ms saw and where partitions ended. Of 182 groups 31 were left out when
they were recorded (not at rest in time, or a coordinator's log that does not agree), 11 of kafka-python and KafkaJS because the
laboratory had produced batches that they cannot read, and 3 because the coordinator was paused. That, and the label of four
restarts on 3.9.1, which logs no join (polls show it), was found by looking at verdicts that disagreed, and the rule was then
applied to all groups. A first scoring, before the coordinator's stalls and the four labels, had 30 right at high, 49 at medium, 12 at
low, 12 hedged, 37 unknown and none wrong of 140.

The rows marked *before* are what the code said **before anything was changed for it**: of the 100 that records can decide, 72 were right
at medium or high, none was wrong, 20 were hedged or unknown.

`, before: `| before, records alone: all 137 | 30 | 50 | 13 | 0 | 2 | 6 | 36 | 0 | 0 | 0 |
| before, with the client library: all 137 | 30 | 50 | 13 | 0 | 2 | 6 | 36 | 0 | 0 | 0 |
| before, and what polls saw: all 137 | 38 | 48 | 5 | 0 | 0 | 5 | 41 | 0 | 0 | 0 |
| before, decided by records | 26 | 46 | 8 | 0 | 1 | 3 | 16 | 0 | 0 | 0 |
| before, unreachable: a close after draining looks like an overrun or an expiry of the same length | 4 | 3 | 2 | 0 | 1 | 0 | 5 | 0 | 0 | 0 |
| before, unreachable: a first overrun inside a batch looks like a close and a return | 0 | 1 | 0 | 0 | 0 | 3 | 0 | 0 | 0 | 0 |
| before, unreachable: it held no partitions | 0 | 0 | 1 | 0 | 0 | 0 | 9 | 0 | 0 | 0 |
| before, unreachable: nothing is committed on an idle topic | 0 | 0 | 2 | 0 | 0 | 0 | 6 | 0 | 0 | 0 |
`},
	{file: "departures-holdout-1", text: `
### First hold-out, 30 November 2026

110 groups (seed 20261130), recorded on two busy cores. The first two rows are what the code said **before anything was changed for
it**: 60 of 110 right at medium or high, none wrong at high, two at medium. Those were a rolling restart that was none (one member
that left again and again counted as several) and an expiry where session and poll interval are equal, so that nothing separates
them. Changed copies of these groups showed two more faults, verdicts that became wrong at high confidence: a close after
draining for just as long as a session, and a batch worked record by record whose commits were thinned. All four kinds are
fixed in general, so this file is no longer a hold-out: the later rows flatter.

`, before: `| before, records alone: all 110 | 23 | 37 | 16 | 0 | 5 | 4 | 23 | 0 | 2 | 0 |
| before, with the client library: all 110 | 23 | 38 | 15 | 0 | 5 | 4 | 23 | 0 | 2 | 0 |
`},
	{file: "departures-holdout-2", text: `
### Second hold-out, 30 November 2026

46 groups (seed 20261201), scored once after what the first had taught, and before anything else was changed. The machine was
paused for half a minute in the middle, so that the sessions of whole groups expired at once: a disturbed hold-out. None was wrong at
high, two at medium, both a rolling restart that was none: members evicted at once, and members that came back as the process that
they had been, no longer count as a deploy. (A forty-seventh group is left out: its label was wrong, because the pause
evicted the member before its overrun could.)

`, before: `| before, records alone: all 46 | 7 | 18 | 4 | 0 | 3 | 3 | 9 | 0 | 2 | 0 |
| before, with the client library: all 46 | 7 | 17 | 5 | 0 | 3 | 3 | 9 | 0 | 2 | 0 |
`},
	{file: "departures-holdout-3", text: `
### Third hold-out, 30 November 2026

43 groups (seed 20261202), scored once with the code that the first two had led to. None was wrong at high; one at medium (a crash
while the whole broker was paused, taken for an overrun: a silence that all members share no longer counts as one member's), one at low
(an expiry without a return did not name the close after draining among several rivals; now it does).

`, before: `| before, records alone: all 43 | 10 | 17 | 3 | 0 | 0 | 3 | 8 | 0 | 1 | 1 |
| before, with the client library: all 43 | 10 | 17 | 3 | 0 | 0 | 3 | 8 | 0 | 1 | 1 |
`},
}
