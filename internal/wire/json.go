package wire

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode/utf8"
)

// maxDepth bounds how many containers may be in one another.
const maxDepth = 512

// none is the parent of the outermost container.
const none = ^uint32(0)

// parser tokenizes the document of doc, whose slices it holds itself while it works. It keeps no stack: an open
// container's token holds its parent, where in the shape its members are, and (escaped) that names are to be compared.
type parser struct {
	doc   *Doc
	src   []byte
	tape  []token
	pos   int
	open  uint32 // the innermost open container
	depth int
}

func (p *parser) fail(pos int, problem string) error {
	return &SyntaxError{Pos: pos, Problem: problem}
}

// parse reads the document, or from pos on, inside so many containers, one value of it. It returns the position
// after that.
func (d *Doc) parse(pos, depth int) (int, error) {
	p := parser{doc: d, src: d.src, tape: d.tape, pos: pos, open: none, depth: depth}
	err := p.tree()
	d.tape = p.tape
	if err != nil {
		d.shape.forget()
	}
	return p.pos, err
}

// tree reads a value and all that it holds.
func (p *parser) tree() error {
	if err := p.value(); err != nil {
		return err
	}
	for p.open != none {
		if err := p.step(); err != nil {
			return err
		}
	}
	return nil
}

// step reads one more member or element of the innermost container, or its end.
func (p *parser) step() error {
	kind, end := p.tape[p.open].kind, byte(']')
	if kind == Object {
		if p.foreseen() {
			return p.value()
		}
		end = '}'
	}
	from := p.pos
	c := p.peek()
	if c == end {
		return p.close()
	}
	if !p.first() {
		if c != ',' {
			return p.unexpected("a comma or the end of the " + kind.String())
		}
		p.pos++
	}
	if kind == Object {
		if err := p.memberName(from); err != nil {
			return err
		}
	}
	return p.value()
}

// value reads a scalar, or the opening of a container.
func (p *parser) value() error {
	c := p.peek()
	switch {
	case c == '"':
		return p.text(Text)
	case c == '{':
		return p.enter(Object)
	case c == '[':
		return p.enter(Array)
	case c == '-' || c-'0' < 10:
		return p.number()
	case c == 't':
		return p.literal("true", Bool)
	case c == 'f':
		return p.literal("false", Bool)
	case c == 'n':
		return p.literal("null", Null)
	}
	return p.unexpected("a value")
}

func (p *parser) enter(k Kind) error {
	if p.depth == maxDepth {
		return p.fail(p.pos, "too many arrays and objects in one another")
	}
	p.depth++
	holder, inside := p.open, uint32(0)
	if holder != none {
		inside = p.tape[holder].end
	}
	p.open = uint32(len(p.tape))
	p.push(p.pos, int(inside), k, false)
	p.tape[p.open].next = holder
	p.pos++
	return nil
}

// close ends the innermost container at its closing bracket.
func (p *parser) close() error {
	p.pos++
	t := &p.tape[p.open]
	parent := t.next
	t.end, t.next = uint32(p.pos), uint32(len(p.tape))
	if t.escaped && p.doc.repeats(p.tape, p.open) {
		return p.fail(int(t.start), "an object has two members of one name")
	}
	t.escaped = false
	p.open = parent
	p.depth--
	return nil
}

// memberName reads a name and all up to its value. The value before ends at from.
func (p *parser) memberName(from int) error {
	if p.peek() != '"' {
		return p.unexpected("a member name")
	}
	first := p.first()
	if err := p.text(Absent); err != nil {
		return err
	}
	if p.peek() != ':' {
		return p.unexpected("a colon")
	}
	p.pos++
	p.space()
	t := &p.tape[len(p.tape)-1]
	p.learn(first, from, *t)
	if t.escaped {
		n := len(p.doc.names)
		p.doc.names = AppendUnescaped(p.doc.names, p.src[t.start:t.end])
		t.start, t.end = uint32(n), uint32(len(p.doc.names))
	}
	return nil
}

func (p *parser) literal(word string, k Kind) error {
	end := p.pos + len(word)
	if end > len(p.src) || string(p.src[p.pos:end]) != word {
		return p.unexpected("a value")
	}
	p.push(p.pos, end, k, false)
	p.pos = end
	return nil
}

// number checks the grammar and leaves the digits as they are.
func (p *parser) number() error {
	start := p.pos
	if p.src[p.pos] == '-' {
		p.pos++
	}
	whole := p.pos
	if p.digits() == 0 {
		return p.unexpected("a digit")
	}
	if p.src[whole] == '0' && p.pos > whole+1 {
		return p.fail(whole, "a number with leading zeros")
	}
	if p.at('.') {
		p.pos++
		if p.digits() == 0 {
			return p.unexpected("a digit")
		}
	}
	if p.at('e') || p.at('E') {
		p.pos++
		if p.at('+') || p.at('-') {
			p.pos++
		}
		if p.digits() == 0 {
			return p.unexpected("a digit")
		}
	}
	p.push(start, p.pos, Number, false)
	return nil
}

// digits passes over digits and returns how many there were.
func (p *parser) digits() int {
	i := p.pos
	for i < len(p.src) && p.src[i]-'0' < 10 {
		i++
	}
	n := i - p.pos
	p.pos = i
	return n
}

// push adds a token, in place: one that is put together first and appended then costs twice as much.
func (p *parser) push(start, end int, k Kind, escaped bool) {
	n := len(p.tape)
	if n == cap(p.tape) {
		p.tape = slices.Grow(p.tape, n+1)
	}
	p.tape = p.tape[:n+1]
	p.tape[n].set(start, end, n, k)
	p.tape[n].escaped = escaped
}

func (p *parser) at(c byte) bool { return p.pos < len(p.src) && p.src[p.pos] == c }

// peek passes over white space and returns the byte after it, 0 at the end. A NUL in the input is no token,
// so the two need no telling apart until an error is made.
func (p *parser) peek() byte {
	if p.pos < len(p.src) && p.src[p.pos] > ' ' {
		return p.src[p.pos]
	}
	p.space()
	if p.pos == len(p.src) {
		return 0
	}
	return p.src[p.pos]
}

func (p *parser) space() { p.pos = skipSpace(p.src, p.pos) }

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\r' || b[i] == '\t') {
		i++
	}
	return i
}

func (p *parser) unexpected(want string) error {
	if p.pos >= len(p.src) {
		return p.fail(len(p.src), "unexpected end, expected "+want)
	}
	return p.fail(p.pos, "expected "+want)
}

// text reads a quoted text and pushes it.
func (p *parser) text(k Kind) error {
	start := p.pos + 1
	p.pos = start
	escaped, wide := false, false
	for {
		p.pos = plainEnd(p.src, p.pos)
		if p.pos == len(p.src) {
			return p.unexpected("a closing quote")
		}
		switch c := p.src[p.pos]; {
		case c == '"':
			if wide && !utf8.Valid(p.src[start:p.pos]) {
				return p.fail(start, "a text is not valid UTF-8")
			}
			p.push(start, p.pos, k, escaped)
			p.pos++
			return nil
		case c == '\\':
			escaped = true
			if err := p.escape(); err != nil {
				return err
			}
		case c < ' ':
			return p.fail(p.pos, "a control character in a text")
		default:
			wide = true
			p.pos++
		}
	}
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// plainEnd returns the first position from i on that holds a quote, a backslash, a control character or a byte
// beyond ASCII. It looks at eight bytes at once: per byte, x-1 borrows into the high bit where x is zero, and
// x-0x20 where x is a control character. A false hit can only follow a true one in a higher byte, so the lowest
// is exact.
func plainEnd(b []byte, i int) int {
	for ; i+8 <= len(b); i += 8 {
		x := binary.LittleEndian.Uint64(b[i:])
		quote, slash := x^(ones*'"'), x^(ones*'\\')
		hit := ((quote-ones)&^quote | (slash-ones)&^slash | (x-ones*' ')&^x | x) & highs
		if hit != 0 {
			return i + bits.TrailingZeros64(hit)/8
		}
	}
	for i < len(b) && b[i] >= ' ' && b[i] < utf8.RuneSelf && b[i] != '"' && b[i] != '\\' {
		i++
	}
	return i
}
