package events

// Keys of hook_specific_output that few agents read. The row of an event Takes the keys
// that its agent reads as the answer to that event. Their names and meanings are Claude
// Code's.
var (
	TakesTitle          = String.Field("session_title", "the title of the session")
	TakesMessage        = String.Field("initial_user_message", "the session's first prompt, of a run without a person")
	TakesWatchPaths     = Array.Field("watch_paths", "absolute paths of files whose changes are reported")
	TakesReloadSkills   = Boolean.Field("reload_skills", "true: look for skills again")
	TakesSuppressPrompt = Boolean.Field("suppress_original_prompt", "true: do not repeat the prompt that was denied")
	TakesRetry          = Boolean.Field("retry", "true: tell the model that it may try the call again")
	TakesAction         = String.Field("action", "accept, decline or cancel: the answer to the server's question")
	TakesContent        = Object.Field("content", "the values that go with the action accept")
	// Up to 2,000 characters, for auto mode's judge alone: it may take it for the user's own words.
	TakesClassifierContext = String.Field("classifier_context", "what auto mode's judge reads beside the result")
	TakesDefer             = Boolean.Field("defer", "true: end the run at this call, which waits until the session is resumed")
)

// Takeable returns all of these keys.
func Takeable() []Field {
	return []Field{
		TakesTitle, TakesMessage, TakesWatchPaths, TakesReloadSkills, TakesSuppressPrompt, TakesRetry,
		TakesAction, TakesContent, TakesDefer, TakesClassifierContext,
	}
}

// TakesKey reports whether the agent reads key of hook_specific_output as an answer to
// the event.
func (c *Contract) TakesKey(key string) bool {
	for _, f := range c.Takes {
		if f.Name == key {
			return true
		}
	}
	return false
}
