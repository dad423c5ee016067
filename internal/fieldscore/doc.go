// Package fieldscore holds `kgdiag advise` to reports from public issue trackers: the
// files that the reporter had, the command that a user would type, and the cause that
// the thread accepted, written down before kgdiag was run on it.
//
// Everything is in tests. A batch is a folder under testdata with one folder a report
// and an expected.json (its format: format_test.go). TestReports fails where a report
// scores worse than in the batch's golden, or misleads and did not before; a better
// score passes, and `-update` writes it down, with the tables of docs/accuracy.md.
//
// The package refuses to know a rule's id or wording: what is asked for are keys,
// Kafka's terms and numbers, so that a better worded right answer passes.
package fieldscore
