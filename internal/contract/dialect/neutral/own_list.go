package neutral

// OwnList is the file in which an agent takes a list of calls that need no question, for an agent
// that asks although a hook allows. The file is hookd's alone.
type OwnList struct {
	File string // below the folder of the agent's settings
	// At is the list in the agent's settings that takes the entries, where it has no file for them; File
	// then says which entries are hookd's. Nil = File is the list.
	At []string
	// Entry is a command as an entry of that list.
	Entry func(words []string) string
	When  string // when the agent asks although a hook allows; "" = always
	// Text is the file for commands, each its words; it begins with OwnListMark. The words have
	// nothing that a shell or the file's syntax would read otherwise.
	Text  func(commands [][]string) string
	Loose string // other calls that an entry lets through; "" = none
}

// OwnListMark is the first line of such a file.
const OwnListMark = "# Written by hookd learn; hookd learn --undo and hookd disconnect take it out.\n"
