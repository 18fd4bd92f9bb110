// Package lease lets processes that would read the same topics into the same table see each other, so that one does the work.
//
// A lease is a property of the table, which the commits of its holder set and renew. It is soft: the ledger alone says what is
// applied, and who does not see a lease, or goes on in spite of it, works in vain and does no harm. It ends by itself, so that
// nothing waits long for a holder that was killed. The package is pure: it reads properties and makes their texts.
package lease

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Prefix begins the name of every lease: frazil.lease.<source>.<hash of the topics>.
const Prefix = "frazil.lease."

// longest is what a lease is believed at most, whatever it says.
const longest = time.Hour

// Claim is what a process has to say of leases of the topics of one source in one table.
type Claim struct {
	Property string
	holder   string
	length   time.Duration
	now      func() time.Time
}

// New is the claim of a holder to the topics, which are names and patterns: who names them otherwise is not seen.
func New(source string, topics []string, holder string, length time.Duration, now func() time.Time) *Claim {
	hash := sha256.Sum256([]byte(strings.Join(slices.Compact(slices.Sorted(slices.Values(topics))), "\n")))
	return &Claim{Prefix + source + "." + hex.EncodeToString(hash[:8]), holder, min(length, longest), now}
}

// Taken says that another one has the lease.
type Taken struct {
	Holder string
	Until  time.Time
}

func (e *Taken) Error() string {
	return fmt.Sprintf("%s holds the lease until %s", e.Holder, e.Until.UTC().Format(time.RFC3339))
}

// term is the text form of a lease. Times are in milliseconds since 1970.
type term struct {
	Holder string `json:"holder"`
	From   int64  `json:"from"`
	Until  int64  `json:"until"`
}

// Text is the claim as a lease that begins now.
func (c *Claim) Text() string {
	now := c.now()
	text, err := json.Marshal(term{c.holder, now.UnixMilli(), now.Add(c.length).UnixMilli()})
	if err != nil {
		panic(err) // texts and numbers always marshal
	}
	return string(text)
}

// Free is a *Taken if a table with these properties is another holder's.
func (c *Claim) Free(properties map[string]string) error {
	if t, live := c.read(properties); live && t.Holder != c.holder {
		return &Taken{t.Holder, time.UnixMilli(t.Until)}
	}
	return nil
}

// Held reports whether a table with these properties is the claim's own.
func (c *Claim) Held(properties map[string]string) bool {
	t, live := c.read(properties)
	return live && t.Holder == c.holder
}

// read is the lease of the claim's topics. One that is over is not live, nor is what is no lease. Clocks differ: one that begins
// in the future is believed as long as it would not be waited for longer than twice its length.
func (c *Claim) read(properties map[string]string) (t term, live bool) {
	if err := json.Unmarshal([]byte(properties[c.Property]), &t); err != nil || t.Holder == "" {
		return term{}, false
	}
	now, length := c.now().UnixMilli(), t.Until-t.From
	return t, length <= longest.Milliseconds() && now < t.Until && t.Until-now <= 2*length
}
