package wire

import "fmt"

// Doc holds one document and hands out Values of it. The zero Doc is ready; reuse makes it free of allocations.
type Doc struct {
	src     []byte // the document, borrowed from the caller
	tape    []token
	names   []byte // the unescaped form of names that were sent with escapes
	texts   []byte // the unescaped form of texts that were asked for
	order   []nameRef
	shape   shape
	schemas schemas
}

// token is one value or member name. Tokens lie in document order: a container's first, then what it holds.
type token struct {
	start, end uint32 // in src, the quotes excluded; of an escaped name in names
	next       uint32 // the token after this one and all it holds; of an open container, its parent
	kind       Kind
	escaped    bool
}

// set makes t the n-th token, of nothing that has tokens inside, without escapes.
func (t *token) set(start, end, n int, k Kind) {
	t.start, t.end, t.next, t.kind, t.escaped = uint32(start), uint32(end), uint32(n+1), k, false
}

// maxSize keeps every position in a token's 32 bits.
const maxSize = 1<<31 - 1

// SyntaxError says where a document is wrong, and why, without a byte of it.
type SyntaxError struct {
	Pos     int // bytes before the problem
	Problem string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("byte %d: %s", e.Pos, e.Problem) }

// JSON reads one JSON document. Beyond RFC 8259 it refuses what readers disagree about: a member name that
// occurs twice in one object, however spelt, invalid UTF-8 (also a byte order mark), escapes of lone surrogates,
// and more than 512 arrays and objects in one another. The error is a *SyntaxError.
func (d *Doc) JSON(b []byte) (Value, error) {
	if err := d.reset(b); err != nil {
		return Value{}, err
	}
	if len(b) > 5 && b[0] == 0 { // no JSON begins so
		return Value{}, &SyntaxError{Problem: "it is framed by a schema registry's serializer (Avro, Protobuf …), which is not read; JSON is"}
	}
	end, err := d.parse(0, 0)
	if err != nil {
		return Value{}, err
	}
	if end = skipSpace(b, end); end < len(b) {
		return Value{}, &SyntaxError{Pos: end, Problem: "unexpected bytes after the document"}
	}
	return d.value(0, nil), nil
}

// Bare makes a Text of the bytes as they are, for keys that no encoding was applied to.
func (d *Doc) Bare(b []byte) (Value, error) {
	return d.single(Text, b)
}

// single makes the document of one token.
func (d *Doc) single(k Kind, b []byte) (Value, error) {
	if err := d.reset(b); err != nil {
		return Value{}, err
	}
	d.tape = append(d.tape, token{end: uint32(len(b)), next: 1, kind: k})
	return d.value(0, nil), nil
}

func (d *Doc) reset(b []byte) error {
	d.src, d.tape, d.names, d.texts = b, d.tape[:0], d.names[:0], d.texts[:0]
	d.shape.begin()
	if len(b) > maxSize {
		return &SyntaxError{Pos: maxSize, Problem: "the document is too long"}
	}
	return nil
}

// name returns the unescaped name that token i is.
func (d *Doc) name(i uint32) []byte { return d.nameOf(&d.tape[i]) }

func (d *Doc) nameOf(t *token) []byte {
	if t.escaped {
		return d.names[t.start:t.end:t.end]
	}
	return d.src[t.start:t.end:t.end]
}

// unescape appends to texts, so that what was handed out before stays as it is.
func (d *Doc) unescape(s []byte) []byte {
	n := len(d.texts)
	d.texts = AppendUnescaped(d.texts, s)
	return d.texts[n:len(d.texts):len(d.texts)]
}
