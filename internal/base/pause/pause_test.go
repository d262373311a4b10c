package pause

import (
	"testing"
	"time"
)

func TestDoubled(t *testing.T) {
	for _, tt := range []struct {
		first, most time.Duration
		tries       int
		want        time.Duration
	}{
		{time.Second, time.Minute, 0, time.Second},
		{time.Second, time.Minute, 3, 8 * time.Second},
		{time.Second, time.Minute, 6, time.Minute},
		{time.Second, time.Minute, 1 << 40, time.Minute},
		{time.Hour, time.Minute, 0, time.Minute},
	} {
		if got := Doubled(tt.first, tt.most, tt.tries); got != tt.want {
			t.Errorf("Doubled(%s, %s, %d) is %s, want %s", tt.first, tt.most, tt.tries, got, tt.want)
		}
	}
}

func TestBounds(t *testing.T) {
	const d = 100 * time.Nanosecond
	least, most := d, d
	for range 10_000 {
		if got := About(d); got < d/2 || got >= 3*d/2 {
			t.Fatalf("About(%s) is %s", d, got)
		}
		got := Within(d)
		least, most = min(least, got), max(most, got)
	}
	if least != d/2 || most != d {
		t.Errorf("Within(%s) is from %s to %s", d, least, most)
	}
}

func TestFor(t *testing.T) {
	end := make(chan struct{})
	if !For(time.Nanosecond, end) {
		t.Error("it did not wait")
	}
	close(end)
	if For(time.Hour, end) {
		t.Error("it did not end")
	}
}
