package scan

import "github.com/hookd/hookd/internal/agents/transcripts"

// Ended says in a few words how the call of an example ended.
func (e Example) Ended() string {
	switch transcripts.CallEnd(e.Then) {
	case transcripts.Ran:
		return "ran"
	case transcripts.Failed:
		return "failed"
	case transcripts.Denied:
		switch transcripts.Decider(e.By) {
		case transcripts.ByPerson:
			return "you said no"
		case transcripts.ByHook:
			return "hook said no"
		case transcripts.ByJudge:
			return "judge said no"
		case transcripts.ByDefault:
			return "not asked"
		case transcripts.ByRule:
			return "rule said no"
		}
		return "did not run"
	}
	return "not known"
}

// Day is the day of an example, as people write it; "" = it is not known.
func (e Example) Day() string {
	if e.Time.IsZero() {
		return ""
	}
	return e.Time.Local().Format("2 Jan")
}

// Partly reports whether not all transcripts were read.
func (r *Report) Partly() bool { return r.Transcripts.Read+r.Transcripts.Failed < r.Transcripts.Found }

// Sure says how sure the count of questions is: counted, estimated, or both.
func (r *Report) Sure() string {
	var counted, estimated bool
	for _, a := range r.Agents {
		counted = counted || a.Asked > 0 && a.Prompts == transcripts.Counted
		estimated = estimated || a.Asked > 0 && a.Prompts != transcripts.Counted
	}
	switch {
	case counted && estimated:
		return "in part estimated"
	case estimated:
		return "estimated"
	}
	return "counted"
}
