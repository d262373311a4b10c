package builtin

import (
	"context"
	"os"
	"os/user"
	"strings"
)

var addUserInfo = Builtin{
	Name: "add_user_info", Events: []string{"session_start"},
	Doc: "tells the model the user's name, full name and the host's name, as far as they are known",
	Run: userInfo,
}

func userInfo(_ context.Context, c *Invocation) ([]byte, error) {
	var lines []string
	if u, err := user.Current(); err != nil {
		c.log("look up user", err)
	} else {
		lines = append(lines, "User: "+u.Username)
		if full, _, _ := strings.Cut(u.Name, ","); full != "" { // the rest is rooms and telephones
			lines = append(lines, "Full name: "+full)
		}
	}
	if host, err := os.Hostname(); err != nil {
		c.log("look up host name", err)
	} else {
		lines = append(lines, "Hostname: "+host)
	}
	return contextText(titled("Current user:", strings.Join(lines, "\n")))
}
