package main

import (
	"bufio"
	"os/exec"
	"path/filepath"
)

const lineBytes = 266

// noMatch is an event that no hook matches.
func noMatch(size int) []byte {
	return line("bench:none", `"session_id":"s1","cwd":"/tmp",`, "", size)
}

// listening starts a child of this name that listens on a socket.
func (b *bench) listening(name string) (socket string, stop func(), err error) {
	socket = filepath.Join(b.dir, name+".sock")
	path, args, err := self(name, socket)
	if err != nil {
		return "", nil, err
	}
	cmd := exec.Command(path, args...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	stop = func() { cmd.Process.Kill(); cmd.Wait() }
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		stop()
		return "", nil, err
	}
	return socket, stop, nil
}
