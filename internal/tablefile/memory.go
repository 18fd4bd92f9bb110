package tablefile

import (
	"container/list"
	"sync"
)

// Memory keeps what was read of objects, or made of them, within a budget of bytes. Objects of tables never change, so
// nothing in it gets old; what was not asked for longest goes first. It is safe for concurrent use, and what it
// keeps is not to be changed. A nil Memory keeps nothing.
type Memory struct {
	mu     sync.Mutex
	budget int64
	used   int64
	now    int64                             // counts the uses
	items  map[string]map[Memo]*list.Element // by the object's path
	order  list.List                         // of items, the one used last in front
}

// Memo names what is kept.
type Memo struct {
	What string // kind of thing
	Path string // of the object
	Off  int64  // where in the object it is, for one that holds several
}

type item struct {
	memo  Memo
	value any
	bytes int64
	used  int64 // when
}

// NewMemory makes a memory of so many bytes.
func NewMemory(budget int64) *Memory {
	return &Memory{budget: budget, items: map[string]map[Memo]*list.Element{}}
}

// Now is the time, in uses.
func (m *Memory) Now() int64 {
	if m == nil {
		return 0
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now
}

// Recall returns what is kept under a name.
func Recall[T any](m *Memory, name Memo) (value T, ok bool) {
	if m == nil {
		return value, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.items[name.Path][name]
	if e == nil {
		return value, false
	}
	m.now++
	i := e.Value.(*item)
	i.used = m.now
	m.order.MoveToFront(e)
	value, ok = i.value.(T)
	return value, ok
}

// Reserve takes so many bytes of the budget for what is about to be made, and reports whether they fit, now that all that
// had to go for them has gone: nothing that was used since the given time does. Reserved bytes have to be filled or released.
func (m *Memory) Reserve(bytes, since int64) bool {
	if m == nil {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.room(bytes, since) {
		return false
	}
	m.used += bytes
	return true
}

// Release gives reserved bytes back.
func (m *Memory) Release(bytes int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.used -= bytes
}

// Fill keeps a value for which so many bytes were reserved.
func (m *Memory) Fill(name Memo, value any, bytes int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.used -= bytes
	m.put(name, value, bytes)
}

func (m *Memory) room(bytes, since int64) bool {
	if bytes > m.budget {
		return false
	}
	for m.used+bytes > m.budget {
		last := m.order.Back()
		if last == nil || last.Value.(*item).used > since {
			return false
		}
		m.drop(last)
	}
	return true
}

// Keep keeps a value of about so many bytes. Whatever was used before may go for it.
func (m *Memory) Keep(name Memo, value any, bytes int64) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if e := m.items[name.Path][name]; e != nil {
		m.drop(e)
	}
	if m.room(bytes, m.now) {
		m.put(name, value, bytes)
	}
}

func (m *Memory) put(name Memo, value any, bytes int64) {
	if e := m.items[name.Path][name]; e != nil {
		m.drop(e)
	}
	m.now++
	m.used += bytes
	if m.items[name.Path] == nil {
		m.items[name.Path] = map[Memo]*list.Element{}
	}
	m.items[name.Path][name] = m.order.PushFront(&item{name, value, bytes, m.now})
}

// Forget drops all that is kept of an object.
func (m *Memory) Forget(path string) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range m.items[path] {
		m.drop(e)
	}
}

func (m *Memory) drop(e *list.Element) {
	i := m.order.Remove(e).(*item)
	m.used -= i.bytes
	delete(m.items[i.memo.Path], i.memo)
	if len(m.items[i.memo.Path]) == 0 {
		delete(m.items, i.memo.Path)
	}
}
