package familiar

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

var noon = time.Date(2026, 2, 3, 12, 0, 0, 0, time.UTC)

func TestOutputsOfAConversationAreJoined(t *testing.T) {
	var o Outputs
	if got := o.Get("a", noon); got != "" {
		t.Errorf("Get of nothing = %q", got)
	}
	o.Append("a", "one", noon)
	o.Append("b", "other", noon)
	o.Append("a", "", noon)
	o.Append("a", "two", noon)
	if got := o.Get("a", noon); got != "one\ntwo" {
		t.Errorf("Get = %q, want one and two", got)
	}
}

func TestTheNewestOutputsOfAConversationStay(t *testing.T) {
	var o Outputs
	for i := range 5 {
		o.Append("a", strings.Repeat(fmt.Sprint(i), maxOutput/4), noon)
	}
	got := o.Get("a", noon)
	if !strings.HasPrefix(got, "1") || !strings.HasSuffix(got, "4") || len(got) > maxOutput+4 {
		t.Errorf("kept %d bytes from %.1q on, want 1 to 4", len(got), got)
	}
	o.Append("a", "start"+strings.Repeat("é", maxOutput), noon)
	if got := o.Get("a", noon); len(got) > maxOutput || strings.Trim(got, "é") != "" {
		t.Errorf("kept %d bytes of one large output, want its end", len(got))
	}
}

func TestOutputsExpireAndAreBounded(t *testing.T) {
	var o Outputs
	o.Append("old", "x", noon)
	o.Append("used", "x", noon)
	o.Get("used", noon.Add(outputAge/2))
	if got := o.Get("old", noon.Add(outputAge)) + o.Get("used", noon.Add(outputAge)); got != "x" {
		t.Errorf("after a day: %q, want only what was used since", got)
	}
	for i := range maxConversations + 10 {
		o.Append(fmt.Sprint(i), "x", noon.Add(outputAge))
	}
	for i := range maxOutputs/maxOutput + 10 {
		o.Append(fmt.Sprint("large", i), strings.Repeat("x", maxOutput), noon.Add(outputAge))
	}
	if o.size > maxOutputs || o.used.Len() > maxConversations || len(o.byKey) != o.used.Len() {
		t.Errorf("%d bytes in %d conversations", o.size, o.used.Len())
	}
	if o.Get(fmt.Sprint("large", maxOutputs/maxOutput+9), noon.Add(outputAge)) == "" || o.Get("large0", noon.Add(outputAge)) != "" {
		t.Error("the conversation used last is gone, or the first one is not")
	}
	o.Get("nothing", noon.Add(3*outputAge))
	if o.size != 0 || o.used.Len() != 0 {
		t.Errorf("%d bytes in %d conversations are left after days", o.size, o.used.Len())
	}
}

func TestOutputsAreSafeForConcurrentUse(t *testing.T) {
	var o Outputs
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 200 {
				o.Append(fmt.Sprint(j%5), fmt.Sprint(i), noon)
				o.Get(fmt.Sprint(j%3), noon)
			}
		})
	}
	wg.Wait()
	if o.size != 8*200 {
		t.Errorf("%d bytes, want 1600", o.size)
	}
}
