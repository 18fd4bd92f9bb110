package lake

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/apache/iceberg-go"
)

// parseType reads a type's text: a primitive as Iceberg's JSON writes it, list<T>, map<K, V> or struct<name: T, …>, to
// any depth. Elements, values and fields are optional. next numbers the fields.
func parseType(text string, next *int) (iceberg.Type, error) {
	text = strings.TrimSpace(text)
	name, inner, nested := strings.Cut(text, "<")
	if !nested {
		return parsePrimitive(text)
	}
	inner, closed := strings.CutSuffix(inner, ">")
	parts := split(inner)
	switch name = strings.TrimSpace(name); {
	case !closed:
	case name == "list" && len(parts) == 1:
		return parseList(parts[0], next)
	case name == "map" && len(parts) == 2:
		return parseMap(parts[0], parts[1], next)
	case name == "struct":
		return parseStruct(parts, next)
	}
	return nil, fmt.Errorf("%q is no type", text)
}

func parsePrimitive(text string) (iceberg.Type, error) {
	doc, err := json.Marshal(map[string]any{"id": 1, "name": "c", "required": false, "type": text})
	if err != nil {
		return nil, err
	}
	var f iceberg.NestedField // which is where iceberg-go reads types from text
	if err := json.Unmarshal(doc, &f); err != nil {
		return nil, fmt.Errorf("%q is no type: %w", text, err)
	}
	return f.Type, nil
}

func parseList(element string, next *int) (_ iceberg.Type, err error) {
	t := &iceberg.ListType{ElementID: number(next)}
	t.Element, err = parseType(element, next)
	return t, err
}

func parseMap(key, value string, next *int) (_ iceberg.Type, err error) {
	t := &iceberg.MapType{KeyID: number(next), ValueID: number(next)}
	if t.KeyType, err = parseType(key, next); err != nil {
		return nil, err
	}
	t.ValueType, err = parseType(value, next)
	return t, err
}

func parseStruct(parts []string, next *int) (iceberg.Type, error) {
	t := &iceberg.StructType{}
	for _, part := range parts {
		name, text, ok := strings.Cut(part, ":")
		if name = strings.TrimSpace(name); !ok || name == "" {
			return nil, fmt.Errorf("struct field %q is no name: type", part)
		}
		f := iceberg.NestedField{ID: number(next), Name: name}
		var err error
		if f.Type, err = parseType(text, next); err != nil {
			return nil, err
		}
		t.FieldList = append(t.FieldList, f)
	}
	return t, nil
}

func number(next *int) int {
	*next++
	return *next
}

// split cuts at the commas outside brackets.
func split(text string) (parts []string) {
	depth, from := 0, 0
	for i, c := range text {
		switch c {
		case '<', '(', '[':
			depth++
		case '>', ')', ']':
			depth--
		case ',':
			if depth == 0 {
				parts = append(parts, text[from:i])
				from = i + 1
			}
		}
	}
	return append(parts, text[from:])
}

// typeText writes a type as parseType reads it. What is required in it is not said.
func typeText(t iceberg.Type) string {
	switch t := t.(type) {
	case *iceberg.ListType:
		return "list<" + typeText(t.Element) + ">"
	case *iceberg.MapType:
		return "map<" + typeText(t.KeyType) + ", " + typeText(t.ValueType) + ">"
	case *iceberg.StructType:
		var fields []string
		for _, f := range t.FieldList {
			fields = append(fields, f.Name+": "+typeText(f.Type))
		}
		return "struct<" + strings.Join(fields, ", ") + ">"
	}
	return t.String()
}
