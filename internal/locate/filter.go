package locate

import "math/bits"

// filter tells most hashes that are not of a set from those that are. Asked in the order of hashes it goes through its bits once.
type filter struct {
	bits  []uint64
	shift int
}

// newFilter makes the filter of a set that is to have so many hashes, with perHash bits for each, at least.
func newFilter(hashes, perHash int) *filter {
	size := max(64, 1<<bits.Len(uint(hashes*perHash-1)))
	return &filter{make([]uint64, size/64), 64 - bits.TrailingZeros(uint(size))}
}

func (f *filter) add(hash uint64) {
	n := hash >> f.shift
	f.bits[n/64] |= 1 << (n % 64)
}

func (f *filter) may(hash uint64) bool {
	n := hash >> f.shift
	return f.bits[n/64]&(1<<(n%64)) != 0
}
