package worker

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/proc"
)

// process has the parts that the workers of both pools share.
type process struct {
	pool  *Pool
	slots string // decidable, observers
	proc  *proc.Worker
	start Start
	lines lines
	onEnd func() // Options.Joined returned it

	depth          atomic.Int32
	owes           atomic.Int32 // calls without an answer
	answered       atomic.Uint64
	missedDeadline atomic.Bool // it is killed for that, or for a call that was cancelled
	ending         atomic.Bool // end was called

	// Owned by the goroutine that reads.
	confirmed  bool      // its files were looked at again
	broken     error     // why its output is not read any more
	warned     time.Time // when warn last wrote to the log
	suppressed int       // warnings since then
}

// warn logs output that is no answer, at most once a second.
func (w *process) warn(err error, fields ...zap.Field) {
	now := time.Now()
	if now.Sub(w.warned) < time.Second {
		w.suppressed++
		return
	}
	w.pool.log.Warn("persistent hook wrote a line that is no answer", append(fields,
		zap.Int("pid", w.proc.PID), zap.Error(err), zap.Int("more", w.suppressed))...)
	w.warned, w.suppressed = now, 0
}

// confirm has the files of the worker looked at again before its first answer is taken. It
// waits at most until: a file whose disk does not answer blocks the look.
func (w *process) confirm(until time.Time) error {
	if w.confirmed || w.start.Confirm == nil {
		return nil
	}
	looked := make(chan error, 1)
	go func() { looked <- w.start.Confirm() }()
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	select {
	case err := <-looked:
		w.confirmed = err == nil
		return err
	case <-timer.C:
		return errors.New("refused: its files did not answer when they were looked at again; type: mount")
	}
}

// end closes stdin, so that the program exits; SIGTERM and a kill follow.
func (w *process) end() {
	if w.ending.Swap(true) {
		return
	}
	w.proc.CloseStdin()
	go func() {
		if w.waitEnd(termAfter) {
			return
		}
		if w.proc.Term(); !w.waitEnd(killAfter - termAfter) {
			w.proc.Kill()
		}
	}()
}

// release is called once, when the process has exited. It logs an exit that no
// run reports, closes the pipes and removes the worker from its pool.
func (w *process) release(unanswered int) {
	exit := w.proc.Exit()
	fields := []zap.Field{
		zap.Int("pid", w.proc.PID), zap.Int("unanswered", unanswered),
		zap.Duration("lived", exit.Duration.Round(time.Millisecond)),
	}
	switch {
	case w.broken != nil:
		w.pool.log.Warn("persistent hook killed, its output cannot be trusted", append(fields, zap.Error(w.broken))...)
	case w.ending.Load() && exit.Killed != "":
		w.pool.log.Warn("persistent hook killed, it did not end when its stdin was closed", fields...)
	case w.ending.Load() || w.missedDeadline.Load() || exit.Killed != "" || w.endedByItself(exit):
	case exit.Code != 0 || unanswered > 0:
		fields = append(fields, zap.Int("exit", exit.Code), zap.String("signal", exit.Signal))
		w.pool.log.Warn("persistent hook ended", fields...)
	}
	w.onEnd()
	w.proc.Close()
	w.pool.remove(w)
}

// endedByItself reports whether the program exited with 0 after it had answered:
// programs that leak do that. No line has caused it.
func (w *process) endedByItself(exit proc.Exit) bool {
	return exit.Code == 0 && exit.Killed == "" && w.broken == nil && w.answered.Load() > 0
}

// kill kills the worker with all its processes. If that takes long, reads and
// writes stop waiting for it.
func (w *process) kill() {
	stuck := time.AfterFunc(w.pool.set.opts.grace/2, w.proc.Unblock)
	defer stuck.Stop()
	w.proc.Kill()
}

// stop makes sure that the process has ended and returns how. After exitWait it
// kills a program that has only closed its stdout, and at once one whose output
// is invalid. It gives up after killWait: then Exit.Left is not 0.
func (w *process) stop(exitWait, killWait time.Duration) proc.Exit {
	if w.broken == nil && !w.missedDeadline.Load() && !w.waitEnd(exitWait) {
		w.broken = invalid("closed its stdout")
	}
	if !w.proc.Ended() {
		go w.proc.Kill()
	}
	if !w.waitEnd(killWait) {
		return proc.Exit{PID: w.proc.PID, Code: -1, Left: 1}
	}
	return w.proc.Exit()
}

// waitEnd waits until the process has ended, at most d, and reports whether it has.
func (w *process) waitEnd(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-w.proc.Done():
		return true
	case <-timer.C:
		return w.proc.Ended()
	}
}

// exitDelay is how long after the end of its output a program may exit.
const exitDelay = time.Second

// failureText says why there is no answer.
func (w *process) failureText(exit proc.Exit) string {
	switch {
	case w.broken != nil:
		return "its process " + w.broken.Error()
	case exit.Killed != "" || exit.Left > 0:
		return "its process was killed before it answered"
	case exit.Signal != "":
		return fmt.Sprintf("its process was ended by %s before it answered", exit.Signal)
	default:
		return fmt.Sprintf("its process ended with exit status %d before it answered", exit.Code)
	}
}
