package daemon

import "go.uber.org/zap"

// alive returns once every lock on the way of an event could be taken: a
// dispatcher that hangs makes the service manager restart the daemon.
func (d *Daemon) alive() {
	d.dispatch.Stats()
	d.hub.Stats()
}

// logSwept tells which runs of a killed predecessor were still under way.
func (d *Daemon) logSwept() {
	s := d.proc.Swept()
	if s.Runs > 0 {
		d.log.Warn("ended runs that a killed hookd left under way", zap.Int("runs", s.Runs), zap.Int("left", s.Left))
	}
}
