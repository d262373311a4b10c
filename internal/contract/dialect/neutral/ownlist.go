package neutral

// OwnList is the file in which an agent takes a list of calls that need no question, for an agent
// that asks although a hook allows. The file is hookd's alone.
type OwnList struct {
	File string // below the folder of the agent's settings
	// Text is the file for commands, each its words; it begins with OwnListMark. The words have
	// nothing that a shell or the file's syntax would read otherwise.
	Text  func(commands [][]string) string
	Loose string // other calls that an entry lets through; "" = none
}

// OwnListMark is the first line of such a file.
const OwnListMark = "# Written by hookd learn; hookd learn --undo and hookd disconnect take it out.\n"
