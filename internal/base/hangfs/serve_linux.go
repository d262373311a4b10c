package hangfs

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// serveVar makes the test binary serve the files in it, as JSON, on descriptor 3.
const serveVar = "HANGFS_SERVE"

func init() {
	text := os.Getenv(serveVar)
	if text == "" {
		return
	}
	var files map[string]string
	if err := json.Unmarshal([]byte(text), &files); err != nil {
		fmt.Fprintln(os.Stderr, "hangfs:", err)
		os.Exit(2)
	}
	s := &server{fuse: 3}
	s.came = sync.NewCond(&s.mu)
	for name, text := range files {
		s.files = append(s.files, file{name, text})
	}
	go s.serve()
	s.obey()
	os.Exit(0)
}

const (
	forget      Op = 2
	interrupt   Op = 36
	batchForget Op = 42
	initialize  Op = 26
	release     Op = 18
	openDir     Op = 27
	readDir     Op = 28
	releaseDir  Op = 29
)

// server answers the kernel.
type server struct {
	fuse  int
	files []file

	mu    sync.Mutex // guards what is below
	hangs func(Op) bool
	held  []request
	came  *sync.Cond // with mu: a request is held
}

type file struct {
	name, text string
}

type request struct {
	op           Op
	unique, node uint64
	body         []byte
}

// obey executes the orders of the test until its stdin ends.
func (s *server) obey() {
	orders := bufio.NewScanner(os.Stdin)
	for orders.Scan() { // an error ends them, too
		words := strings.Fields(orders.Text())
		switch words[0] {
		case "hang":
			s.mu.Lock()
			s.hangs = func(op Op) bool { return len(words) == 1 || slices.Contains(words[1:], fmt.Sprint(uint32(op))) }
			s.mu.Unlock()
		case "held":
			s.mu.Lock()
			for len(s.held) == 0 {
				s.came.Wait()
			}
			s.mu.Unlock()
		case "answer":
			s.release()
		}
		fmt.Println("done")
	}
}

func (s *server) release() {
	s.mu.Lock()
	s.hangs = nil
	held := s.held
	s.held = nil
	s.mu.Unlock()
	for _, r := range held {
		s.answer(r)
	}
}

// serve reads requests until the folder is unmounted.
func (s *server) serve() {
	buf := make([]byte, 1<<20)
	for {
		n, err := unix.Read(s.fuse, buf)
		switch {
		case err == unix.EINTR || err == unix.ENOENT:
			continue
		case err != nil || n < 40:
			return
		}
		r := request{
			op: Op(binary.NativeEndian.Uint32(buf[4:])), unique: binary.NativeEndian.Uint64(buf[8:]),
			node: binary.NativeEndian.Uint64(buf[16:]), body: slices.Clone(buf[40:n]),
		}
		if !s.hold(r) {
			s.answer(r)
		}
	}
}

func (s *server) hold(r request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hangs == nil || r.op == initialize || !s.hangs(r.op) {
		return false
	}
	s.held = append(s.held, r)
	s.came.Broadcast()
	return true
}

func (s *server) answer(r request) {
	if r.op == forget || r.op == batchForget || r.op == interrupt {
		return
	}
	reply, err := s.reply(r)
	var errno unix.Errno
	errors.As(err, &errno)
	out := binary.NativeEndian.AppendUint32(nil, uint32(16+len(reply)))
	out = binary.NativeEndian.AppendUint32(out, uint32(-int32(errno)))
	out = binary.NativeEndian.AppendUint64(out, r.unique)
	unix.Write(s.fuse, append(out, reply...)) // it may have been interrupted
}

// reply is the body of an answer, see <linux/fuse.h>. Nothing may be cached.
func (s *server) reply(r request) ([]byte, error) {
	switch r.op {
	case initialize:
		return binary.NativeEndian.AppendUint32([]byte{7, 0, 0, 0, 31, 0, 0, 0}, 0), nil
	case Lookup:
		name := string(r.body[:max(len(r.body)-1, 0)])
		i := slices.IndexFunc(s.files, func(f file) bool { return f.name == name })
		if i < 0 {
			return nil, unix.ENOENT
		}
		node := uint64(i + 2)
		return append(words64(node, 0, 0, 0, 0), s.attributes(node)...), nil
	case GetAttr:
		return append(words64(0, 0), s.attributes(r.node)...), nil
	case Open, openDir:
		return words64(0, 0), nil
	case Read:
		return s.read(r), nil
	case release, releaseDir, Flush, readDir:
		return nil, nil
	}
	return nil, unix.ENOSYS
}

func (s *server) read(r request) []byte {
	if r.node < 2 || len(r.body) < 20 {
		return nil
	}
	text := s.files[r.node-2].text
	from := min(binary.NativeEndian.Uint64(r.body[8:]), uint64(len(text)))
	size := uint64(binary.NativeEndian.Uint32(r.body[16:]))
	return []byte(text[from:min(from+size, uint64(len(text)))])
}

// attributes is a struct fuse_attr.
func (s *server) attributes(node uint64) []byte {
	size, mode := uint64(0), uint32(unix.S_IFDIR|0o755)
	if node >= 2 {
		size, mode = uint64(len(s.files[node-2].text)), unix.S_IFREG|0o755
	}
	b := words64(node, size, (size+511)/512, 1, 1, 1)
	for _, v := range []uint32{0, 0, 0, mode, 1, 0, 0, 0, 4096, 0} {
		b = binary.NativeEndian.AppendUint32(b, v)
	}
	return b
}

func words64(list ...uint64) (b []byte) {
	for _, v := range list {
		b = binary.NativeEndian.AppendUint64(b, v)
	}
	return b
}
