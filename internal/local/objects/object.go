package objects

import (
	"crypto/md5"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// object is immutable once stored: readers share its bytes without a lock.
type object struct {
	data     []byte
	etag     string // quoted
	sums     map[string]string
	header   http.Header
	modified time.Time
}

func newObject(data []byte, sums map[string]string, header http.Header) *object {
	digest := md5.Sum(data)
	return &object{
		data: data, etag: strconv.Quote(hex.EncodeToString(digest[:])),
		sums: sums, header: header, modified: time.Now().Truncate(time.Second),
	}
}

// describe returns the headers that tell about o. Stored checksums cover the whole object, so a ranged answer must
// not carry them: clients would verify the part against them.
func (o *object) describe(sums bool) http.Header {
	h := maps.Clone(o.header)
	if h == nil {
		h = http.Header{}
	}
	h.Set("ETag", o.etag)
	if sums {
		for algorithm, sum := range o.sums {
			h.Set(checksumHeader+algorithm, sum)
		}
	}
	return h
}

// storedHeader returns the headers of a write that later reads give back.
func storedHeader(h http.Header) http.Header {
	stored := http.Header{}
	for name, values := range h {
		if name == "Content-Type" || name == "Cache-Control" || strings.HasPrefix(name, "X-Amz-Meta-") {
			stored[name] = values
		}
	}
	return stored
}

func timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

func sameETag(a, b string) bool { return strings.Trim(a, `"`) == strings.Trim(b, `"`) }

// mayWrite applies the conditions of a PutObject or CompleteMultipartUpload; have is nil for a free key.
func mayWrite(have *object, h http.Header) error {
	switch none := h.Get("If-None-Match"); {
	case none == "":
	case none != "*":
		return refuse(http.StatusNotImplemented, "NotImplemented")
	case have != nil:
		return refuse(http.StatusPreconditionFailed, "PreconditionFailed")
	}
	match := h.Get("If-Match")
	if match == "" {
		return nil
	}
	if have == nil {
		return refuse(http.StatusNotFound, "NoSuchKey")
	}
	if !sameETag(match, have.etag) {
		return refuse(http.StatusPreconditionFailed, "PreconditionFailed")
	}
	return nil
}

func mayRead(have *object, h http.Header) error {
	if match := h.Get("If-Match"); match != "" && !sameETag(match, have.etag) {
		return refuse(http.StatusPreconditionFailed, "PreconditionFailed")
	}
	if none := h.Get("If-None-Match"); none != "" && (none == "*" || sameETag(none, have.etag)) {
		return refuse(http.StatusNotModified, "NotModified")
	}
	return nil
}

func putObject(r *request, objects map[string]*object) (*response, error) {
	if err := mayWrite(objects[r.key], r.Header); err != nil {
		return nil, err
	}
	o := newObject(r.body, r.sums, storedHeader(r.Header))
	objects[r.key] = o
	return &response{status: http.StatusOK, header: o.describe(true)}, nil
}

func (s *Server) copyObject(r *request, objects map[string]*object) (*response, error) {
	source, err := url.PathUnescape(strings.TrimPrefix(r.Header.Get("X-Amz-Copy-Source"), "/"))
	if err != nil {
		return nil, refuse(http.StatusBadRequest, "InvalidRequest")
	}
	bucket, key, _ := strings.Cut(source, "/")
	from := s.buckets[bucket][key]
	if from == nil {
		return nil, refuse(http.StatusNotFound, "NoSuchKey")
	}
	if err := mayWrite(objects[r.key], r.Header); err != nil {
		return nil, err
	}
	to := *from
	to.modified = time.Now().Truncate(time.Second)
	objects[r.key] = &to
	return &response{xml: struct {
		XMLName            xml.Name `xml:"CopyObjectResult"`
		ETag, LastModified string
	}{ETag: to.etag, LastModified: timestamp(to.modified)}}, nil
}

func getObject(r *request, o *object) (*response, error) {
	if o == nil {
		return nil, refuse(http.StatusNotFound, "NoSuchKey")
	}
	if err := mayRead(o, r.Header); err != nil {
		return nil, err
	}
	from, to, ranged, err := span(r.Header.Get("Range"), len(o.data))
	if err != nil {
		return nil, err
	}
	h := o.describe(!ranged && strings.EqualFold(r.Header.Get("X-Amz-Checksum-Mode"), "enabled"))
	h.Set("Last-Modified", o.modified.UTC().Format(http.TimeFormat))
	h.Set("Accept-Ranges", "bytes")
	h.Set("Content-Length", strconv.Itoa(to-from))
	resp := &response{status: http.StatusOK, header: h, body: o.data[from:to]}
	if ranged {
		resp.status = http.StatusPartialContent
		h.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, to-1, len(o.data)))
	}
	return resp, nil
}

// span returns the half-open interval of an object of the given size that a Range header asks for. As in S3 a
// header that is not understood asks for everything, and one that ends behind the object is cut.
func span(spec string, size int) (from, to int, ranged bool, err error) {
	first, last, ok := strings.Cut(strings.TrimPrefix(spec, "bytes="), "-")
	if !ok || !strings.HasPrefix(spec, "bytes=") {
		return 0, size, false, nil
	}
	a, aErr := strconv.Atoi(first)
	b, bErr := strconv.Atoi(last)
	switch {
	case first == "" && bErr == nil && b > 0:
		from, to = max(0, size-b), size
	case aErr == nil && last == "":
		from, to = a, size
	case aErr == nil && bErr == nil && a <= b:
		from, to = a, min(b+1, size)
	default:
		return 0, size, false, nil
	}
	if from >= size {
		outside := refuse(http.StatusRequestedRangeNotSatisfiable, "InvalidRange")
		outside.header = http.Header{"Content-Range": {fmt.Sprintf("bytes */%d", size)}}
		return 0, 0, false, outside
	}
	return from, to, true, nil
}

func deleteMany(r *request, objects map[string]*object) (*response, error) {
	const maxKeys = 1000
	var asked struct {
		Quiet  bool
		Object []struct{ Key string }
	}
	if xml.Unmarshal(r.body, &asked) != nil || len(asked.Object) > maxKeys {
		return nil, refuse(http.StatusBadRequest, "MalformedXML")
	}
	type deleted struct{ Key string }
	var result struct {
		XMLName xml.Name `xml:"DeleteResult"`
		Deleted []deleted
	}
	for _, o := range asked.Object {
		delete(objects, o.Key)
		if !asked.Quiet {
			result.Deleted = append(result.Deleted, deleted{o.Key})
		}
	}
	return &response{xml: result}, nil
}
