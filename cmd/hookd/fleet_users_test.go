package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/fleet"
)

// A list has the permissions of this version for entries that an older one made, and leaves other
// texts as they are.
func TestEntriesAreRenewed(t *testing.T) {
	key := "U" + strings.Repeat("A", 55)
	for _, role := range fleet.Roles() {
		now := fleet.Names{Tenant: "t", Machine: "m-1"}.User(role, "_INBOX.m-1", key, "2027-11-30")
		old := strings.Replace(now, "\n        \"$SYS.REQ.USER.INFO\"", "", 1)
		if got := fleet.Renew(old); got != now || old == now {
			t.Errorf("%s: the entry is %s, want %s", role, got, now)
		}
	}
	for _, other := range []string{"", "{ nkey: X }", "{ # m, king\n    nkey: " + key + "\n \"_INBOX.m.>\" \"hookd.t.m.log\"}"} {
		if got := fleet.Renew(other); got != other {
			t.Errorf("%q became %q", other, got)
		}
	}
}

// Keys that are revoked, or whose last day is over, are in no list for the servers. A last day
// that cannot be read fails: a key that was to end may not stay.
func TestKeysThatAreOverAreNotListed(t *testing.T) {
	dir, now := t.TempDir(), time.Date(2027, 11, 30, 23, 59, 0, 0, time.UTC)
	entry := func(name, until string) {
		text := fleet.Names{Tenant: "t", Machine: name}.User(fleet.RoleMachine, "_INBOX."+name, "KEY-OF-"+name, until)
		hooktest.Write(t, filepath.Join(dir, name), text, 0o600)
	}
	entry("laptop", "2027-11-30")
	entry("old", "2027-11-29")
	entry("stolen", "")
	entry("server", "")
	hooktest.Must(t, revokeUser(dir, "stolen"))
	hooktest.Must(t, revokeUser(dir, "stolen"))
	for _, name := range []string{"no-entry", "../" + filepath.Base(dir) + "/server"} {
		if revokeUser(dir, name) == nil {
			t.Errorf("%s is revoked", name)
		}
	}
	list, err := userEntries(dir, now)
	hooktest.Must(t, err)
	text := usersText(list)
	for name, listed := range map[string]bool{"laptop": true, "server": true, "old": false, "stolen": false} {
		if strings.Contains(text, "KEY-OF-"+name) != listed {
			t.Errorf("listed is not %t for %s in %s", listed, name, text)
		}
	}
	if !strings.Contains(text, "# old: expired on 2027-11-29") || !strings.Contains(text, "# stolen: revoked") {
		t.Errorf("the list does not say what it leaves out: %s", text)
	}
	if list, err = userEntries(dir, now.Add(time.Minute)); err != nil || strings.Contains(usersText(list), "KEY-OF-laptop") {
		t.Errorf("the day after the last one: %v, %v", usersText(list), err)
	}
	if list, err = userEntries(dir, now.Add(-13*24*time.Hour)); err != nil || list[0].Ends != "2027-11-30" || list[2].Ends != "" {
		t.Errorf("two weeks before: %+v, %v", list, err)
	}
	entry("broken", "tomorrow")
	if _, err := userEntries(dir, now); err == nil {
		t.Error("a last day that cannot be read is none")
	}
}

// One text that servers cannot read, or one key in two entries, has them refuse the list as a whole: they go on
// with the list before, and a key that was revoked stays in force. So no list is written then.
func TestAListThatServersRefuseIsNotWritten(t *testing.T) {
	key := func(letter string) string { return "U" + strings.Repeat(letter, 55) }
	entry := func(name, key string) string {
		return fleet.Names{Tenant: "t", Machine: name}.User(fleet.RoleMachine, "_INBOX."+name, key, "")
	}
	for name, one := range map[string]struct {
		files map[string]string
		want  string // in the error; "" = none
	}{
		"two machines":     {map[string]string{"a": entry("a", key("A")), "b": entry("b", key("B"))}, ""},
		"by hand":          {map[string]string{"a": "{ user: m, password: \"a}b\" } # it's } theirs"}, ""},
		"another key":      {map[string]string{"a": entry("a", key("A")), "a.revoked": entry("a", key("B"))}, ""},
		"revoked twice":    {map[string]string{"a.revoked": entry("a", key("A")), "b.revoked": entry("b", key("A"))}, ""},
		"one key":          {map[string]string{"a": entry("a", key("A")), "b": entry("b", key("A"))}, "have the same key"},
		"a copy":           {map[string]string{"a": entry("a", key("A")), "a~": entry("a", key("A"))}, "have the same key"},
		"a revoked key":    {map[string]string{"a.revoked": entry("a", key("A")), "b": entry("b", key("A"))}, "have the same key"},
		"later revoked":    {map[string]string{"a": entry("a", key("A")), "b.revoked": entry("b", key("A"))}, "have the same key"},
		"nothing":          {map[string]string{"a": ""}, "no entry"},
		"another text":     {map[string]string{"a": "see the wiki"}, "no entry"},
		"an end too many":  {map[string]string{"a": entry("a", key("A")) + "}"}, "no entry"},
		"an end too few":   {map[string]string{"a": strings.TrimSuffix(entry("a", key("A")), "}")}, "no entry"},
		"two in a file":    {map[string]string{"a": entry("a", key("A")) + entry("b", key("B"))}, "no entry"},
		"another bracket":  {map[string]string{"a": "{ nkey: [X} }"}, "no entry"},
		"a broken revoked": {map[string]string{"a.revoked": "{"}, ""},
	} {
		dir := t.TempDir()
		for file, text := range one.files {
			hooktest.Write(t, filepath.Join(dir, file), text, 0o600)
		}
		_, err := userEntries(dir, time.Now())
		if err != nil != (one.want != "") || err != nil && !strings.Contains(err.Error(), one.want) {
			t.Errorf("%s: the error is %v, want %q", name, err, one.want)
		}
	}
}
