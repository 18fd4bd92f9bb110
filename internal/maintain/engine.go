package maintain

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"
	"github.com/frazil/frazil/internal/athena"
)

// engineNote is the table's property that says what an engine was asked for last.
const engineNote = "frazil.engine"

// note is the text of the property. It is written before the engine is asked: a run that finds it without a query asks again,
// with the same token, and so for the same query.
type note struct {
	Token string `json:"token"`
	Query string `json:"query,omitempty"`
	Done  bool   `json:"done,omitempty"`
}

func (n note) pending() bool { return n.Token != "" && !n.Done }

// noted is what the head says. What frazil has not written is as if it were not there.
func (k *keeper) noted() (n note) {
	if err := json.Unmarshal([]byte(k.head.Properties()[engineNote]), &n); err != nil {
		return note{}
	}
	return n
}

// write has the table say n. It moves nothing but the property.
func (k *keeper) write(ctx context.Context, n note) error {
	text, err := json.Marshal(n)
	if err != nil {
		return err
	}
	_, err = k.store.Commit(ctx, k.head, []table.Requirement{table.AssertTableUUID(k.head.Metadata().TableUUID())},
		[]table.Update{table.NewSetPropertiesUpdate(iceberg.Properties{engineNote: string(text)})})
	if err != nil {
		return fmt.Errorf("note what the engine does: %w", err)
	}
	return k.look(ctx)
}

// atWork reports whether an engine compacts the table still, and tells of one that has ended. While it is at work nothing is
// compacted beside it: one of the two would be in vain. A query that nothing is known of is taken to be at work.
func (k *keeper) atWork(ctx context.Context) (bool, error) {
	n := k.noted()
	if k.engine == nil || !n.pending() {
		return false, nil
	}
	if n.Query == "" {
		if err := k.ask(ctx, n); err != nil {
			return false, err
		}
		n = k.noted()
	}
	s, err := k.engine.State(ctx, n.Query)
	if err != nil || s.Running {
		k.log.LogAttrs(ctx, slog.LevelInfo, "an engine is at work", slog.String("query", n.Query))
		return true, err
	}
	k.log.LogAttrs(ctx, slog.LevelInfo, "an engine has ended", slog.String("query", n.Query), slog.String("outcome", s.Outcome),
		slog.String("code", s.Code), slog.Duration("took", s.Time), slog.Int64("bytes_scanned", s.Scanned))
	n.Done = true
	return false, k.write(ctx, n)
}

// delegate has the engine do what the run has left, if it does nothing yet.
func (k *keeper) delegate(ctx context.Context, l *limits, t *tally) error {
	if k.engine == nil || t.left == 0 || l.stopped() || ctx.Err() != nil {
		return nil
	}
	if err := k.look(ctx); err != nil || k.noted().pending() {
		return err
	}
	n := note{Token: k.token()}
	if err := k.write(ctx, n); err != nil {
		return err
	}
	return k.ask(ctx, n)
}

// token is the same for all that find the table as it is and would ask for the same: of two runs at once both ask for one query.
func (k *keeper) token() string {
	database, statement := k.optimize()
	hash := sha256.Sum256(fmt.Appendf(nil, "%s\n%d\n%s\n%s\n%s", k.head.Metadata().TableUUID(), k.head.CurrentSnapshot().SnapshotID, k.noted().Query, database, statement))
	return hex.EncodeToString(hash[:])
}

// ask asks for the query of a note, and notes its id; or, if it is refused, that there is none.
func (k *keeper) ask(ctx context.Context, n note) (err error) {
	database, statement := k.optimize()
	n.Query, err = k.engine.Start(ctx, database, statement, n.Token)
	if errors.Is(err, athena.ErrRefused) {
		n.Query, n.Done = n.Token, true // the next token is another one
		return errors.Join(err, k.write(ctx, n))
	}
	if err != nil {
		return err
	}
	k.log.LogAttrs(ctx, slog.LevelInfo, "an engine was started", slog.String("query", n.Query), slog.String("statement", statement))
	return k.write(ctx, n)
}

// optimize is Athena's statement for what is left, and the database that it runs in.
func (k *keeper) optimize() (database, statement string) {
	last := len(k.name.Path) - 1
	database = strings.Join(k.name.Path[:last], ".")
	return database, fmt.Sprintf("OPTIMIZE %s.%s REWRITE DATA USING BIN_PACK", quoted(database), quoted(k.name.Path[last]))
}

func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
