package objects

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// maxChunk bounds what one chunk header makes the server allocate.
const maxChunk = 1 << 30

// readBody returns the object's bytes, whatever framing they came in, and the checksums they were sent with by
// lower-case algorithm name, each verified.
func readBody(r *http.Request) ([]byte, map[string]string, error) {
	sums := headerChecksums(r.Header)
	data, err := unframe(r, sums)
	if err != nil {
		return nil, nil, err
	}
	if err := verifyDigests(r.Header, data); err != nil {
		return nil, nil, err
	}
	if r.Method == http.MethodPost && r.URL.Query().Has("uploadId") {
		return data, nil, nil // there the checksum headers are about the assembled object, not about this body
	}
	if err := verifyChecksums(sums, data); err != nil {
		return nil, nil, err
	}
	return data, sums, nil
}

func unframe(r *http.Request, sums map[string]string) ([]byte, error) {
	if !strings.HasPrefix(r.Header.Get("X-Amz-Content-Sha256"), "STREAMING-") {
		data, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, refuse(http.StatusBadRequest, "IncompleteBody")
		}
		return data, nil
	}
	frames := bufio.NewReaderSize(r.Body, 64<<10)
	data, err := readChunks(frames)
	if err != nil {
		return nil, err
	}
	if want := r.Header.Get("X-Amz-Decoded-Content-Length"); want != "" && want != strconv.Itoa(len(data)) {
		return nil, refuse(http.StatusBadRequest, "IncompleteBody")
	}
	return data, readTrailers(frames, sums)
}

// readChunks reads aws-chunked framing up to and including the chunk of size zero. Chunk signatures are ignored.
func readChunks(frames *bufio.Reader) ([]byte, error) {
	var data []byte
	for {
		line, err := frames.ReadString('\n')
		if err != nil {
			return nil, refuse(http.StatusBadRequest, "IncompleteBody")
		}
		size, _, _ := strings.Cut(strings.TrimSpace(line), ";")
		n, err := strconv.ParseInt(size, 16, 64)
		if err != nil || n < 0 || n > maxChunk {
			return nil, refuse(http.StatusBadRequest, "InvalidRequest")
		}
		if n == 0 {
			return data, nil
		}
		at := len(data)
		data = append(data, make([]byte, n)...)
		if _, err := io.ReadFull(frames, data[at:]); err != nil {
			return nil, refuse(http.StatusBadRequest, "IncompleteBody")
		}
		if _, err := frames.Discard(len("\r\n")); err != nil {
			return nil, refuse(http.StatusBadRequest, "IncompleteBody")
		}
	}
}

// readTrailers adds the checksums that follow the last chunk to sums.
func readTrailers(frames *bufio.Reader, sums map[string]string) error {
	for {
		line, err := frames.ReadString('\n')
		name, value, ok := strings.Cut(strings.TrimSpace(line), ":")
		if algorithm, is := strings.CutPrefix(strings.ToLower(name), strings.ToLower(checksumHeader)); ok && is {
			sums[algorithm] = strings.TrimSpace(value)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return refuse(http.StatusBadRequest, "IncompleteBody")
		}
	}
}
