package fleet

import (
	"time"

	"github.com/hookd/hookd/internal/fleet/engine"
)

// How long messages stay. Messages that a hook waits for stay longer than a holiday; messages
// that people only look at stay as long as people ask for.
const (
	keepEvents  = 14 * 24 * time.Hour
	keepLog     = 7 * 24 * time.Hour
	keepNow     = 7 * 24 * time.Hour
	keepAnswers = time.Hour
	keepDead    = 30 * 24 * time.Hour
)

const gib = 1 << 30

// keepDirectives is how many directives the servers keep: a machine that was away takes the newest valid one.
const keepDirectives = 8

// Layout returns the streams of a tenant. A stream of events that is full refuses: the
// machines keep the refused events, and say so. A log that is full drops its oldest: each
// machine has its own history.
func (n Names) Layout() []engine.Stream {
	of := func(area string, subjects ...string) engine.Stream {
		return engine.Stream{Name: n.stream(area), Subjects: subjects}
	}
	log, now := of(areaLog, n.all(areaLog, ">")), of(areaNow, n.all(areaNow, "*"))
	log.MaxAge, log.MaxBytes, log.MaxMessage, log.PerSubject = keepLog, 2*gib, maxDecision, maxDecisions
	now.MaxAge, now.MaxBytes, now.MaxMessage, now.PerSubject = keepNow, 2*gib, maxFact, 1
	work, every := of(areaWork, n.all(areaWork, ">")), of(areaEvery, n.all(areaEvery))
	work.MaxAge, work.MaxBytes, work.Refuse, work.Queue = keepEvents, 4*gib, true, true
	work.MaxMessage, work.PerSubject = maxWork, maxWorks
	every.MaxAge, every.MaxBytes, every.Refuse = keepEvents, 8*gib, true
	every.MaxMessage, every.PerSubject = maxBundle, maxBundles
	answers := of(areaAnswer, n.all(areaAnswer))
	answers.MaxAge, answers.MaxBytes, answers.MaxMessage, answers.PerSubject = keepAnswers, gib/4, maxAnswer, maxAnswers
	dead := of(areaDead, n.all(areaDead, ">"), n.advisories(areaWork), n.advisories(areaEvery))
	dead.MaxAge, dead.MaxBytes = keepDead, gib/4
	directive := of(areaDirective, n.directive("*"))
	directive.MaxBytes, directive.MaxMessage, directive.PerSubject = gib/128, maxFact, keepDirectives
	bundles := engine.Stream{Name: "OBJ_" + n.bundles(), Refuse: true, Objects: true, MaxBytes: gib / 4}
	for _, part := range []string{"C", "M"} {
		bundles.Subjects = append(bundles.Subjects, "$O."+n.bundles()+"."+part+".>")
	}
	return []engine.Stream{log, now, work, every, answers, dead, directive, bundles}
}

// advisories is the subject on which JetStream says that a message of an area was given
// to consumers as often as they may have it. Without a stream that holds it, it would be
// lost where no machine listens.
func (n Names) advisories(area string) string {
	return "$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES." + n.stream(area) + ".*"
}

// Each machine may have a few subjects alone, with so much on each: so none can fill a stream
// and push out the state, the asks, the answers, the decisions or the events of another. Of
// decisions and of events one machine has a quarter of the stream at most.
const (
	maxFact      = 256 << 10 // bytes of what a machine says of itself, its sessions or its asks
	maxAnswer    = 16 << 10  // bytes
	maxAnswers   = 64        // of one machine; they stay for an hour
	maxDecision  = 16 << 10  // bytes
	maxDecisions = 32 << 10
	maxBundle    = 256 << 10 // bytes of a message with events
	maxBundles   = 8 << 10
	maxWork      = 512 << 10 // bytes of an event for a hook of scope fleet
	maxWorks     = 2 << 10   // that wait for workers
)
