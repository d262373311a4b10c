package hooktest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
)

// given has the ports of earlier calls of FreePort.
var given sync.Map

// The ports of servers lie below the ports that systems give to clients: a client of another test
// could take a port between FreePort and the start of its server.
const firstPort, ports = 12_000, 20_000

// FreePort returns a free port of loopback, another one at each call. It fails the test when it finds none.
func FreePort(t testing.TB) int {
	t.Helper()
	for range 1000 {
		port := firstPort + rand.N(ports)
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			continue
		}
		l.Close()
		if _, twice := given.LoadOrStore(port, true); !twice {
			return port
		}
	}
	t.Fatal("no port is free")
	return 0
}
