package coerce

import (
	"fmt"
	"unicode"
	"unicode/utf8"
)

// names finds the column, or the field of a struct, that an object's member is for.
type names struct {
	list   []string // by column
	at     map[string]int
	fold   bool
	expect []int  // column of the n-th member of the object before
	folded []byte // scratch
}

// newNames refuses names that fold alike.
func newNames(list []string, fold bool) (*names, error) {
	n := &names{list: list, at: map[string]int{}, fold: fold}
	for i, name := range list {
		other, twice := n.at[string(n.key([]byte(name)))]
		if twice && fold && list[other] != name {
			return nil, fmt.Errorf("the names %s and %s are alike without case (names: exact tells them apart)", list[other], name)
		}
		if twice {
			return nil, fmt.Errorf("the member %s is for two columns", name)
		}
		n.at[string(n.key([]byte(name)))] = i
	}
	return n, nil
}

// find is the column of an object's n-th member, negative if there is none. Objects of a topic mostly have one order of
// members, so the column that the n-th had before is tried first.
func (n *names) find(i int, name []byte) int {
	if i < len(n.expect) {
		if c := n.expect[i]; c >= 0 && n.list[c] == string(name) {
			return c
		}
	} else {
		n.expect = append(n.expect, -1)
	}
	n.expect[i] = n.column(name)
	return n.expect[i]
}

func (n *names) column(name []byte) int {
	if c, ok := n.at[string(n.key(name))]; ok {
		return c
	}
	return -1
}

// key is the form in which names are compared. It is valid until the next call.
func (n *names) key(name []byte) []byte {
	if !n.fold {
		return name
	}
	n.folded = n.folded[:0]
	for len(name) > 0 {
		r, size := utf8.DecodeRune(name)
		n.folded = utf8.AppendRune(n.folded, unicode.ToLower(r))
		name = name[size:]
	}
	return n.folded
}
