package stage

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/iceberg-go"
)

// Layout is how a table's properties want its files.
type Layout struct {
	targetSize    int64
	groupSize     int64 // of row groups, in bytes before encoding
	deletesByFile bool
	care          care
	writer        []parquet.WriterProperty
	modes         map[int]mode // of statistics, by field id
}

// Iceberg's defaults, but for pages: small ones let a reader after single rows fetch little. A page that fits a block of zstd's
// fastest level, 64 KB, is compressed without a window: the last batch of values may go past the size.
const (
	defaultTargetSize = 512 << 20
	defaultGroupSize  = 128 << 20
	defaultPageSize   = 56 << 10
	pageBatch         = 256
	defaultDictSize   = 2 << 20
	defaultBloomSize  = 1 << 20
	fastZstd          = 1 // a level of zstd: files of a few rows are written again soon
	defaultBloomFPP   = 0.01
)

// The sizes that a Bloom filter can have in a Parquet file.
const leastBloomSize, mostBloomSize = 32, 128 << 20

// NewLayout reads the write.* and frazil.care.* properties of a table that concern its files. What cannot be done is an error: that the
// files be of another format than Parquet, and values that are none. Fields named in always keep bounds
// whatever the properties say, since rows are found by them.
func NewLayout(properties map[string]string, schema *iceberg.Schema, always []int) (Layout, error) {
	r := reader{properties: properties}
	l := Layout{
		targetSize: r.positive("write.target-file-size-bytes", defaultTargetSize),
		groupSize:  r.positive("write.parquet.row-group-size-bytes", defaultGroupSize),
	}
	r.word("write.format.default", "parquet")
	r.word("write.delete.format.default", "parquet")
	l.deletesByFile = r.word("write.delete.granularity", "partition", "file") == "file"
	l.care = r.care(l.targetSize)
	codec, level := r.codec()
	l.writer = []parquet.WriterProperty{
		parquet.WithCompression(codec),
		parquet.WithDataPageSize(r.positive("write.parquet.page-size-bytes", defaultPageSize)),
		parquet.WithDictionaryPageSizeLimit(r.positive("write.parquet.dict-size-bytes", defaultDictSize)),
		parquet.WithBatchSize(pageBatch),
		parquet.WithPageIndexEnabled(true),
		parquet.WithStoreDecimalAsInteger(true), // as the Iceberg spec wants them
		parquet.WithCreatedBy("frazil"),
	}
	if level != 0 {
		l.writer = append(l.writer, parquet.WithCompressionLevel(level))
	}
	l.writer = append(l.writer, r.bloom(schema)...)
	l.modes = r.modes(schema, always)
	return l, r.err
}

// TargetSize is how large data files may be.
func (l Layout) TargetSize() int64 { return l.targetSize }

// Sized is the layout with another target size.
func (l Layout) Sized(target int64) Layout {
	l.targetSize = target
	return l
}

// Sparing is the layout for a process that has memory for so many bytes of files that a commit writes again of its own accord.
func (l Layout) Sparing(bytes int64) Layout {
	l.care = l.care.within(bytes)
	return l
}

// parquet is the settings for a file.
func (l Layout) parquet(f parquetFile) []parquet.WriterProperty {
	out := append(l.writer[:len(l.writer):len(l.writer)], dictionaries(f)...)
	return append(out, parquet.WithBloomFilterNDV(max(1, f.rows)))
}

// groups is how many row groups a file is divided into.
func (l Layout) groups(f parquetFile) int64 {
	return max(1, min(f.rows, (f.bytes+l.groupSize-1)/l.groupSize))
}

func bufferSize(d arrow.ArrayData) (n int64) {
	for _, b := range d.Buffers() {
		if b != nil {
			n += int64(b.Len())
		}
	}
	for _, child := range d.Children() {
		n += bufferSize(child)
	}
	return n
}

// reader reads properties; err is the first that is wrong.
type reader struct {
	properties map[string]string
	err        error
}

func (r *reader) wrong(name, want string) {
	if r.err == nil {
		r.err = fmt.Errorf("table property %s: must be %s", name, want)
	}
}

func (r *reader) positive(name string, fallback int64) int64 { return r.atLeast(1, name, fallback) }

func (r *reader) atLeast(least int64, name string, fallback int64) int64 {
	text, ok := r.properties[name]
	if !ok {
		return fallback
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < least {
		r.wrong(name, fmt.Sprintf("a number of %d or more", least))
		return fallback
	}
	return n
}

// on is a switch that is on unless the property says false.
func (r *reader) on(name string) bool { return r.word(name, "true", "false") == "true" }

// word is one of the words allowed; the first of them is the default.
func (r *reader) word(name string, allowed ...string) string {
	text, ok := r.properties[name]
	if !ok {
		return allowed[0]
	}
	for _, w := range allowed {
		if strings.EqualFold(text, w) {
			return w
		}
	}
	r.wrong(name, strings.Join(allowed, " or "))
	return allowed[0]
}

func (r *reader) codec() (c compress.Compression, level int) {
	const name, ofLevel = "write.parquet.compression-codec", "write.parquet.compression-level"
	codecs := map[string]compress.Compression{
		"zstd": compress.Codecs.Zstd, "snappy": compress.Codecs.Snappy, "gzip": compress.Codecs.Gzip,
		"brotli": compress.Codecs.Brotli, "lz4": compress.Codecs.Lz4Raw, "lz4_raw": compress.Codecs.Lz4Raw, "uncompressed": compress.Codecs.Uncompressed,
	}
	c = codecs[r.word(name, "zstd", "snappy", "gzip", "brotli", "lz4", "lz4_raw", "uncompressed")]
	if text, ok := r.properties[ofLevel]; ok && text != "null" {
		n, err := strconv.Atoi(text)
		if err != nil {
			r.wrong(ofLevel, "a whole number")
		}
		if c == compress.Codecs.Gzip && (n < -1 || n > 9) {
			r.wrong(ofLevel, "-1 to 9 for gzip")
		}
		return c, n
	}
	if c == compress.Codecs.Zstd {
		return c, fastZstd
	}
	return c, 0
}

// bloom switches on the Bloom filters that the table asks for, each as large as its rows need.
func (r *reader) bloom(schema *iceberg.Schema) []parquet.WriterProperty {
	most := min(r.atLeast(leastBloomSize, "write.parquet.bloom-filter-max-bytes", defaultBloomSize), mostBloomSize)
	out := []parquet.WriterProperty{parquet.WithMaxBloomFilterBytes(most)}
	const enabled, rate = "write.parquet.bloom-filter-enabled.column.", "write.parquet.bloom-filter-fpp.column."
	for name, value := range r.properties {
		column, ok := strings.CutPrefix(name, enabled)
		if !ok || !strings.EqualFold(value, "true") {
			continue
		}
		if _, ok := schema.FindFieldByName(column); !ok {
			continue // as other writers do: the column may have been dropped
		}
		fpp := defaultBloomFPP
		if text, ok := r.properties[rate+column]; ok {
			f, err := strconv.ParseFloat(text, 64)
			if err != nil || !(f > 0 && f < 1) {
				r.wrong(rate+column, "a number between 0 and 1")
				f = defaultBloomFPP
			}
			fpp = f
		}
		out = append(out, parquet.WithBloomFilterEnabledFor(column, true), parquet.WithBloomFilterFPPFor(column, fpp))
	}
	return out
}
