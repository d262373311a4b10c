package crush

import "github.com/hookd/hookd/internal/contract/verdict"

// Words are the words in which Crush's own hooks answer, beside the common ones.
func Words() []verdict.Word {
	return []verdict.Word{
		{Key: "decision", Means: "permission_decision", Says: "allow=allow deny=deny"},
		{Key: "halt", Means: "continue", Says: "true=false false="},
		{Key: "context", Means: "additional_context"}, {Key: "version"},
	}
}
