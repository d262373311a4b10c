package convert

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/contract/api"
	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/events"
)

// fill gives each field under v a value of its own that is not zero.
func fill(v reflect.Value, n *int) {
	*n++
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprint("text ", *n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Uint64:
		v.SetUint(uint64(*n))
	case reflect.Float64:
		v.SetFloat(float64(*n))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Map:
		value := reflect.New(v.Type().Elem()).Elem()
		fill(value, n)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("key"), value)
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), n)
		}
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			v.SetBytes(fmt.Appendf(nil, `{"n":%d}`, *n))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), n)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(int64(*n), 0).UTC()))
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i), n)
			}
		}
	default:
		panic("no value for a " + v.Type().String())
	}
}

func filled[T any]() (v T) {
	n := 0
	fill(reflect.ValueOf(&v).Elem(), &n)
	return v
}

// same fails where two values differ as JSON.
func same(t *testing.T, got, want any) {
	t.Helper()
	a, errA := json.Marshal(got)
	b, errB := json.Marshal(want)
	if err := errors.Join(errA, errB); err != nil || string(a) != string(b) {
		t.Errorf("got  %s\nwant %s (%v)", a, b, err)
	}
}

// No member is lost or put into the place of another.
func TestConversionsKeepEachMember(t *testing.T) {
	same(t, Event(filled[events.Envelope]()), filled[events.Envelope]())
	v := filled[client.Verdict]()
	same(t, Verdict(&v), filled[verdict.Verdict]())
	same(t, Tests(filled[api.Tests]()), filled[api.Tests]())
	same(t, Problems([]api.Problem{filled[api.Problem]()}), []api.Problem{filled[api.Problem]()})
	tested, err := TestResult(filled[api.Tested]())
	if err != nil {
		t.Fatal(err)
	}
	same(t, tested, filled[api.Tested]())
	local, remote := filled[events.Error](), filled[client.Error]()
	same(t, Error(fmt.Errorf("emit: %w", &local)), &local)
	same(t, Error(fmt.Errorf("emit: %w", &remote)), &remote)
}

func TestConversionsOfNothing(t *testing.T) {
	if Verdict(nil) != nil || Error(nil) != nil || Error(errors.New("other")) != nil {
		t.Error("nothing became something")
	}
	text, err := json.Marshal(Problems(nil))
	if err != nil || strings.TrimSpace(string(text)) != "[]" {
		t.Errorf("no problems are %s, %v", text, err)
	}
}
