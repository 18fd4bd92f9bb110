package catalog

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"

	"github.com/apache/iceberg-go/table"
	"github.com/google/uuid"
)

const (
	plainSuffix = ".metadata.json"
	gzipSuffix  = ".gz.metadata.json"
)

// write stores metadata as the given version of its table. The file stays unreferenced until the entry is swapped in.
func (s *Server) write(metadata table.Metadata, version int) (*entry, error) {
	data, err := json.Marshal(metadata)
	if err != nil {
		return nil, fmt.Errorf("encode metadata: %w", err)
	}
	e := &entry{location: metadataLocation(metadata, version), metadata: metadata, json: data}
	file := data
	if strings.HasSuffix(e.location, gzipSuffix) {
		file = compress(data)
	}
	if err := s.store.WriteFile(e.location, file); err != nil {
		return nil, fmt.Errorf("write metadata: %w", err)
	}
	return e, nil
}

func metadataLocation(metadata table.Metadata, version int) string {
	properties := metadata.Properties()
	folder := strings.TrimRight(metadata.Location(), "/") + "/metadata"
	if own := properties[table.WriteMetadataPathKey]; own != "" {
		folder = strings.TrimRight(own, "/")
	}
	suffix := plainSuffix
	if properties[table.MetadataCompressionKey] == table.MetadataCompressionCodecGzip {
		suffix = gzipSuffix
	}
	return fmt.Sprintf("%s/%05d-%s%s", folder, version, uuid.New(), suffix)
}

// nextVersion continues the numbering of metadata files, from 0 where location carries no number.
func nextVersion(location string) int {
	number, _, _ := strings.Cut(path.Base(location), "-")
	n, err := strconv.Atoi(number)
	if err != nil {
		return 0
	}
	return n + 1
}

func (s *Server) read(location string) (*entry, error) {
	data, err := s.store.ReadFile(location)
	if err != nil {
		return nil, fmt.Errorf("read metadata: %w", err)
	}
	if strings.HasSuffix(location, gzipSuffix) {
		if data, err = decompress(data); err != nil {
			return nil, fmt.Errorf("decompress metadata: %w", err)
		}
	}
	metadata, err := table.ParseMetadataBytes(data)
	if err != nil {
		return nil, fmt.Errorf("parse metadata: %w", err)
	}
	return &entry{location: location, metadata: metadata, json: data}, nil
}

func compress(data []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	// Writing to memory does not fail.
	_, _ = w.Write(data)
	_ = w.Close()
	return out.Bytes()
}

func decompress(data []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}
