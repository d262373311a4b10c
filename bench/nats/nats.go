// Package nats is a module of its own, so that the server which fan-out is
// measured against is no dependency of hookd:
//
//	go build github.com/nats-io/nats-server/v2
package nats

import _ "github.com/nats-io/nats-server/v2/server"
