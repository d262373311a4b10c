package builtin

import (
	"context"
	"fmt"
	"strconv"
)

var maxIterations = Builtin{
	Name: "max_iterations", Events: []string{"before_llm_call"},
	Args: "how many model calls a run may make, required",
	Doc:  "ends the run at its first model call beyond the limit; keeps no count of its own",
	Run:  limitIterations,
}

// limitIterations trusts the iteration that the event carries. A limit that is
// missing or no positive number is no limit.
func limitIterations(_ context.Context, c *Invocation) ([]byte, error) {
	if len(c.Args) == 0 {
		return nil, nil
	}
	limit, err := strconv.ParseFloat(c.Args[0], 64)
	if err != nil || limit <= 0 {
		return nil, nil
	}
	var payload struct {
		Iteration float64 `json:"iteration"`
	}
	if err := c.read(&payload); err != nil {
		return nil, err
	}
	if payload.Iteration <= limit {
		return nil, nil
	}
	return answer{
		Decision: "block",
		Reason:   fmt.Sprintf("Agent terminated: max_iterations builtin reached its limit of %s model call(s).", c.Args[0]),
	}.encode()
}
