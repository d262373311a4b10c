// Package store measures internal/record/store: how fast events are accepted, durable
// and not, against a bare log with the same group commit and against one
// INSERT a transaction, and how a year of history answers.
//
//	go test -bench . ./store
//	go test -run Year -v -timeout 1h ./store -year 5000000
//
// It promises nothing: it prints the figures of this machine, and fails only where an
// answer is wrong.
package store
