package nowait

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// pair returns both ends of a socket.
func pair(t *testing.T) (a, b *net.UnixConn) {
	t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(t.TempDir(), "s"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if a, err = net.DialUnix("unix", nil, l.Addr().(*net.UnixAddr)); err != nil {
		t.Fatal(err)
	}
	if b, err = l.AcceptUnix(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close(); b.Close() })
	return a, b
}

func raw(t *testing.T, c syscall.Conn) syscall.RawConn {
	t.Helper()
	conn, err := c.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// More than fits goes through whole, in whatever pieces, and then comes the end.
func TestReadAndWrite(t *testing.T) {
	a, b := pair(t)
	want := bytes.Repeat([]byte("0123456789"), 1<<17)
	written := make(chan error, 1)
	go func() {
		n, err := Write(raw(t, a), want)
		if n != len(want) {
			t.Errorf("wrote %d bytes, want %d", n, len(want))
		}
		written <- errors.Join(err, a.Close())
	}()
	var got []byte
	in, buf := raw(t, b), make([]byte, 100_000)
	for {
		n, err := Read(in, buf)
		got = append(got, buf[:n]...)
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := <-written; err != nil || !bytes.Equal(got, want) {
		t.Errorf("got %d bytes, %v, want %d", len(got), err, len(want))
	}
}

func TestDeadlinesAndCloseEndTheWait(t *testing.T) {
	a, b := pair(t)
	full := bytes.Repeat([]byte("x"), 16<<20)
	for name, call := range map[string]func() error{
		"read":  func() error { _, err := Read(raw(t, a), make([]byte, 1)); return err },
		"write": func() error { _, err := Write(raw(t, a), full); return err },
	} {
		a.SetDeadline(time.Now().Add(10 * time.Millisecond))
		if err := call(); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s: got %v, want its deadline", name, err)
		}
	}
	a.SetDeadline(time.Time{})
	ended := make(chan error)
	in := raw(t, a)
	go func() { _, err := Read(in, make([]byte, 1)); ended <- err }()
	a.Close()
	if err := <-ended; !errors.Is(err, net.ErrClosed) {
		t.Errorf("got %v, want it closed", err)
	}
	b.Close()
}

// TryWrite takes the bytes that there is room for, then nothing, and waits for neither.
func TestTryWrite(t *testing.T) {
	a, b := pair(t)
	out, full := raw(t, a), bytes.Repeat([]byte("x"), 16<<20)
	n, err := TryWrite(out, full)
	if n == 0 || n == len(full) || err != nil {
		t.Fatalf("the socket took %d bytes of %d, %v", n, len(full), err)
	}
	if more, err := TryWrite(out, full); more != 0 || err != nil {
		t.Errorf("full, it took %d bytes more, %v", more, err)
	}
	if got, err := io.ReadFull(b, make([]byte, n)); err != nil {
		t.Errorf("read %d bytes of %d, %v", got, n, err)
	}
	b.Close()
	if _, err := TryWrite(out, full); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("got %v, want a broken pipe", err)
	}
	a.Close()
	if _, err := TryWrite(out, full); !errors.Is(err, net.ErrClosed) {
		t.Errorf("got %v, want it closed", err)
	}
}

func TestErrors(t *testing.T) {
	a, b := pair(t)
	if _, err := Read(raw(t, a), nil); err != nil {
		t.Errorf("got %v for nothing", err)
	}
	b.Close()
	if _, err := Write(raw(t, a), []byte("x")); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("got %v, want a broken pipe", err)
	}
	if _, err := TryRead(-1, make([]byte, 1)); !errors.Is(err, syscall.EBADF) {
		t.Errorf("got %v, want a bad descriptor", err)
	}
}
