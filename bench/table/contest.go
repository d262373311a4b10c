package main

import (
	"fmt"
	"math"
	"slices"
)

// contender is one side of a comparison: run takes one sample.
type contender struct {
	name string
	run  func() (float64, error)
}

// samples are the results of each contender, a value a round.
type samples map[string][]float64

// contest lets all contenders run in turn, as often as there are rounds, each round
// beginning with another contender.
func contest(rounds int, list []contender) (samples, error) {
	got := samples{}
	for round := range rounds {
		for i := range list {
			c := list[(i+round)%len(list)]
			v, err := c.run()
			if err != nil {
				return nil, fmt.Errorf("%s: %w", c.name, err)
			}
			got[c.name] = append(got[c.name], v)
		}
	}
	return got, nil
}

func (s samples) median(name string) float64 { return quantile(s[name], 0.5) }

// ratio is the median of a/b over the rounds.
func (s samples) ratio(a, b string) float64 {
	var list []float64
	for i, v := range s[a] {
		list = append(list, v/s[b][i])
	}
	return quantile(list, 0.5)
}

// quantile does not change list; 0 of nothing.
func quantile(list []float64, q float64) float64 {
	if len(list) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(list))
	return sorted[int(math.Round(q*float64(len(sorted)-1)))]
}

// count writes a number for people: 1,234,567.
func count(v float64) string {
	digits := fmt.Sprintf("%.0f", v)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
