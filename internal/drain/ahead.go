package drain

import "iter"

// ahead yields what a sequence does, and has its next value made while one is used. When the loop ends, so has the sequence: it
// is told to by stop.
func ahead[T any](seq iter.Seq2[T, error], stop func()) iter.Seq2[T, error] {
	type made struct {
		value T
		err   error
	}
	return func(yield func(T, error) bool) {
		out, left := make(chan made), make(chan struct{})
		go func() {
			defer close(out)
			for v, err := range seq {
				select {
				case out <- made{v, err}:
				case <-left:
					return
				}
			}
		}()
		defer func() {
			close(left)
			stop()
			for range out { // what was being made when the loop was left
			}
		}()
		for m := range out {
			if !yield(m.value, m.err) {
				return
			}
		}
	}
}
