package daemon

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/record/trace"
)

// lastTraces is how long the last spans have to reach the collector: a stop must not
// wait for a collector that is down.
const lastTraces = time.Second

// newTracer returns nil when tracing is off. Invalid settings turn it off, with a
// warning: hooks run all the same.
func newTracer(version string, log *zap.Logger) *trace.Tracer {
	log = log.Named("trace")
	t, err := trace.New(trace.Options{Version: version, Trouble: func(err error) {
		if err != nil {
			log.Warn("traces do not reach the collector", zap.Error(err))
			return
		}
		log.Info("traces reach the collector again")
	}})
	if err != nil {
		log.Warn("no traces", zap.Error(err))
	}
	return t
}

// closeTracer sends the last traces; t may be nil.
func closeTracer(t *trace.Tracer, log *zap.Logger) {
	if t == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), lastTraces)
	defer cancel()
	if err := t.Close(ctx); err != nil {
		log.Warn("the last traces are lost", zap.Error(err))
	}
}
