package audit

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// Neither a record nor its export has a character that a person cannot see; both say the
// same, and the export of a record that an older hookd has made is sound.
func TestRecordsAndExportsArePlain(t *testing.T) {
	const hostile = "a\x1b[2J\u009b31m\u007f \u202e\u2066\u200b\U000e0041 \\u009b \\ \" ü 世 \U0001f680"
	detail := map[string]string{"tool": hostile}
	inner, err := json.Marshal(detail)
	if err != nil {
		t.Fatal(err)
	}
	old, err := json.Marshal(Body{1, time.Now().UTC(), Denied, inner})
	if err != nil {
		t.Fatal(err)
	}
	first := Link{1, old, bind(Hash{}, old)}
	second, err := Head{1, first.Hash}.Next(time.Now(), Denied, detail)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.ContainsFunc(second.Text, unseen) || !bytes.ContainsFunc(first.Text, unseen) {
		t.Fatalf("the new record %q, the old %q", second.Text, first.Text)
	}
	c := NewChecker(Head{})
	prev := Hash{}
	for _, r := range []Link{first, second} {
		line := r.Line(prev)
		if bytes.ContainsFunc(bytes.TrimSuffix(line, []byte("\n")), func(r rune) bool { return r < ' ' || unseen(r) }) {
			t.Errorf("the export has what is not seen: %q", line)
		}
		var said struct {
			Record struct{ Detail map[string]string }
		}
		if err := json.Unmarshal(line, &said); err != nil || said.Record.Detail["tool"] != hostile {
			t.Errorf("it says %q, %v", said.Record.Detail["tool"], err)
		}
		got, before, err := ReadLine(line)
		if err != nil || !bytes.Equal(got.Text, r.Text) || before != prev {
			t.Errorf("read again: %q, %v", got.Text, err)
		}
		c.Add(got, &before)
		prev = r.Hash
	}
	if report := c.End(true, nil); len(report.Findings) > 0 {
		t.Errorf("%+v", report.Findings)
	}
	changed := bytes.Replace(first.Line(Hash{}), []byte("世"), []byte("界"), 1)
	if got, before, err := ReadLine(changed); err != nil || bind(before, got.Text) == got.Hash || !strings.Contains(string(got.Text), "界") {
		t.Errorf("a changed line: %q, %v", got.Text, err)
	}
}
