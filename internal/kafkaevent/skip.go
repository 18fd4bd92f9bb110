package kafkaevent

// maxDepth bounds the nesting of what is passed over.
const maxDepth = 64

// skip passes over a value of any kind.
func (t *text) skip(depth int) error {
	if depth > maxDepth {
		return t.fail("too many arrays and objects in one another")
	}
	switch c := t.peek(); {
	case c == '"':
		_, _, err := t.span()
		return err
	case c == '{':
		return t.object(func([]byte) error { return t.skip(depth + 1) })
	case c == '[':
		return t.array(func() error { return t.skip(depth + 1) })
	case c == 't':
		return t.literal("true")
	case c == 'f':
		return t.literal("false")
	case c == 'n':
		return t.literal("null")
	}
	return t.number()
}

// number passes over a number.
func (t *text) number() error {
	if t.pos < len(t.b) && t.b[t.pos] == '-' {
		t.pos++
	}
	first := t.pos
	if err := t.digits(); err != nil {
		return err
	}
	if t.b[first] == '0' && t.pos > first+1 {
		return t.failAt(first, "a number with leading zeros")
	}
	if t.pos < len(t.b) && t.b[t.pos] == '.' {
		t.pos++
		if err := t.digits(); err != nil {
			return err
		}
	}
	if t.pos < len(t.b) && t.b[t.pos]|0x20 == 'e' {
		t.pos++
		if t.pos < len(t.b) && (t.b[t.pos] == '+' || t.b[t.pos] == '-') {
			t.pos++
		}
		return t.digits()
	}
	return nil
}

func (t *text) digits() error {
	start := t.pos
	for t.pos < len(t.b) && t.b[t.pos]-'0' < 10 {
		t.pos++
	}
	if t.pos == start {
		return t.unexpected("a value")
	}
	return nil
}
