package store

import "modernc.org/libc"

// slack keeps room in the heap of SQLite for some blocks. SQLite takes and gives back these blocks
// each time it splits a page. The allocator of modernc.org/libc maps 64 KiB when all blocks of a
// size are taken. It unmaps them when the last block on them is free. Where the blocks that stay
// fill the mapped memory, each split maps and unmaps memory: up to a fifth of the processor time of
// the store.
//
// One block of each size is held. Another block is taken before the first is given back. So there
// is a free block afterwards, whatever else was taken meanwhile.
type slack struct {
	tls    *libc.TLS // nil = nothing is held
	blocks [len(slackSizes)]uintptr
}

// slackSizes are the sizes that a split of a 4 KiB page and an event of 1 to 16 KiB take, one for each size of
// the allocator.
var slackSizes = [...]libc.Tsize_t{2 << 10, 4 << 10, 8 << 10, 16 << 10}

// renew is called once in a while: it takes less than a microsecond.
func (s *slack) renew() {
	if s.tls == nil {
		s.tls = libc.NewTLS()
	}
	for i, size := range slackSizes {
		was := s.blocks[i]
		s.blocks[i] = libc.Xmalloc(s.tls, size)
		libc.Xfree(s.tls, was)
	}
}

// release gives all back.
func (s *slack) release() {
	if s.tls == nil {
		return
	}
	for i, block := range s.blocks {
		libc.Xfree(s.tls, block)
		s.blocks[i] = 0
	}
	s.tls.Close()
	s.tls = nil
}
