package objects

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

const (
	maxPartNumber = 10_000
	minPartSize   = 5 << 20 // of every part but the last
)

// upload is a multipart upload that is neither completed nor aborted.
type upload struct {
	bucket, key string
	parts       map[int]*object
	header      http.Header
}

func (s *Server) createUpload(r *request) *response {
	s.lastUpload++
	id := fmt.Sprintf("upload-%d", s.lastUpload)
	s.uploads[id] = &upload{bucket: r.bucket, key: r.key, parts: map[int]*object{}, header: storedHeader(r.Header)}
	return &response{xml: struct {
		XMLName               xml.Name `xml:"InitiateMultipartUploadResult"`
		Bucket, Key, UploadId string
	}{Bucket: r.bucket, Key: r.key, UploadId: id}}
}

func (s *Server) handleUpload(r *request, objects map[string]*object) (*response, error) {
	id := r.query.Get("uploadId")
	u := s.uploads[id]
	if u == nil || u.bucket != r.bucket || u.key != r.key {
		return nil, refuse(http.StatusNotFound, "NoSuchUpload")
	}
	switch r.Method {
	case http.MethodPut:
		return u.put(r)
	case http.MethodGet:
		return u.list(id), nil
	case http.MethodDelete:
		delete(s.uploads, id)
		return &response{status: http.StatusNoContent}, nil
	case http.MethodPost:
		o, err := u.complete(r, objects[u.key])
		if err != nil {
			return nil, err
		}
		objects[u.key] = o
		delete(s.uploads, id)
		return &response{xml: struct {
			XMLName           xml.Name `xml:"CompleteMultipartUploadResult"`
			Bucket, Key, ETag string
		}{Bucket: u.bucket, Key: u.key, ETag: o.etag}}, nil
	}
	return nil, refuse(http.StatusNotImplemented, "NotImplemented")
}

func (s *Server) listUploads(bucket string) *response {
	type entry struct{ Key, UploadId string }
	var result struct {
		XMLName xml.Name `xml:"ListMultipartUploadsResult"`
		Bucket  string
		Upload  []entry
	}
	result.Bucket = bucket
	for _, id := range slices.Sorted(maps.Keys(s.uploads)) {
		if u := s.uploads[id]; u.bucket == bucket {
			result.Upload = append(result.Upload, entry{u.key, id})
		}
	}
	return &response{xml: result}
}

func (u *upload) put(r *request) (*response, error) {
	if r.Header.Get("X-Amz-Copy-Source") != "" {
		return nil, refuse(http.StatusNotImplemented, "NotImplemented")
	}
	n, err := strconv.Atoi(r.query.Get("partNumber"))
	if err != nil || n < 1 || n > maxPartNumber {
		return nil, refuse(http.StatusBadRequest, "InvalidArgument")
	}
	part := newObject(r.body, r.sums, nil)
	u.parts[n] = part
	return &response{status: http.StatusOK, header: part.describe(true)}, nil
}

func (u *upload) list(id string) *response {
	type entry struct {
		PartNumber, Size int
		ETag             string
	}
	var result struct {
		XMLName               xml.Name `xml:"ListPartsResult"`
		Bucket, Key, UploadId string
		Part                  []entry
	}
	result.Bucket, result.Key, result.UploadId = u.bucket, u.key, id
	for _, n := range slices.Sorted(maps.Keys(u.parts)) {
		result.Part = append(result.Part, entry{n, len(u.parts[n].data), u.parts[n].etag})
	}
	return &response{xml: result}
}

// complete assembles the parts that the request lists; have is the object that the key holds now.
func (u *upload) complete(r *request, have *object) (*object, error) {
	var asked struct {
		Part []struct {
			PartNumber int
			ETag       string
		}
	}
	if xml.Unmarshal(r.body, &asked) != nil || len(asked.Part) == 0 {
		return nil, refuse(http.StatusBadRequest, "MalformedXML")
	}
	if err := mayWrite(have, r.Header); err != nil {
		return nil, err
	}
	var data bytes.Buffer
	digest := md5.New()
	for i, p := range asked.Part {
		part := u.parts[p.PartNumber]
		switch {
		case part == nil || !sameETag(p.ETag, part.etag):
			return nil, refuse(http.StatusBadRequest, "InvalidPart")
		case i > 0 && p.PartNumber <= asked.Part[i-1].PartNumber:
			return nil, refuse(http.StatusBadRequest, "InvalidPartOrder")
		case i < len(asked.Part)-1 && len(part.data) < minPartSize:
			return nil, refuse(http.StatusBadRequest, "EntityTooSmall")
		}
		data.Write(part.data)
		sum, _ := hex.DecodeString(strings.Trim(part.etag, `"`)) // our own encoding
		digest.Write(sum)
	}
	o := newObject(data.Bytes(), nil, u.header)
	o.etag = strconv.Quote(fmt.Sprintf("%x-%d", digest.Sum(nil), len(asked.Part)))
	return o, nil
}
