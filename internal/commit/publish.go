package commit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/apache/iceberg-go/catalog/rest"
	"github.com/apache/iceberg-go/table"
	"golang.org/x/sync/errgroup"
)

// Catalog commits to tables and loads them.
type Catalog interface {
	Load(ctx context.Context, ident table.Identifier) (*table.Table, error)
	// Commit sends one update request and returns the table after it.
	Commit(ctx context.Context, t *table.Table, requirements []table.Requirement, updates []table.Update) (*table.Table, error)
}

// Store keeps the table's files.
type Store interface {
	Write(ctx context.Context, path string, data []byte) error
	Delete(ctx context.Context, path string) error
}

// Two ways in which an attempt ends without having landed.
var (
	// ErrRejected: the catalog refused the attempt since the table has moved on; it never will land. Its files are
	// gone, unless the table as it is read does not prove that. A new attempt from a new head may land.
	ErrRejected = errors.New("the table changed meanwhile")
	// ErrUnknown: the attempt may still land. Its files stay. A new attempt on the same parent is safe, since one
	// of the two loses.
	ErrUnknown = errors.New("the outcome of the commit is unknown")
)

// errElsewhere: something on the way, which redirects requests or keeps copies of answers, has answered in the catalog's place.
var errElsewhere = errors.New("the answer to the commit is a table that does not have it")

// reserve is the time kept from the invocation's for learning a commit's outcome. A commit has to start with as much again.
const reserve = 3 * time.Second

// Publish uploads the attempt's objects, all at once, and asks the catalog to commit. It returns the table as it
// is after the commit. ErrRejected and ErrUnknown tell what became of an attempt that did not land; after any
// other error the attempt is not in the table, and its files stay for the orphan sweep.
func (a *Attempt) Publish(ctx context.Context, c Catalog, s Store) (*table.Table, error) {
	if err := a.upload(ctx, s); err != nil {
		return nil, err
	}
	post, cancel := ctx, context.CancelFunc(func() {})
	if deadline, ok := ctx.Deadline(); ok {
		if time.Until(deadline) < 2*reserve {
			return nil, fmt.Errorf("commit: %s are left of the invocation, too little to learn the outcome", time.Until(deadline).Round(time.Millisecond))
		}
		post, cancel = context.WithDeadline(ctx, deadline.Add(-reserve))
	}
	defer cancel()
	after, err := c.Commit(post, a.table, a.requirements, a.updates)
	if err == nil {
		if in, _ := a.in(after.Metadata()); in {
			return after, nil
		}
		err = errElsewhere
	}
	return a.settle(ctx, c, s, err)
}

// upload ends when every object is there or is not: one that was given up half way could still land while the next attempt is under way.
func (a *Attempt) upload(ctx context.Context, s Store) error {
	var g errgroup.Group
	for _, o := range a.Objects {
		g.Go(func() error {
			if err := s.Write(ctx, o.Path, o.Data); err != nil {
				return fmt.Errorf("upload %s: %w", o.Path, err)
			}
			return nil
		})
	}
	return g.Wait()
}

// settle finds out what became of an attempt whose commit failed with err. Whatever the catalog answered, the table
// is looked at before anything is deleted: a request that was repeated on its way may have landed and been refused.
func (a *Attempt) settle(ctx context.Context, c Catalog, s Store, err error) (*table.Table, error) {
	if errors.Is(err, rest.ErrUnauthorized) || errors.Is(err, rest.ErrForbidden) || errors.Is(err, rest.ErrAuthorizationExpired) {
		return nil, fmt.Errorf("commit: %w", err)
	}
	now, loadErr := c.Load(ctx, a.table.Identifier())
	if loadErr != nil {
		return nil, fmt.Errorf("%w: %w; reload: %w", ErrUnknown, err, loadErr)
	}
	in, certain := a.in(now.Metadata())
	refused := a.refusedBy(now.Metadata())
	switch {
	case in:
		return now, nil
	case errors.Is(err, rest.ErrCommitFailed), errors.Is(err, rest.ErrBadRequest) && refused:
		if certain && refused { // else the table may have been read from a copy that is older than the attempt
			a.discard(ctx, s)
		}
		return nil, fmt.Errorf("%w: %w", ErrRejected, err)
	case errors.Is(err, rest.ErrBadRequest):
		return nil, fmt.Errorf("commit: %w", err)
	}
	return nil, fmt.Errorf("%w: %w", ErrUnknown, err)
}

// in reports whether the attempt's snapshot is the head of main or one of its ancestors. The answer is certain unless
// the catalog has forgotten the ancestors down to the attempt's parent, as some do, or lists the snapshot elsewhere: main was
// taken back, and can be returned to it.
func (a *Attempt) in(meta table.Metadata) (in, certain bool) {
	if meta.SnapshotByID(a.Snapshot) == nil {
		return false, a.out(meta)
	}
	head := meta.CurrentSnapshot()
	return head != nil && slices.ContainsFunc(table.AncestorsOf(head.SnapshotID, meta.SnapshotByID), func(s table.Snapshot) bool {
		return s.SnapshotID == a.Snapshot
	}), false
}

// out reports whether main is known down to the attempt's parent.
func (a *Attempt) out(meta table.Metadata) bool {
	head := meta.CurrentSnapshot()
	if head == nil {
		return a.parent == nil
	}
	return slices.ContainsFunc(table.AncestorsOf(head.SnapshotID, meta.SnapshotByID), func(s table.Snapshot) bool {
		return a.parent != nil && s.SnapshotID == *a.parent || a.parent == nil && s.ParentSnapshotID == nil
	})
}

// refusedBy reports whether the table as it is now fails one of the attempt's requirements: some catalogs answer a
// conflict with 400.
func (a *Attempt) refusedBy(meta table.Metadata) bool {
	// A commit to another branch took the number, or the owner upgraded the table, which has other rules now.
	if was := a.table.Metadata(); meta.LastSequenceNumber() > was.LastSequenceNumber() || meta.Version() != was.Version() {
		return true
	}
	return slices.ContainsFunc(a.requirements, func(r table.Requirement) bool { return r.Validate(meta) != nil })
}

// discard deletes the files of a rejected attempt. What it cannot delete the orphan sweep will: stores may
// refuse deletes (S3 Tables does).
func (a *Attempt) discard(ctx context.Context, s Store) {
	a.Refused = true
	for _, o := range a.Objects {
		_ = s.Delete(ctx, o.Path)
	}
}
