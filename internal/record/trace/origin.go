package trace

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/hookd/hookd/internal/base/lazyregexp"
	"github.com/hookd/hookd/internal/record/otlp"
)

// origin is the place of an event's spans. All calls for an event find the same.
type origin struct {
	event         Traced
	trace, accept string // ids
	parent, state string // of the sender's span; "" = the trace begins here
	flags         uint32 // as the sender gave them
}

// The headers of W3C Trace Context.
var (
	traceparent = lazyregexp.New(`^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$`)
	tracestate  = lazyregexp.New(`^[a-z0-9][a-z0-9_\-*/@]{0,255}=[ -+\--<>-~]{0,255}[!-+\--<>-~]$`)
)

// from returns the place that e's headers say. Headers that are broken say nothing.
func from(e Traced) origin {
	o := origin{event: e, trace: id(e.ID, 16), accept: id(e.ID+" accept", 8)}
	m := traceparent.FindStringSubmatch(e.Traceparent)
	if m == nil || m[1] == "ff" || strings.Trim(m[2], "0") == "" || strings.Trim(m[3], "0") == "" ||
		m[1] == "00" && (m[5] != "" || m[4] > "03") {
		return o
	}
	flags, _ := strconv.ParseUint(m[4], 16, 8) // the pattern lets only these digits through
	o.trace, o.parent, o.flags, o.state = m[2], m[3], uint32(flags)&3, state(e.Tracestate)
	return o
}

// state returns a list of the other vendors' values as it is; "" = it is broken.
func state(text string) string {
	members := strings.Split(text, ",")
	for i, m := range members {
		members[i] = strings.TrimSpace(m)
		if !tracestate.MatchString(members[i]) || i >= 32 {
			return ""
		}
	}
	return strings.Join(members, ",")
}

// id makes an id of so many bytes from a text.
func id(text string, bytes int) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:bytes])
}

// span is below accept. said has pairs of a name, without hookd's prefix, and a value.
func (o origin) span(name, id string, from, to time.Time, said ...string) otlp.Span {
	s := otlp.Span{
		TraceID: o.trace, SpanID: id, ParentSpanID: o.accept, TraceState: o.state,
		Flags: o.flags | otlp.FlagSampled | otlp.FlagKnown, Name: name, Kind: otlp.KindInternal,
		Start: otlp.Nano(from), End: otlp.Nano(to),
	}
	for i := 0; i < len(said); i += 2 {
		s.Attributes = append(s.Attributes, otlp.Texts("hookd."+said[i], clean(said[i+1]))...)
	}
	s.Attributes = append(s.Attributes, o.event.convention()...)
	return s
}

// sampler says which traces are kept: all spans of one, or none.
type sampler struct {
	asks  bool   // the sender's flag decides, where there is one
	below uint64 // keeps the ids below, of 63 bits
}

const all = 1 << 63

// newSampler reads OTEL_TRACES_SAMPLER and its argument.
func newSampler() (s sampler, err error) {
	given := os.Getenv("OTEL_TRACES_SAMPLER")
	name, asks := strings.CutPrefix(strings.ToLower(strings.TrimSpace(given)), "parentbased_")
	s.asks = asks
	switch name {
	case "":
		return sampler{asks: true, below: all}, nil
	case "always_on":
		s.below = all
		return s, nil
	case "always_off":
		return s, nil
	case "traceidratio":
	default:
		return s, fmt.Errorf("OTEL_TRACES_SAMPLER is %q, which hookd does not know", given)
	}
	ratio := 1.0
	if text := strings.TrimSpace(os.Getenv("OTEL_TRACES_SAMPLER_ARG")); text != "" {
		ratio, err = strconv.ParseFloat(text, 64)
		if err != nil || !(ratio >= 0 && ratio <= 1) {
			return s, fmt.Errorf("OTEL_TRACES_SAMPLER_ARG is %q, want a number from 0 to 1", text)
		}
	}
	s.below = uint64(ratio * all)
	return s, nil
}

func (s sampler) keeps(o origin) bool {
	if s.asks && o.parent != "" {
		return o.flags&otlp.FlagSampled != 0
	}
	n, _ := strconv.ParseUint(o.trace[16:], 16, 64) // an id is in hexadecimal
	return n>>1 < s.below
}
