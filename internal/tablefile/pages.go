package tablefile

import (
	"sort"

	"github.com/apache/arrow-go/v18/parquet/metadata"
)

// run is neighbouring rows of a row group.
type run struct{ from, to int64 }

// together is how many rows between two wanted ones are rather read than passed over.
const together = 256

// runsOf are the runs that hold rows, which ascend.
func runsOf(rows []int64) (out []run) {
	for _, row := range rows {
		if n := len(out); n > 0 && row < out[n-1].to+together {
			out[n-1].to = row + 1
		} else {
			out = append(out, run{row, row + 1})
		}
	}
	return out
}

// pagesOf is where the pages of columns are that hold rows of a row group, with the dictionaries. It is nil where the file does not
// say, and where they are a good part of the columns.
func pagesOf(g rowGroup, leaves []int, inside []int64) ([]extent, error) {
	index, err := g.file.GetPageIndexReader().RowGroup(g.number)
	if err != nil || index == nil {
		return nil, err
	}
	var out []extent
	var all int64
	for _, leaf := range leaves {
		chunk, err := chunkOf(g.meta, g.number, leaf)
		if err != nil {
			return nil, err
		}
		offsets, err := index.GetOffsetIndex(leaf)
		if err != nil || offsets == nil || len(offsets.GetPageLocations()) == 0 {
			return nil, err
		}
		out = append(out, pagesIn(chunk, offsets.GetPageLocations(), inside)...)
		all += chunk.to - chunk.from
	}
	pages := int64(0)
	for _, e := range out {
		pages += e.to - e.from
	}
	if 2*pages > all {
		return nil, nil
	}
	return out, nil
}

// pagesIn are those of one column, each with what is read beyond it.
func pagesIn(chunk extent, list []*metadata.PageLocation, rows []int64) (out []extent) {
	if first := list[0].Offset; first > chunk.from {
		out = append(out, extent{chunk.from, min(first+buffered, chunk.to)}) // the dictionary
	}
	last := -1
	for _, row := range rows {
		i := sort.Search(len(list), func(i int) bool { return list[i].FirstRowIndex > row }) - 1
		if i < 0 || i == last {
			continue
		}
		last = i
		end := list[i].Offset + int64(list[i].CompressedPageSize)
		out = append(out, extent{list[i].Offset, min(end+buffered, chunk.to)})
	}
	return out
}
