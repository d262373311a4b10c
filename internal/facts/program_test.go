package facts

import (
	"reflect"
	"strings"
	"testing"
)

// filled returns a table each of whose fields is set, with texts that begin with name.
func filled(t *testing.T, name string) (all table) {
	t.Helper()
	for v, i := reflect.ValueOf(&all).Elem(), 0; i < v.NumField(); i++ {
		switch f := v.Field(i); f.Kind() {
		case reflect.String:
			f.SetString(name)
		case reflect.Bool:
			f.SetBool(true)
		case reflect.Int:
			f.SetInt(int64(len(name)))
		case reflect.Slice:
			f.Set(reflect.MakeSlice(f.Type(), 0, 0))
		case reflect.Map:
			f.Set(reflect.MakeMap(f.Type()))
		case reflect.Pointer:
			f.Set(reflect.New(f.Type().Elem()))
		default:
			t.Fatalf("say what %s of a table is", v.Type().Field(i).Name)
		}
	}
	return all
}

// A mode and a subcommand lose no field of the entries that they are made of.
func TestDerivedEntriesHaveEachField(t *testing.T) {
	empty, full := &entry{}, &entry{table: filled(t, "full")}
	for what, tt := range map[string]struct {
		got  *entry
		want string // the value of each text
		but  string // fields that are not as in a filled table
	}{
		"a mode that says all":     {full.over(&mode{table: filled(t, "mode")}), "mode", "Options Modes"},
		"a mode that says nothing": {full.over(&mode{}), "full", "Options Modes"},
		"over nothing":             {empty.over(&mode{table: filled(t, "mode")}), "mode", "Options Modes"},
		"a subcommand":             {full.under(empty), "full", "Options"},
	} {
		want := filled(t, tt.want)
		for v, i := reflect.ValueOf(tt.got.table), 0; i < v.NumField(); i++ {
			name, field := v.Type().Field(i).Name, reflect.ValueOf(want).Field(i)
			if !strings.Contains(tt.but, name) && (v.Field(i).IsZero() || field.Kind() != reflect.Pointer &&
				!reflect.DeepEqual(v.Field(i).Interface(), field.Interface())) {
				t.Errorf("%s: %s is %v", what, name, v.Field(i))
			}
		}
	}
	if got := full.under(full).Options + "," + full.over(&mode{table: filled(t, "mode")}).Options; got != "full full,full mode" {
		t.Errorf("got the options %q", got)
	}
}
