package envelope

import (
	"fmt"

	"github.com/frazil/frazil/internal/change"
	"github.com/frazil/frazil/internal/wire"
)

// flat decodes values that are rows, without an envelope. Only null deletes.
func flat(m message) (change.Change, Control, error) {
	if m.value.Kind() != wire.Object {
		return change.Change{}, "", fmt.Errorf("the value is no row but of kind %v", m.value.Kind())
	}
	return change.Upsert(m.value).WithKey(m.key), "", nil
}
