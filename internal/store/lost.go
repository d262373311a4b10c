package store

// lost are numbers of records that were not kept, in the order they were lost.
type lost []Range

// Range is a stretch of numbers, both ends included.
type Range struct{ First, Last uint64 }

// maxLost bounds how exactly it is known what was lost.
const maxLost = 256

func (l *lost) add(n uint64) {
	if n == 0 {
		return
	}
	list := *l
	if len(list) > 0 {
		last := &list[len(list)-1]
		if n == last.Last+1 || len(list) >= maxLost {
			last.First, last.Last = min(last.First, n), max(last.Last, n)
			return
		}
	}
	*l = append(list, Range{n, n})
}
