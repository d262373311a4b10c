package daemon

import "go.uber.org/zap"

// alive takes and releases each lock on the way of an event. If it hangs, the service
// manager restarts the daemon.
func (d *Daemon) alive() {
	d.dispatch.Stats()
	d.hub.Stats()
}

// logSwept logs the runs of a killed predecessor that were still under way.
func (d *Daemon) logSwept() {
	s := d.proc.Swept()
	if s.Unread != "" {
		d.log.Error("the list of runs of the hookd before cannot be read: runs that it has left may go on",
			zap.String("see", "hookd log running"), zap.String("moved_to", s.Unread))
	}
	if s.Runs > 0 {
		d.log.Warn("ended runs that a killed hookd left under way", zap.Int("runs", s.Runs), zap.Int("left", s.Left))
	}
}
