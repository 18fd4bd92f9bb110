package consume

import (
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"
)

// pool has franz-go use its records again, which are turned into ours as soon as they are polled. What their keys and values lie
// in is not used again: ours lie in it too.
type pool struct{ lists sync.Pool }

var _ kgo.PoolRecords = (*pool)(nil)

func (p *pool) GetRecords(n int) []kgo.Record {
	if list, ok := p.lists.Get().(*[]kgo.Record); ok && cap(*list) >= n {
		return *list
	}
	return make([]kgo.Record, 0, n)
}

func (p *pool) PutRecords(list []kgo.Record) { p.lists.Put(&list) }
