package process

const LeastHeap = leastHeap

// Percent returns GOGC for a heap of live bytes and roots.
func Percent(live, roots uint64) int { return heap{live: live, roots: roots}.percent() }
