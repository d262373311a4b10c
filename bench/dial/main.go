// Command dial is the program that hookd-bridge is measured against: it dials the
// socket SOCKET, writes LINE, reads one line of answer, prints it and ends.
//
//	dial SOCKET LINE
package main

import (
	"net"
	"os"
)

func main() {
	c, err := net.Dial("unix", os.Args[1])
	if err != nil {
		os.Exit(1)
	}
	if _, err := c.Write([]byte(os.Args[2])); err != nil {
		os.Exit(1)
	}
	answer := make([]byte, 4096)
	n, err := c.Read(answer)
	if err != nil {
		os.Exit(1)
	}
	os.Stdout.Write(answer[:n])
}
