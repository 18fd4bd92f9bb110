package drain_test

import (
	"context"
	"errors"
	"iter"
	"testing"
	"testing/synctest"

	"github.com/frazil/frazil/internal/drain"
	"github.com/google/go-cmp/cmp"
)

// numbers counts how many of them were made.
func numbers(made *int, end error) iter.Seq2[int, error] {
	return func(yield func(int, error) bool) {
		for n := range 3 {
			*made++
			if !yield(n, nil) {
				return
			}
		}
		yield(0, end)
	}
}

func TestTheNextValueIsMadeWhileOneIsUsed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var made int
		var got, ahead []int
		for n, err := range drain.Ahead(numbers(&made, errors.ErrUnsupported), func() {}) {
			synctest.Wait()
			if err != nil {
				break
			}
			got, ahead = append(got, n), append(ahead, made)
		}
		if diff := cmp.Diff([][]int{{0, 1, 2}, {2, 3, 3}}, [][]int{got, ahead}); diff != "" {
			t.Error(diff)
		}
	})
}

// A value that would be long in coming is given up.
func TestALoopThatIsLeftEndsTheSequence(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	ended := false
	for range drain.Ahead(func(yield func(int, error) bool) {
		defer func() { ended = true }()
		if yield(0, nil) {
			<-ctx.Done()
			yield(1, nil)
		}
	}, stop) {
		break
	}
	if !ended {
		t.Error("the sequence goes on")
	}
}
