package rawjson

import "testing"

// A quote ends a string where an even number of backslashes is right before it.
func TestEndOfString(t *testing.T) {
	for text, want := range map[string]int{
		`"" `: 2, `"a"b"`: 3, `"\""x`: 4, `"\\"x`: 4, `"\\\""x`: 6, `"\\\\" "`: 6, `"a\"b\\" "`: 8, `"\`: 2, `"a\"`: 4, `"`: 1,
	} {
		if got := endOfString([]byte(text), 0); got != want {
			t.Errorf("%s ends at %d, want %d", text, got, want)
		}
	}
}
