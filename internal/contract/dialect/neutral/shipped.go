package neutral

// Shipped says where an agent that is installed ships the names of its events, so that
// they can be compared with the rows of its dialect. The agent is not started.
type Shipped struct {
	// Files are globs, from the folder of the agent's package; "." is its program itself.
	// All that is there is read.
	Files []string
	// Passage is a regular expression for the text that the names stand in, each in quotes. A
	// passage that begins with plain text is found in a large file in little time.
	Passage string
	// Row returns the name of the row for a text in quotes, "" for a text that is no
	// event's name; nil = the text is the name.
	Row func(text string) string
	// Tools is a regular expression for the text that the names of its tools stand in; "" = no list can be read.
	Tools string
	// Left are the events that have no row on purpose.
	Left []LeftOut
	// Elsewhere are rows of events that the agent tells of in another way, under a name that
	// does not stand there.
	Elsewhere string
}

// Reach says what tools of an agent reach that have no canonical name, so that a guard which names canonical
// tools does not match them.
type Reach struct {
	Tools string // the agent's own names, separated by blanks
	What  string // in words for people
	// Unseen says why hookd is not asked about them; "" = it is, under these names.
	Unseen string
}

// LeftOut are events of an agent that have no row, with the reason that users read.
type LeftOut struct {
	Names string // separated by blanks
	Why   string
}
