package locate

import "slices"

// spread sorts a list whose order is that of numbers that are spread about evenly: place tells where in a list of that length an
// element is likely to end up, and is never less for a greater one. It takes a pass where the guess is good, and is an ordinary
// sort at worst.
func spread[T any](list []T, place func(*T) int, compare func(a, b T) int) []T {
	ends := make([]int32, len(list)+1)
	for i := range list {
		ends[place(&list[i])+1]++
	}
	for i := range list {
		ends[i+1] += ends[i]
	}
	out := make([]T, len(list))
	for i := range list {
		p := place(&list[i])
		out[ends[p]] = list[i]
		ends[p]++ // in the end it is where the place ends
	}
	for from, n := int32(0), 0; n < len(list); n++ {
		if to := ends[n]; to > from+1 {
			slices.SortFunc(out[from:to], compare)
		}
		from = ends[n]
	}
	return out
}
