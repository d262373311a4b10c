package hook

// Template is text with placeholders for values of an event. It has no values and may
// be bound by many runs at once.
type Template interface {
	// Bind makes the text of one run. values returns the text of a variable, and
	// whether there is one of that name. On an error, such as a word where a number is
	// required, the run fails before it starts.
	Bind(values func(name string) (text string, known bool)) (Bound, error)
}

// Bound is a template with the values of one event. No value is part of a
// script's Text: there they come from Env and Files, so that none of them can
// become shell text.
type Bound struct {
	Text    string      // what to run, or the prompt
	Env     []string    // NAME=value, on top of all other variables
	Files   []BoundFile // values that are too large for the environment
	Unknown []string    // variables that do not exist: empty, and worth one WARN
}

// BoundFile is a value that a script reads from a file. The caller writes it
// with mode 0600, sets the variable Env to its absolute path and removes it
// after the run.
type BoundFile struct {
	Env     string
	Content []byte
}
