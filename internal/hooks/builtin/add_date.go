package builtin

import (
	"context"
	"time"
)

var addDate = Builtin{
	Name: "add_date", Events: []string{"turn_start"},
	Doc: "tells the model today's date, by the local clock",
	Run: func(context.Context, *Invocation) ([]byte, error) {
		return contextText("Today's date: " + time.Now().Format(time.DateOnly))
	},
}
