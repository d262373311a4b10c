package daemon

import (
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestOnlyWhatIsAsTheFileHasItIsUnmapped(t *testing.T) {
	const smaps = `00400000-01196000 r-xp 00000000 fe:00 10019248                           /opt/hookd
Rss:               11672 kB
Anonymous:             0 kB
VmFlags: rd ex mr mw me
01196000-0209e000 r--p 00d96000 fe:00 10019248                           /opt/hookd
Anonymous:             8 kB
0209e000-02147000 rw-p 01c9e000 fe:00 10019248                           /opt/hookd
Anonymous:             0 kB
02147000-02148000 r--s 01c9e000 fe:00 10019248                           /opt/hookd
Anonymous:             0 kB
7f0000000000-7f0000001000 r--p 00000000 fe:00 10019249                   /opt/hookd.db
Anonymous:             0 kB
7f1b66017000-7f1b66089000 r--p 00000000 00:00 0
Anonymous:             0 kB
7f1b661f1000-7f1b661f2000 r--p 00000000 fe:00 10019248                   /opt/hookd
Anonymous:             0 kB
`
	got, want := untouched(strings.NewReader(smaps), "/opt/hookd"), []span{{0x400000, 0x1196000}, {0x7f1b661f1000, 0x7f1b661f2000}}
	if !slices.Equal(got, want) {
		t.Errorf("untouched = %x, want %x", got, want)
	}
}

func TestUnmapProgram(t *testing.T) {
	before := residentFile(t)
	unmapProgram()
	if after := residentFile(t); after >= before {
		t.Errorf("%d KiB of files are resident, %d were before", after, before)
	}
}

// residentFile is how much of files is mapped and resident, in KiB.
func residentFile(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`RssFile:\s+(\d+) kB`).FindSubmatch(text)
	if m == nil {
		t.Skip("this system does not say how much of files is resident")
	}
	n, _ := strconv.Atoi(string(m[1])) // digits
	return n
}
