package shellsafe

import "testing"

// One turn is every line of the table.
func BenchmarkAssess(b *testing.B) {
	for b.Loop() {
		for _, tt := range table {
			Assess(tt.line)
		}
	}
}
