package wire

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"
)

// Every field of a run is written, and read back as it was.
func TestRunIsAppendedWhole(t *testing.T) {
	full := Run{Started: time.Date(2026, 11, 21, 8, 0, 0, 1500, time.UTC)}
	fill(reflect.ValueOf(&full).Elem())
	full.Stdout.Head, full.Stdout.Tail, full.Stderr.Head, full.Stderr.Tail, full.Seq = "", "", "", "", 0
	odd := Run{Error: "a \"quote\", a line\nend, <&> and \x01 é 漢", QueueMS: 1e-7, DurationMS: 1.5e22, ExitCode: -1}
	for name, want := range map[string]Run{"full": full, "odd": odd, "zero": {}} {
		text := append(want.AppendDetail(want.AppendSubject([]byte{'{'})), '}')
		var got Run
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatalf("%s: %v: %s", name, err, text)
		}
		if got != want {
			t.Errorf("%s: got %+v, want %+v", name, got, want)
		}
		var members, marshaled map[string]any
		other, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		if json.Unmarshal(text, &members) != nil || json.Unmarshal(other, &marshaled) != nil || !reflect.DeepEqual(members, marshaled) {
			t.Errorf("%s: got %s, encoding/json writes %s", name, text, other)
		}
	}
}

// fill gives every field of a struct a value that is not zero; times keep theirs.
func fill(v reflect.Value) {
	for i := range v.NumField() {
		f := v.Field(i)
		switch f.Kind() {
		case reflect.String:
			f.SetString(v.Type().Field(i).Name)
		case reflect.Int, reflect.Int64:
			f.SetInt(int64(i + 3))
		case reflect.Uint64:
			f.SetUint(uint64(i + 3))
		case reflect.Float64:
			f.SetFloat(float64(i) + 0.25)
		case reflect.Bool:
			f.SetBool(true)
		case reflect.Array:
			for n := range f.Len() {
				f.Index(n).SetInt(int64(n + 5))
			}
		case reflect.Struct:
			if f.Type() != reflect.TypeFor[time.Time]() {
				fill(f)
			}
		}
	}
}
