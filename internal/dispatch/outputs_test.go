package dispatch

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

var noon = time.Date(2026, 2, 3, 12, 0, 0, 0, time.UTC)

func TestOutputsOfAConversationAreJoined(t *testing.T) {
	var o outputs
	if got := o.get("a", noon); got != "" {
		t.Errorf("get of nothing = %q", got)
	}
	o.add("a", "one", noon)
	o.add("b", "other", noon)
	o.add("a", "", noon)
	o.add("a", "two", noon)
	if got := o.get("a", noon); got != "one\ntwo" {
		t.Errorf("get = %q, want one and two", got)
	}
}

func TestTheNewestOutputsOfAConversationStay(t *testing.T) {
	var o outputs
	for i := range 5 {
		o.add("a", strings.Repeat(fmt.Sprint(i), maxOutput/4), noon)
	}
	got := o.get("a", noon)
	if !strings.HasPrefix(got, "1") || !strings.HasSuffix(got, "4") || len(got) > maxOutput+4 {
		t.Errorf("kept %d bytes from %.1q on, want 1 to 4", len(got), got)
	}
	o.add("a", "start"+strings.Repeat("é", maxOutput), noon)
	if got := o.get("a", noon); len(got) > maxOutput || strings.Trim(got, "é") != "" {
		t.Errorf("kept %d bytes of one large output, want its end", len(got))
	}
}

func TestOutputsExpireAndAreBounded(t *testing.T) {
	var o outputs
	o.add("old", "x", noon)
	o.add("used", "x", noon)
	o.get("used", noon.Add(outputAge/2))
	if got := o.get("old", noon.Add(outputAge)) + o.get("used", noon.Add(outputAge)); got != "x" {
		t.Errorf("after a day: %q, want only what was used since", got)
	}
	for i := range maxConversations + 10 {
		o.add(fmt.Sprint(i), "x", noon.Add(outputAge))
	}
	for i := range maxOutputs/maxOutput + 10 {
		o.add(fmt.Sprint("large", i), strings.Repeat("x", maxOutput), noon.Add(outputAge))
	}
	if o.size > maxOutputs || o.used.Len() > maxConversations || len(o.byKey) != o.used.Len() {
		t.Errorf("%d bytes in %d conversations", o.size, o.used.Len())
	}
	if o.get(fmt.Sprint("large", maxOutputs/maxOutput+9), noon.Add(outputAge)) == "" || o.get("large0", noon.Add(outputAge)) != "" {
		t.Error("the conversation used last is gone, or the first one is not")
	}
	o.get("nothing", noon.Add(3*outputAge))
	if o.size != 0 || o.used.Len() != 0 {
		t.Errorf("%d bytes in %d conversations are left after days", o.size, o.used.Len())
	}
}

func TestOutputsAreSafeForConcurrentUse(t *testing.T) {
	var o outputs
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 200 {
				o.add(fmt.Sprint(j%5), fmt.Sprint(i), noon)
				o.get(fmt.Sprint(j%3), noon)
			}
		})
	}
	wg.Wait()
	if o.size != 8*200 {
		t.Errorf("%d bytes, want 1600", o.size)
	}
}
