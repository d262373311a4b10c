package store

import (
	"encoding/binary"
	"fmt"
	"math"
	"time"
)

// histogram counts durations in buckets that grow by 2^(1/8), about 9 %, from
// a microsecond to more than an hour. A percentile read from it is within 5 %
// of the exact one.
type histogram [256]uint32

const bucketsPerDouble = 8

func bucketOf(d time.Duration) int {
	us := float64(d) / float64(time.Microsecond)
	if us < 1 {
		return 0
	}
	return min(1+int(math.Log2(us)*bucketsPerDouble), len(histogram{})-1)
}

// middle is the duration that stands for a bucket: its geometric middle.
func middle(bucket int) time.Duration {
	if bucket == 0 {
		return 0
	}
	return time.Duration(math.Exp2((float64(bucket)-0.5)/bucketsPerDouble) * float64(time.Microsecond))
}

func (h *histogram) add(d time.Duration) { h[bucketOf(d)]++ }

func (h *histogram) merge(o *histogram) {
	for i, n := range o {
		h[i] += n
	}
}

// percentile returns the smallest duration that a share p of all do not
// exceed; 0 when there are none.
func (h *histogram) percentile(p float64) time.Duration {
	total := uint64(0)
	for _, n := range h {
		total += uint64(n)
	}
	rank := max(1, uint64(math.Ceil(p*float64(total))))
	for i, n := range h {
		if uint64(n) >= rank {
			return middle(i)
		}
		rank -= uint64(n)
	}
	return 0
}

// encode writes the buckets that are not zero: pairs of the distance to the bucket before
// and the count.
func (h *histogram) encode() []byte {
	out := []byte{}
	last := 0
	for i, n := range h {
		if n > 0 {
			out = binary.AppendUvarint(out, uint64(i-last))
			out = binary.AppendUvarint(out, uint64(n))
			last = i
		}
	}
	return out
}

func (h *histogram) decode(in []byte) error {
	at := uint64(0)
	for len(in) > 0 {
		step, n := binary.Uvarint(in)
		if n <= 0 {
			return fmt.Errorf("read histogram: %w", errCorrupt)
		}
		count, m := binary.Uvarint(in[n:])
		if at += step; m <= 0 || at >= uint64(len(h)) || count > math.MaxUint32 {
			return fmt.Errorf("read histogram: %w", errCorrupt)
		}
		h[at] = uint32(count)
		in = in[n+m:]
	}
	return nil
}
