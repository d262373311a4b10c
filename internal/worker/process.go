package worker

import (
	"fmt"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/proc"
)

// process is one copy of a hook.
type process struct {
	pool  *Pool
	lane  string
	kept  *proc.Kept
	lines lines
	left  func()

	depth    atomic.Int32
	owes     atomic.Int32 // answers
	answered atomic.Uint64
	late     atomic.Bool // it is killed for a deadline that it missed
	ending   atomic.Bool // it was told to end
	broken   error       // why its output is not read any more; owned by who reads

	warned     time.Time // when it was last warned of; owned by who reads
	suppressed int
}

// log says that the program wrote something odd, once a second at most.
func (w *process) log(err error, fields ...zap.Field) {
	now := time.Now()
	if now.Sub(w.warned) < time.Second {
		w.suppressed++
		return
	}
	w.pool.log.Warn("persistent hook wrote what is no answer", append(fields,
		zap.Int("pid", w.kept.PID), zap.Error(err), zap.Int("more", w.suppressed))...)
	w.warned, w.suppressed = now, 0
}

// end tells the copy that it is not needed any more, and sees to it that it
// ends.
func (w *process) end() {
	if w.ending.Swap(true) {
		return
	}
	w.kept.CloseStdin()
	go func() {
		timer := time.NewTimer(termAfter)
		defer timer.Stop()
		select {
		case <-w.kept.Done():
			return
		case <-timer.C:
		}
		w.kept.Term()
		timer.Reset(killAfter - termAfter)
		select {
		case <-w.kept.Done():
		case <-timer.C:
			w.kept.Kill()
		}
	}()
}

// ended is called once, by who watches over the copy, after its end. It logs
// what nobody else is told.
func (w *process) ended(unanswered int) {
	exit := w.kept.Exit()
	fields := []zap.Field{zap.Int("pid", w.kept.PID), zap.Int("unanswered", unanswered), zap.Duration("lived", exit.Duration.Round(time.Millisecond))}
	switch {
	case w.broken != nil:
		w.pool.log.Warn("persistent hook killed, its output cannot be trusted", append(fields, zap.Error(w.broken))...)
	case w.ending.Load() && exit.Killed != "":
		w.pool.log.Warn("persistent hook killed, it did not end when its stdin was closed", fields...)
	case w.ending.Load() || w.late.Load() || exit.Killed != "" || w.retired(exit):
	case exit.Code != 0 || unanswered > 0:
		w.pool.log.Warn("persistent hook ended", append(fields, zap.Int("exit", exit.Code), zap.String("signal", exit.Signal))...)
	}
	w.left()
	w.kept.Close()
	w.pool.drop(w)
}

// retired reports whether the copy has ended of its own will after it had done
// something: programs that leak do that. No line is to blame for it.
func (w *process) retired(exit proc.Exit) bool {
	return exit.Code == 0 && exit.Killed == "" && w.broken == nil && w.answered.Load() > 0
}

// kill ends the copy with all its processes. Whoever talks to one that cannot
// be killed is let go.
func (w *process) kill() {
	stuck := time.AfterFunc(w.pool.set.opts.grace/2, w.kept.Interrupt)
	defer stuck.Stop()
	w.kept.Kill()
}

// stop returns how the copy ended. One that has only closed its stdout, which is
// known after breath, and one whose output cannot be trusted, is killed. One that
// has not ended after patience has processes left.
func (w *process) stop(breath, patience time.Duration) proc.Exit {
	if w.broken == nil && !w.late.Load() && !w.over(breath) {
		w.broken = garbage("closed its stdout")
	}
	if !w.kept.Ended() {
		go w.kept.Kill()
	}
	if !w.over(patience) {
		return proc.Exit{PID: w.kept.PID, Code: -1, Left: 1}
	}
	return w.kept.Exit()
}

// over reports whether the copy has ended, and waits for that, at most d.
func (w *process) over(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-w.kept.Done():
		return true
	case <-timer.C:
		return w.kept.Ended()
	}
}

// lastBreath is the time between the end of a program's output and its own.
const lastBreath = time.Second

// obituary says why there is no answer.
func (w *process) obituary(exit proc.Exit) string {
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
