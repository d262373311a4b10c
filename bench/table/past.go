package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

const (
	pastSessions = 1000
	pastRules    = 50
)

// lookBack are rules that look back, of each kind as many.
func lookBack(n int) string {
	var text strings.Builder
	for i := range n / 5 {
		fmt.Fprintf(&text, "  - deny: git push * b%d\n    unless: {ran: [go test *, make t%d], ok: true, since: edit}\n"+
			"  - ask: {effect: [connect, send], host: h%d}\n    after: {effect: secret, path: /s%d/**}\n"+
			"  - ask: {same: call, count: %d, within: 10m}\n"+
			"  - ask: {effect: write, path: /w%d/**, other_session: true, within: %dm}\n"+
			"  - ask: {tool: t%d, count: %d, since: prompt}\n", i, i, i, i, i+20, i, i+1, i, i+2)
	}
	return text.String()
}

// turns are a tool call of Claude Code and its end, as lines that ask for a verdict.
func turns(session string, n int) (before, after []byte) {
	call := fmt.Sprintf(`"session_id":%q,"transcript_path":"/tmp/t.jsonl","cwd":"/tmp","tool_name":"Bash","tool_use_id":"c%d",`+
		`"tool_input":{"command":%q,"description":"work"},`, session, n, fmt.Sprintf(shellLines[n%len(shellLines)], n))
	envelope := fmt.Sprintf(`"wait":true,"dialect":"claude-code","session_id":%q,"cwd":"/tmp",`, session)
	return line("PreToolUse", envelope, call, 0),
		line("PostToolUse", envelope, call+`"tool_response":{"stdout":"ok","stderr":"","interrupted":false},`, 0)
}

// lookingBack is the time that rules that look back add to a call that they do not decide. Both sides have
// the same hook with a rule about the call alone, and know as many sessions. Two processes of the same program
// differ by more than the rules cost, so each round has daemons of its own.
func lookingBack(b *bench) ([]row, error) {
	took, added := samples{}, []float64{}
	for range b.rounds {
		round, err := b.lookingBackOnce()
		if err != nil {
			return nil, err
		}
		added = append(added, quantile(round["past"], 0.5)-quantile(round["none"], 0.5))
		for side, list := range round {
			took[side] = append(took[side], list...)
		}
	}
	return []row{{
		what: fmt.Sprintf("what %d rules that look back add to a call that they let pass, over the socket, with %s sessions known",
			pastRules, count(pastSessions)),
		checks: []check{atMost("p50 ≤ 30 µs over a rule about the call alone", 30, quantile(added, 0.5), "%.0f µs")},
		beside: fmt.Sprintf("of the rounds from %.0f to %.0f µs; p50 / p99 in µs: with %s, without %s",
			slices.Min(added), slices.Max(added), both(took["past"]), both(took["none"])),
	}}, nil
}

// lookingBackOnce starts a daemon for each side, lets it know the sessions, and asks both in turn.
func (b *bench) lookingBackOnce() (samples, error) {
	rules := "name: guard\nrules:\n  - deny: git push --force *\n"
	sides := map[string]func() (time.Duration, error){}
	for side, text := range map[string]string{"none": rules, "past": rules + lookBack(pastRules)} { // in any order
		d, err := b.start(hooks{"guard": text})
		if err != nil {
			return nil, err
		}
		defer d.stop()
		a, err := d.asking(nil)
		if err != nil {
			return nil, err
		}
		defer a.conn.Close()
		calls := 0
		sides[side] = func() (time.Duration, error) {
			before, after := turns(fmt.Sprint("s", calls%pastSessions), calls)
			calls++
			a.line = before
			took, err := a.ask(`"ok":true`)
			if a.line = after; err == nil {
				_, err = a.ask(`"ok":true`)
			}
			return took, err
		}
	}
	took := samples{}
	for i := range 2*pastSessions + max(minimum, int(b.sample.Seconds()*1000)) {
		for side, ask := range sides {
			one, err := ask()
			if err != nil {
				return nil, err
			}
			if i >= 2*pastSessions {
				took[side] = append(took[side], float64(one.Nanoseconds())/1000)
			}
		}
	}
	return took, nil
}
