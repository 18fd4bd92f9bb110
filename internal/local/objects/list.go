package objects

import (
	"cmp"
	"encoding/base64"
	"encoding/xml"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

const maxListed = 1000

type listing struct {
	XMLName                               xml.Name `xml:"ListBucketResult"`
	Name, Prefix, Delimiter, EncodingType string
	KeyCount, MaxKeys                     int
	IsTruncated                           bool
	NextContinuationToken                 string `xml:",omitempty"`
	Contents                              []listed
	CommonPrefixes                        []commonPrefix
}

type listed struct {
	Key, LastModified, ETag string
	Size                    int
	StorageClass            string
}

type commonPrefix struct{ Prefix string }

func list(r *request, objects map[string]*object) (*response, error) {
	out := &listing{
		Name: r.bucket, Prefix: r.query.Get("prefix"), Delimiter: r.query.Get("delimiter"),
		EncodingType: r.query.Get("encoding-type"), MaxKeys: maxListed,
	}
	if asked := r.query.Get("max-keys"); asked != "" {
		n, err := strconv.Atoi(asked)
		if err != nil || n < 0 {
			return nil, refuse(http.StatusBadRequest, "InvalidArgument")
		}
		out.MaxKeys = min(n, maxListed)
	}
	after := cmp.Or(r.query.Get("start-after"), r.query.Get("marker"))
	if token := r.query.Get("continuation-token"); token != "" {
		last, err := base64.RawURLEncoding.DecodeString(token)
		if err != nil {
			return nil, refuse(http.StatusBadRequest, "InvalidArgument")
		}
		after = string(last)
	}
	out.fill(objects, after)
	out.encode()
	return &response{xml: out}, nil
}

// fill adds what follows after, a key or common prefix, in key order, until the page is full.
func (l *listing) fill(objects map[string]*object, after string) {
	last := after
	for _, key := range slices.Sorted(maps.Keys(objects)) {
		if !strings.HasPrefix(key, l.Prefix) || key <= after {
			continue
		}
		group := l.group(key)
		if group != "" && group == last {
			continue // counted already, on this page or as the last entry of the page before
		}
		if l.KeyCount == l.MaxKeys {
			l.IsTruncated = l.MaxKeys > 0
			l.NextContinuationToken = base64.RawURLEncoding.EncodeToString([]byte(last))
			return
		}
		l.KeyCount++
		last = cmp.Or(group, key)
		if group != "" {
			l.CommonPrefixes = append(l.CommonPrefixes, commonPrefix{group})
			continue
		}
		o := objects[key]
		l.Contents = append(l.Contents, listed{key, timestamp(o.modified), o.etag, len(o.data), "STANDARD"})
	}
}

// group returns the common prefix that key is folded into, or "".
func (l *listing) group(key string) string {
	if l.Delimiter == "" {
		return ""
	}
	rest := key[len(l.Prefix):]
	at := strings.Index(rest, l.Delimiter)
	if at < 0 {
		return ""
	}
	return key[:len(l.Prefix)+at+len(l.Delimiter)]
}

// encode applies the encoding the client asked for, which lets XML carry any key.
func (l *listing) encode() {
	if l.EncodingType != "url" {
		return
	}
	escape := func(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "%2F", "/") }
	l.Prefix, l.Delimiter = escape(l.Prefix), escape(l.Delimiter)
	for i := range l.Contents {
		l.Contents[i].Key = escape(l.Contents[i].Key)
	}
	for i := range l.CommonPrefixes {
		l.CommonPrefixes[i].Prefix = escape(l.CommonPrefixes[i].Prefix)
	}
}
