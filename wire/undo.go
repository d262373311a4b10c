package wire

import (
	"net/url"
	"strconv"
	"strings"
	"time"
)

// PathUndo is where calls are listed that can be taken back, and where that is done.
const PathUndo = "/v1/undo"

// Kept says how much of a call can be taken back, as it was known before the call.
type Kept struct {
	Word  string  `json:"word"`            // kept, part or none
	Files int     `json:"files,omitempty"` // that come back
	Bytes int64   `json:"bytes,omitempty"`
	Lost  []Lost  `json:"lost,omitempty"` // does not come back
	Late  bool    `json:"late,omitempty"` // the time to keep was over before all was kept
	Gone  bool    `json:"gone,omitempty"` // nothing is kept any more: the call changed nothing, or it is too old or purged
	MS    float64 `json:"ms"`             // that keeping took
}

// Says tells a person before the call how much can be taken back, and which things cannot, and why. The text is of
// others: escape it where it is shown.
func (k *Kept) Says() (text string) {
	files := strconv.Itoa(k.Files) + " files"
	if k.Files == 1 {
		files = "1 file"
	}
	switch k.Word {
	case "kept":
		return "it can be undone: " + files + " kept"
	case "part":
		text = "a part can be undone: " + files + " kept"
	default:
		text = "it CANNOT be undone"
	}
	var known, unknown []string
	for _, l := range k.Lost {
		if l.What == LostElse {
			unknown = append(unknown, l.Why)
		} else {
			known = append(known, l.What+": "+l.Why)
		}
	}
	if len(known) > 0 {
		text += "; not kept: " + strings.Join(known, ", ")
	}
	switch {
	case len(unknown) == 0:
		return text
	case len(known) == 0 && k.Files == 0:
		return "what it destroys is " + strings.Join(unknown, ", ")
	}
	return text + "; " + LostElse + " is " + strings.Join(unknown, ", ")
}

// LostElse is What of the effects of a call that are not known. Why begins with "not known: " or "not kept: ".
const LostElse = "what else it destroys"

// Lost is something that does not come back, and why.
type Lost struct {
	What  string `json:"what"`
	Why   string `json:"why"`
	Count int    `json:"count,omitempty"` // of the things that What does not name one by one; 0 = it names one
}

// CountLost is how many things do not come back.
func CountLost(list []Lost) (n int) {
	for _, l := range list {
		n += max(1, l.Count)
	}
	return n
}

// Says tells a person of a loss: a label and a text. The effects that are not known are no known loss.
func (l Lost) Says() (label, text string) {
	if l.What == LostElse {
		return LostElse, l.Why
	}
	return "cannot come back", l.What + ": " + l.Why
}

// UndoCall is a call that something was kept for.
type UndoCall struct {
	ID      string    `json:"id"` // of its event
	Time    time.Time `json:"time"`
	Session string    `json:"session_id,omitempty"`
	Agent   string    `json:"agent,omitempty"`
	CallID  string    `json:"call_id,omitempty"`
	Tool    string    `json:"tool,omitempty"` // canonical; undo for an undo
	Subject string    `json:"subject,omitempty"`
	Cwd     string    `json:"cwd,omitempty"`

	Word    string    `json:"word"` // kept, part or none
	Files   int       `json:"files"`
	Bytes   int64     `json:"bytes"`
	Lost    []Lost    `json:"lost,omitempty"` // does not come back
	Until   time.Time `json:"until"`          // when it goes
	Settled bool      `json:"settled"`        // its result has come, or does not come any more
	Outcome string    `json:"outcome,omitempty"`
	Undone  *Undone   `json:"undone,omitempty"` // nil = it was not taken back
	Undoes  []string  `json:"undoes,omitempty"` // of an undo: the calls
	Dumps   []Dump    `json:"dumps,omitempty"`  // that hooks have put into the vault for it
}

// DumpRequest puts a file into the vault for a call: a dump of a database, a volume or a cluster, which the call
// is about to destroy. Path is absolute. Restore is the command that a person types to bring it back, in which
// {} stands for the kept file; "" = there is none.
type DumpRequest struct {
	Path    string `json:"path"`
	Restore string `json:"restore,omitempty"`
}

// Dump is a file that a hook has put into the vault.
type Dump struct {
	Name    string    `json:"name"`
	Path    string    `json:"path"` // in the vault
	Size    int64     `json:"size"`
	Restore string    `json:"restore,omitempty"` // hookd never runs it
	Time    time.Time `json:"time"`
}

// Undone says how a call was taken back.
type Undone struct {
	By   string    `json:"by"`   // id of the undo
	Word string    `json:"word"` // all or part
	Time time.Time `json:"time"`
}

// UndoList is the answer to GET /v1/undo: the newest call first.
type UndoList struct {
	Calls  []UndoCall `json:"calls"`
	Bytes  int64      `json:"bytes"` // that all vaults hold
	Vaults []string   `json:"vaults"`
}

// UndoQuery chooses calls of a list. The zero UndoQuery is all of them.
type UndoQuery struct {
	Session string // its id, or the beginning or end of its id
	Path    string // calls that changed this path, or one below it
	Since   time.Time
	Limit   int // 0 = 100
}

// ParseUndoQuery reads the parameters of GET /v1/undo.
func ParseUndoQuery(v url.Values, now time.Time) (q UndoQuery, bad *Error) {
	q.params().read(v)
	if q.Since, _, bad = parseSpan(v, now); bad != nil {
		return q, bad
	}
	_, q.Limit, bad = parsePage(v)
	return q, bad
}

func (q *UndoQuery) params() params { return params{"session": &q.Session, "path": &q.Path} }

// Values writes the query as GET /v1/undo reads it.
func (q UndoQuery) Values() url.Values {
	v := q.params().values(q.Since, time.Time{})
	setPage(v, "", 0, q.Limit)
	return v
}

// IsSession reports whether text names the session id: it is the id, or its beginning or end.
func IsSession(text, id string) bool { return isSession(text, id) }

// UndoRequest chooses calls, and says how to take them back. One of Calls, Session and Since is
// there; Session and Since may both be.
type UndoRequest struct {
	Calls   []string  `json:"calls,omitempty"` // ids, or ends of them
	Session string    `json:"session_id,omitempty"`
	Since   time.Time `json:"since,omitzero"`
	Path    string    `json:"path,omitempty"`    // only this path and what is below it
	Preview bool      `json:"preview,omitempty"` // say it, and change nothing
	Skip    bool      `json:"skip,omitempty"`    // leave what changed since
	Beside  bool      `json:"beside,omitempty"`  // put the old version beside what changed since
	Changed bool      `json:"changed,omitempty"` // also take back changes that may be the work of another
	Merge   bool      `json:"merge,omitempty"`   // merge texts that changed since, where that is clean
}

// Effects of an undo on a path.
const (
	UndoBack     = "back"     // it comes back
	UndoRemoved  = "removed"  // the call made it, and it goes
	UndoSame     = "same"     // it is as it was
	UndoBeside   = "beside"   // the old version comes beside it
	UndoMerged   = "merged"   // the old version is merged with the changes since
	UndoConflict = "conflict" // it changed since
	UndoLeft     = "left"     // it does not come back
)

// UndoItem is the effect of an undo on one path.
type UndoItem struct {
	Path string `json:"path"`
	Does string `json:"does"`
	Why  string `json:"why,omitempty"`
	Size int64  `json:"size,omitempty"`
	To   string `json:"to,omitempty"` // where the old version is, of beside
}

// UndoPurged is the answer to DELETE /v1/undo/{id}.
type UndoPurged struct {
	Calls int `json:"calls"` // that went
}

// UndoFound is a place where old bytes of a file still are.
type UndoFound struct {
	Where string    `json:"where"`
	Time  time.Time `json:"time,omitzero"` // of that version; zero = not known
	Size  int64     `json:"size,omitempty"`
	Whole bool      `json:"whole"` // false: a part may be missing
	Type  string    `json:"type"`  // a command, or a path
}

// Words of an UndoAnswer.
const (
	UndoAll      = "all"
	UndoPart     = "part"
	UndoNothing  = "nothing"  // all is as it was
	UndoRefused  = "conflict" // nothing was changed
	MostUndoItem = 2000       // items of an answer
)

// UndoAnswer lists the effects of an undo, done or planned.
type UndoAnswer struct {
	ID      string         `json:"id,omitempty"` // of this undo, which can itself be undone; "" = nothing was changed
	Word    string         `json:"word"`
	Calls   []UndoCall     `json:"calls"`
	Count   map[string]int `json:"count"` // paths without folders, by what is done
	Bytes   int64          `json:"bytes"` // that come back
	Items   []UndoItem     `json:"items"` // the first ones: items that do not come back, then the others
	Lost    []Lost         `json:"lost,omitempty"`
	Preview bool           `json:"preview,omitempty"`
}
