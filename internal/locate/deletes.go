package locate

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/apache/iceberg-go"
	"github.com/frazil/frazil/internal/rows"
	"github.com/frazil/frazil/internal/tablefile"
	"golang.org/x/sync/errgroup"
)

// The columns of a position-delete file (Iceberg spec, reserved field ids).
const (
	FieldFilePath = 2147483546
	FieldPos      = 2147483545
)

// Deleted is what a snapshot's deletes say of one data file.
type Deleted struct {
	Positions *tablefile.Positions // rows that are deleted by position, in vectors and files; nil: none
	Equal     *tablefile.Positions // rows that are deleted by equality; nil: none
	// Own are the delete files that speak of this data file alone: they have no use any more once their positions
	// are in another delete file, or the data file is gone.
	Own []File
}

// Has reports whether a row is deleted.
func (d Deleted) Has(pos int64) bool {
	return d.Positions != nil && d.Positions.Contains(uint64(pos)) || d.Equal != nil && d.Equal.Contains(uint64(pos))
}

// Deletions gathers what the snapshot's deletes say of some data files, by their paths. Every delete file that may concern
// one of them is read once.
func (s *Snapshot) Deletions(ctx context.Context, store tablefile.Store, files []File) (map[string]Deleted, error) {
	c := s.collector(store, files)
	if err := c.byPosition(ctx); err != nil {
		return nil, err
	}
	return c.out, c.equality(ctx)
}

// ByPosition is Deletions without those by equality, which have data files read.
func (s *Snapshot) ByPosition(ctx context.Context, store tablefile.Store, files []File) (map[string]Deleted, error) {
	c := s.collector(store, files)
	return c.out, c.byPosition(ctx)
}

func (s *Snapshot) collector(store tablefile.Store, files []File) *collector {
	c := &collector{snapshot: s, store: store, files: map[string]File{}, out: map[string]Deleted{}}
	for _, f := range files {
		c.files[f.FilePath()] = f
	}
	return c
}

// collector gathers the deletes of some data files.
type collector struct {
	snapshot *Snapshot
	store    tablefile.Store
	files    map[string]File // by path

	mu  sync.Mutex
	out map[string]Deleted
}

func (c *collector) change(path string, do func(*Deleted)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	d := c.out[path]
	do(&d)
	c.out[path] = d
}

func (c *collector) byPosition(ctx context.Context) error {
	if len(c.files) == 0 {
		return nil
	}
	if err := c.vectors(ctx); err != nil {
		return err
	}
	return c.positions(ctx)
}

// vectors reads the deletion vectors of the files.
func (c *collector) vectors(ctx context.Context) error {
	puffins := map[string][]File{}
	for _, v := range c.snapshot.Deletes {
		if !v.IsVector() || v.ReferencedDataFile() == nil {
			continue
		}
		if data, ok := c.files[*v.ReferencedDataFile()]; ok && v.Sequence >= data.Sequence {
			puffins[v.FilePath()] = append(puffins[v.FilePath()], v)
		}
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(tablefile.Requests)
	for _, vectors := range puffins {
		g.Go(func() error {
			positions, err := c.snapshot.vectors(ctx, c.store, vectors)
			for i, p := range positions {
				c.change(*vectors[i].ReferencedDataFile(), func(d *Deleted) { d.Positions, d.Own = p, append(d.Own, vectors[i]) })
			}
			return err
		})
	}
	return g.Wait()
}

// positions reads the position-delete files that may speak of the files. They say nothing of a file that has a vector:
// it holds their positions (Iceberg spec, deletion vectors).
func (c *collector) positions(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(tablefile.Requests)
	vectored := map[string]bool{}
	for path := range c.out {
		vectored[path] = true
	}
	for _, d := range c.snapshot.Deletes {
		if d.IsVector() || !c.concerns(d) {
			continue
		}
		g.Go(func() error {
			byFile, err := c.snapshot.Positions(ctx, c.store, d)
			if err != nil {
				return err
			}
			for path, p := range byFile {
				data, ok := c.files[path]
				if !ok || d.Sequence < data.Sequence {
					continue
				}
				c.change(path, func(x *Deleted) {
					if !vectored[path] {
						x.Positions = union(x.Positions, p)
					}
					if len(byFile) == 1 {
						x.Own = append(x.Own, d)
					}
				})
			}
			return nil
		})
	}
	return g.Wait()
}

// union is a new set, unless there is only one.
func union(a, b *tablefile.Positions) *tablefile.Positions {
	if a == nil {
		return b
	}
	both := tablefile.NewPositions()
	both.Or(a)
	both.Or(b)
	return both
}

// concerns reports whether a position-delete file may speak of one of the files.
func (c *collector) concerns(d File) bool {
	lower, below := d.LowerBoundValues()[FieldFilePath]
	upper, above := d.UpperBoundValues()[FieldFilePath]
	for path, data := range c.files {
		if d.Sequence >= data.Sequence && (!below || strings.Compare(string(lower), path) <= 0) && (!above || strings.Compare(path, string(upper)) <= 0) {
			return true
		}
	}
	return false
}

// vectors are deletion vectors of the snapshot that lie in one file. They are not to be changed.
func (s *Snapshot) vectors(ctx context.Context, store tablefile.Store, files []File) ([]*tablefile.Positions, error) {
	out := make([]*tablefile.Positions, len(files))
	names := make([]tablefile.Memo, len(files))
	var unread []tablefile.File
	var at []int
	for i, f := range files {
		names[i] = tablefile.Memo{What: "vector", Path: f.FilePath()}
		if off := f.ContentOffset(); off != nil {
			names[i].Off = *off
		}
		var ok bool
		if out[i], ok = tablefile.Recall[*tablefile.Positions](s.memory, names[i]); !ok {
			unread, at = append(unread, f.File), append(at, i)
		}
	}
	if len(unread) == 0 {
		return out, nil
	}
	read, err := tablefile.Vectors(ctx, store, unread)
	if err != nil {
		return nil, err
	}
	for n, p := range read {
		out[at[n]] = p
		s.memory.Keep(names[at[n]], p, positionsBytes(p))
	}
	return out, nil
}

// positionsBytes is about what a set takes: as much as it has when it is written, and something for each of its containers.
func positionsBytes(p *tablefile.Positions) int64 { return 512 + 2*p.Cardinality() }

// Positions is what a position-delete file of the snapshot deletes, by path of the data file. It is not to be changed.
func (s *Snapshot) Positions(ctx context.Context, store tablefile.Store, d File) (map[string]*tablefile.Positions, error) {
	name := tablefile.Memo{What: "positions", Path: d.FilePath()}
	if byFile, ok := tablefile.Recall[map[string]*tablefile.Positions](s.memory, name); ok {
		return byFile, nil
	}
	byFile, err := readPositions(ctx, store, d)
	if err != nil {
		return nil, err
	}
	size := int64(0)
	for path, p := range byFile {
		size += int64(len(path)) + positionsBytes(p)
	}
	s.memory.Keep(name, byFile, size)
	return byFile, nil
}

func readPositions(ctx context.Context, store tablefile.Store, d File) (map[string]*tablefile.Positions, error) {
	out := map[string]*tablefile.Positions{}
	fields := []tablefile.Field{{ID: FieldFilePath, Type: iceberg.PrimitiveTypes.String}, {ID: FieldPos, Type: iceberg.PrimitiveTypes.Int64}}
	err := tablefile.Scan(ctx, store, d.File, fields, func(_ int64, row []tablefile.Part) {
		if row[0] == nil || row[1] == nil {
			return
		}
		p := out[string(row[0])]
		if p == nil {
			p = tablefile.NewPositions()
			out[string(row[0])] = p
		}
		p.Set(uint64(rows.ReadInt(row[1])))
	})
	return out, err
}

// equals is the rows that equality deletes on one set of columns remove.
type equals struct {
	fields []tablefile.Field
	rows   map[string]bool // by the row's parts
}

// equality finds the rows that equality deletes remove: those of data older than the delete, in its partition, or
// anywhere if it was written without one.
func (c *collector) equality(ctx context.Context) error {
	for path, data := range c.files {
		sets := map[string]*equals{}
		for _, e := range c.snapshot.Equality {
			if e.Sequence <= data.Sequence || !c.snapshot.Global(e) && e.PartitionKey() != data.PartitionKey() {
				continue
			}
			if err := c.read(ctx, e, sets); err != nil {
				return err
			}
		}
		for _, set := range sets {
			dead, err := set.find(ctx, c.store, data)
			if err != nil {
				return err
			}
			c.change(path, func(d *Deleted) { d.Equal = union(d.Equal, dead) })
		}
	}
	return nil
}

// read adds the rows of an equality-delete file to the set of its columns.
func (c *collector) read(ctx context.Context, e File, sets map[string]*equals) error {
	ids := slices.Sorted(slices.Values(e.EqualityFieldIDs()))
	set := sets[fmt.Sprint(ids)]
	if set == nil {
		set = &equals{rows: map[string]bool{}}
		for _, id := range ids {
			f, err := c.snapshot.field(id)
			if err != nil {
				return fmt.Errorf("equality delete %s: %w", e.FilePath(), err)
			}
			set.fields = append(set.fields, f)
		}
		sets[fmt.Sprint(ids)] = set
	}
	var buf []byte
	return tablefile.Scan(ctx, c.store, e.File, set.fields, func(_ int64, row []tablefile.Part) {
		buf = appendRow(buf[:0], row)
		set.rows[string(buf)] = true
	})
}

// find returns the rows of a data file that are in the set.
func (s *equals) find(ctx context.Context, store tablefile.Store, data File) (*tablefile.Positions, error) {
	dead := tablefile.NewPositions()
	var buf []byte
	err := tablefile.Scan(ctx, store, data.File, s.fields, func(pos int64, row []tablefile.Part) {
		buf = appendRow(buf[:0], row)
		if s.rows[string(buf)] {
			dead.Set(uint64(pos))
		}
	})
	return dead, err
}

// appendRow makes one text of a row's parts. A null equals a null (Iceberg spec, equality deletes).
func appendRow(b []byte, row []tablefile.Part) []byte {
	for _, p := range row {
		if p == nil {
			b = append(b, 0)
			continue
		}
		b = append(b, 1)
		b = binary.BigEndian.AppendUint32(b, uint32(len(p)))
		b = append(b, p...)
	}
	return b
}
