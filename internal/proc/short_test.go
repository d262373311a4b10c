package proc

import (
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

func TestShort(t *testing.T) {
	for err, want := range map[error]bool{
		unix.EAGAIN: true, unix.ENOMEM: true, unix.EMFILE: true, unix.ENFILE: true,
		unix.ENOENT: false, unix.EACCES: false, unix.E2BIG: false, unix.ETXTBSY: false, os.ErrNotExist: false,
	} {
		if got := Short(&StartError{Err: err}); got != want {
			t.Errorf("Short(%v) = %v, want %v", err, got, want)
		}
	}
	if Short(nil) {
		t.Error("nothing is short")
	}
}

// A start without a descriptor to spare says so, leaks none, and works as soon as
// there are some.
func TestNoDescriptorToSpare(t *testing.T) {
	eachRunner(t, func(t *testing.T, r *Runner) {
		spec := shell(t, "exit 0")
		if e := r.Run(t.Context(), spec); e.Err != nil {
			t.Fatal(e.Err)
		}
		var limit unix.Rlimit
		if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
			t.Fatal(err)
		}
		next, err := unix.Dup(0)
		if err != nil {
			t.Fatal(err)
		}
		unix.Close(next)
		for spare := range uint64(6) { // each step of the start fails once
			low := unix.Rlimit{Cur: uint64(next) + spare, Max: limit.Max}
			if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &low); err != nil {
				t.Fatal(err)
			}
			e := r.Run(t.Context(), spec)
			if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
				t.Fatal(err)
			}
			if e.Err != nil && !Short(e.Err) || spare == 0 && e.Err == nil {
				t.Errorf("%d to spare: got %v, want that it is short", spare, e.Err)
			}
		}
		if again, err := unix.Dup(0); err != nil || again != next {
			t.Errorf("the next descriptor is %d, want %d: some are left open (%v)", again, next, err)
		} else {
			unix.Close(again)
		}
		if e := r.Run(t.Context(), spec); e.Err != nil || e.Code != 0 {
			t.Errorf("got %+v when there are enough again", fmt.Sprint(e.Err))
		}
	})
}
