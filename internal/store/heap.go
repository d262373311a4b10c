package store

import (
	"sync"

	"modernc.org/libc"
)

// pinHeap allocates one block of each size that SQLite takes and gives back
// each time it splits a page of an index. The allocator of modernc.org/libc
// unmaps 64 KiB as soon as the last block on them is free, so that each split
// would map and unmap memory: a tenth of what the store costs under load. It
// costs a page or two for as long as the process lives.
var pinHeap = sync.OnceFunc(func() {
	tls := libc.NewTLS()
	defer tls.Close()
	for size := 4 << 10; size <= 16<<10; size *= 2 {
		libc.Xmalloc(tls, libc.Tsize_t(size))
	}
})
