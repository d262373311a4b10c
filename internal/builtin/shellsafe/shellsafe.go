// Package shellsafe says what a shell command line may do: only read, destroy
// something, or something unknown. It reads the line with a shell parser, as bash
// and as a POSIX shell do, and looks at every command in it: after ; && || |
// and &, in $(…), `…`, <(…), here-documents, functions and loops, behind sudo,
// env, xargs, find -exec and the like, and in the text given to sh -c, eval or
// ssh. Words are seen as the shell sees them, without quotes and backslashes
// and with braces expanded. The commands it knows are data: taxonomy.json, with
// the categories of docker-agent's table and more.
//
// The rule is one-sided: a line is Safe only if every command in it is known to
// read and nothing else about it can write. What cannot be parsed, is computed
// when it runs, or is not in the table is unknown; unknown is not harmless.
// It never runs, opens or looks up anything, so it does not know what a script,
// an alias, a repository's configuration or a program in PATH really does, and
// reading a secret is reading. docs/safer-shell.md lists what it gets wrong. The
// same line always gives the same answer; it never fails, never blocks, and
// takes time in proportion to the line, which may have up to 256 KiB.
package shellsafe

import (
	"fmt"
	"strings"
)

// Radius is how far the harm of a command may reach.
type Radius string

const (
	None    Radius = ""        // it only reads
	Low     Radius = "low"     // cheap to undo
	Medium  Radius = "medium"  // recoverable, at a cost
	Unknown Radius = "unknown" // cannot be told
	High    Radius = "high"    // not to be undone
)

// rank orders radii as docker-agent does: what is unknown is worse than what is
// known to be medium.
var rank = map[Radius]int{None: 0, Low: 1, Medium: 2, Unknown: 3, High: 4}

// CategoryUnknown is the category of what is not in the table.
const CategoryUnknown = "unknown"

// Assessment is what a command line may do.
type Assessment struct {
	Radius   Radius
	Category string // such as fs-delete or git-history; "" if it only reads
	Reason   string // for people: what was seen, the worst first
}

// Safe reports whether the line only reads.
func (a Assessment) Safe() bool { return a.Radius == None }

// Limits of what is looked at; beyond them a line is unknown.
const (
	maxLine    = 256 << 10
	maxDepth   = 8    // of command lines within command lines
	maxReasons = 4    // told in one assessment
	maxFound   = 1000 // kept
	maxPart    = 80   // bytes of the line in one reason
)

// Assess reads a command line.
func Assess(command string) Assessment {
	s := newScan()
	s.line(command, 0)
	return s.assessment()
}

func newScan() *scan {
	return &scan{known: known(), functions: map[string]bool{}, vars: map[string]string{}}
}

// finding is one thing seen in a line that is not reading.
type finding struct {
	radius   Radius
	category string
	what     string // the command, or the part of the line
	reason   string
}

func (f finding) String() string { return f.what + ": " + f.reason }

// assessment sums the findings up: the worst one decides.
func (s *scan) assessment() Assessment {
	if len(s.found) == 0 {
		return Assessment{}
	}
	worst := s.found[0]
	for _, f := range s.found {
		if rank[f.radius] > rank[worst.radius] {
			worst = f
		}
	}
	reasons := []string{worst.String()}
	seen := map[string]bool{worst.String(): true}
	more := 0
	for _, f := range s.found {
		if seen[f.String()] {
			continue
		}
		seen[f.String()] = true
		if len(reasons) < maxReasons {
			reasons = append(reasons, f.String())
		} else {
			more++
		}
	}
	text := strings.Join(reasons, "; ")
	if more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return Assessment{Radius: worst.radius, Category: worst.category, Reason: text}
}
