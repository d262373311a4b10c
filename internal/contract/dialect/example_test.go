package dialect_test

import (
	"testing"

	. "github.com/hookd/hookd/internal/events"

	"github.com/hookd/hookd/internal/base/rawjson"
)

func TestExamplesFitTheirContract(t *testing.T) {
	for _, c := range All() {
		data := c.Example()
		if warnings := c.Check(data); len(warnings) > 0 {
			t.Errorf("%s %s: example %s: %v", c.Dialect, c.Name, data, warnings)
		}
		for _, f := range c.Fields {
			if rawjson.Get(data, f.Name) == nil {
				t.Errorf("%s %s: example lacks %s", c.Dialect, c.Name, f.Name)
			}
		}
	}
}
