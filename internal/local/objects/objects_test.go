package objects_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/frazil/frazil/internal/local/objects"
	"github.com/google/go-cmp/cmp"
)

const bucket = "lake"

// endpoint is one server with an SDK client at the settings that config.LoadDefaultConfig gives.
type endpoint struct {
	server *objects.Server
	client *s3.Client
	http   *http.Client
	t      *testing.T
}

// onEachTransport runs f over HTTP, where the SDK sends its checksum as a header, and over TLS, where it sends an
// aws-chunked body with the checksum in a trailer.
func onEachTransport(t *testing.T, f func(*testing.T, *endpoint)) {
	t.Helper()
	for name, serve := range map[string]func(http.Handler) *httptest.Server{
		"HTTP": httptest.NewServer, "TLS": httptest.NewTLSServer,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f(t, connect(t, serve))
		})
	}
}

func connect(t *testing.T, serve func(http.Handler) *httptest.Server) *endpoint {
	t.Helper()
	server := objects.New(bucket)
	web := serve(server)
	t.Cleanup(web.Close)
	client := s3.New(s3.Options{
		Region: "us-east-1", BaseEndpoint: &web.URL, UsePathStyle: true, HTTPClient: web.Client(),
		Credentials: credentials.NewStaticCredentialsProvider("key", "secret", ""), RetryMaxAttempts: 1,
		RequestChecksumCalculation: aws.RequestChecksumCalculationWhenSupported,
		ResponseChecksumValidation: aws.ResponseChecksumValidationWhenSupported,
	})
	return &endpoint{server, client, web.Client(), t}
}

func (e *endpoint) put(key string, body []byte, change ...func(*s3.PutObjectInput)) (*s3.PutObjectOutput, error) {
	in := &s3.PutObjectInput{Bucket: aws.String(bucket), Key: &key, Body: bytes.NewReader(body)}
	for _, f := range change {
		f(in)
	}
	return e.client.PutObject(e.t.Context(), in)
}

func (e *endpoint) mustPut(key string, body []byte) *s3.PutObjectOutput {
	e.t.Helper()
	out, err := e.put(key, body)
	if err != nil {
		e.t.Fatalf("put %s: %v", key, err)
	}
	return out
}

func (e *endpoint) get(key string, change ...func(*s3.GetObjectInput)) ([]byte, *s3.GetObjectOutput, error) {
	in := &s3.GetObjectInput{Bucket: aws.String(bucket), Key: &key}
	for _, f := range change {
		f(in)
	}
	out, err := e.client.GetObject(e.t.Context(), in)
	if err != nil {
		return nil, nil, err
	}
	defer out.Body.Close()
	data, err := io.ReadAll(out.Body)
	return data, out, err
}

// code is "status code" of an S3 error, "" of none.
func code(err error) string {
	if err == nil {
		return ""
	}
	var response *smithyhttp.ResponseError
	var api smithy.APIError
	status := 0
	if errors.As(err, &response) {
		status = response.HTTPStatusCode()
	}
	if errors.As(err, &api) {
		return fmt.Sprintf("%d %s", status, api.ErrorCode())
	}
	return fmt.Sprintf("%d %v", status, err)
}

func wantCode(t *testing.T, what string, err error, want string) {
	t.Helper()
	if got := code(err); got != want {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

func randomBytes(n int) []byte {
	data := make([]byte, n)
	source := rand.NewChaCha8([32]byte{1})
	_, _ = source.Read(data)
	return data
}

func TestObjectsComeBackAsWritten(t *testing.T) {
	t.Parallel()
	onEachTransport(t, func(t *testing.T, e *endpoint) {
		big := randomBytes(300_000)
		keys := []string{"plain", "a b+c.parquet", "ü=%2F/Ünï.txt", "x?y&z#1", "a//b", "dot/../up", "p", "p/q"}
		for _, key := range keys {
			e.mustPut(key, append([]byte(key), big...))
		}
		e.mustPut("empty", nil)
		for _, key := range keys {
			got, _, err := e.get(key)
			if err != nil || !bytes.Equal(got, append([]byte(key), big...)) {
				t.Errorf("%q: %d bytes, %v", key, len(got), err)
			}
			if direct, ok := e.server.Read(bucket, key); !ok || !bytes.Equal(direct, got) {
				t.Errorf("%q: a direct read differs", key)
			}
		}
		if got, _, err := e.get("empty"); err != nil || len(got) != 0 {
			t.Errorf("empty: %d bytes, %v", len(got), err)
		}
	})
}

func TestUnseekableBodyOverTLSArrivesWithoutFraming(t *testing.T) {
	t.Parallel()
	e := connect(t, httptest.NewTLSServer)
	body := randomBytes(200_000)
	_, err := e.client.PutObject(t.Context(), &s3.PutObjectInput{
		Bucket: aws.String(bucket), Key: aws.String("stream"),
		Body: io.MultiReader(bytes.NewReader(body)), ContentLength: aws.Int64(int64(len(body))),
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := e.server.Read(bucket, "stream"); !bytes.Equal(got, body) {
		t.Errorf("got %d bytes, want the %d written", len(got), len(body))
	}
}

func TestChecksumsAreVerifiedAndStored(t *testing.T) {
	t.Parallel()
	onEachTransport(t, func(t *testing.T, e *endpoint) {
		body := randomBytes(100_000)
		for _, algorithm := range []types.ChecksumAlgorithm{"CRC32", "CRC32C", "CRC64NVME", "SHA1", "SHA256"} {
			_, err := e.put("sum", body, func(in *s3.PutObjectInput) { in.ChecksumAlgorithm = algorithm })
			wantCode(t, string(algorithm), err, "")
		}
		put := e.mustPut("crc32", body)
		_, got, err := e.get("crc32", func(in *s3.GetObjectInput) { in.ChecksumMode = types.ChecksumModeEnabled })
		if err != nil || aws.ToString(got.ChecksumCRC32) == "" || aws.ToString(got.ChecksumCRC32) != aws.ToString(put.ChecksumCRC32) {
			t.Errorf("stored checksum: %v", err)
		}
		_, err = e.put("bad", body, func(in *s3.PutObjectInput) { in.ChecksumCRC32 = aws.String("AAAAAA==") })
		wantCode(t, "wrong CRC32", err, "400 BadDigest")
		_, err = e.put("bad", body, func(in *s3.PutObjectInput) { in.ContentMD5 = aws.String("AAAAAAAAAAAAAAAAAAAAAA==") })
		wantCode(t, "wrong Content-MD5", err, "400 BadDigest")
		if _, ok := e.server.Read(bucket, "bad"); ok {
			t.Error("a refused object was stored")
		}
	})
}

func TestRangesAreCutToTheObjectAndCarryNoChecksum(t *testing.T) {
	t.Parallel()
	onEachTransport(t, func(t *testing.T, e *endpoint) {
		body := randomBytes(3000)
		e.mustPut("k", body)
		for spec, want := range map[string][]byte{
			"bytes=1000-1999": body[1000:2000], "bytes=-8": body[2992:], "bytes=2999-9999": body[2999:], "bytes=2000-": body[2000:],
		} {
			got, out, err := e.get("k", func(in *s3.GetObjectInput) { in.Range, in.ChecksumMode = &spec, types.ChecksumModeEnabled })
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s: %d bytes, %v", spec, len(got), err)
			} else if out.ChecksumCRC32 != nil {
				t.Errorf("%s: carries the whole object's checksum", spec)
			}
		}
		_, _, err := e.get("k", func(in *s3.GetObjectInput) { in.Range = aws.String("bytes=3000-3001") })
		wantCode(t, "range behind the object", err, "416 InvalidRange")
	})
}

func TestMissingObjectsAreTypedErrors(t *testing.T) {
	t.Parallel()
	e := connect(t, httptest.NewServer)
	_, _, err := e.get("nope")
	if missing := (*types.NoSuchKey)(nil); !errors.As(err, &missing) {
		t.Errorf("get: %v", err)
	}
	_, err = e.client.HeadObject(t.Context(), &s3.HeadObjectInput{Bucket: aws.String(bucket), Key: aws.String("nope")})
	if missing := (*types.NotFound)(nil); !errors.As(err, &missing) {
		t.Errorf("head: %v", err)
	}
	_, err = e.client.GetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String("nowhere"), Key: aws.String("k")})
	wantCode(t, "missing bucket", err, "404 NoSuchBucket")
	_, err = e.client.DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: aws.String(bucket), Key: aws.String("nope")})
	wantCode(t, "delete", err, "")
}

func TestConditionsAreObeyed(t *testing.T) {
	t.Parallel()
	onEachTransport(t, func(t *testing.T, e *endpoint) {
		body := []byte("body")
		created := func(in *s3.PutObjectInput) { in.IfNoneMatch = aws.String("*") }
		first, err := e.put("once", body, created)
		wantCode(t, "create", err, "")
		_, err = e.put("once", body, created)
		wantCode(t, "create a taken key", err, "412 PreconditionFailed")
		_, err = e.put("once", body, func(in *s3.PutObjectInput) { in.IfMatch = aws.String(`"other"`) })
		wantCode(t, "replace another version", err, "412 PreconditionFailed")
		_, err = e.put("once", body, func(in *s3.PutObjectInput) { in.IfMatch = first.ETag })
		wantCode(t, "replace this version", err, "")
		_, err = e.put("absent", body, func(in *s3.PutObjectInput) { in.IfMatch = first.ETag })
		wantCode(t, "replace nothing", err, "404 NoSuchKey")
		_, _, err = e.get("once", func(in *s3.GetObjectInput) { in.IfMatch = aws.String(`"other"`) })
		wantCode(t, "read another version", err, "412 PreconditionFailed")
		if _, _, err = e.get("once", func(in *s3.GetObjectInput) { in.IfNoneMatch = first.ETag }); !strings.HasPrefix(code(err), "304") {
			t.Errorf("read if changed: %v", err)
		}
	})
}

func TestOneOfManyRacingCreatesWins(t *testing.T) {
	t.Parallel()
	onEachTransport(t, func(t *testing.T, e *endpoint) {
		var wins atomic.Int32
		var all sync.WaitGroup
		for i := range 16 {
			all.Go(func() {
				_, err := e.put("race", fmt.Appendf(nil, "%d", i), func(in *s3.PutObjectInput) { in.IfNoneMatch = aws.String("*") })
				if err == nil {
					wins.Add(1)
				} else if code(err) != "412 PreconditionFailed" {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if wins.Load() != 1 {
			t.Errorf("%d winners", wins.Load())
		}
	})
}

func TestListingsPageInKeyOrder(t *testing.T) {
	t.Parallel()
	e := connect(t, httptest.NewServer)
	var want []string
	for i := range 25 {
		key := fmt.Sprintf("l/k=%02d/ü x", i)
		e.server.Write(bucket, key, []byte("x"))
		want = append(want, key)
	}
	e.server.Write(bucket, "m", nil)
	got, sizes := e.listAll("l/", "")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int{10, 10, 5}, sizes); diff != "" {
		t.Error(diff)
	}
	got, sizes = e.listAll("l/", "/")
	if len(got) != 25 || got[0] != "l/k=00/" {
		t.Errorf("common prefixes: %q", got)
	}
	if diff := cmp.Diff([]int{10, 10, 5}, sizes); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(append(want, "m"), e.server.Keys(bucket, "")); diff != "" {
		t.Error(diff)
	}
}

// listAll returns keys and common prefixes, read in pages of ten, and the size of each page.
func (e *endpoint) listAll(prefix, delimiter string) (entries []string, sizes []int) {
	e.t.Helper()
	in := &s3.ListObjectsV2Input{Bucket: aws.String(bucket), Prefix: &prefix, MaxKeys: aws.Int32(10)}
	if delimiter != "" {
		in.Delimiter = &delimiter
	}
	for pages := s3.NewListObjectsV2Paginator(e.client, in); pages.HasMorePages(); {
		out, err := pages.NextPage(e.t.Context())
		if err != nil {
			e.t.Fatal(err)
		}
		for _, o := range out.Contents {
			entries = append(entries, *o.Key)
		}
		for _, p := range out.CommonPrefixes {
			entries = append(entries, *p.Prefix)
		}
		sizes = append(sizes, int(aws.ToInt32(out.KeyCount)))
	}
	return entries, sizes
}

func TestDeleteObjectsRemovesAllAndIgnoresMissing(t *testing.T) {
	t.Parallel()
	onEachTransport(t, func(t *testing.T, e *endpoint) {
		e.server.Write(bucket, "a", nil)
		e.server.Write(bucket, "b", nil)
		e.server.Write(bucket, "c", nil)
		out, err := e.client.DeleteObjects(t.Context(), &s3.DeleteObjectsInput{
			Bucket: aws.String(bucket),
			Delete: &types.Delete{Objects: []types.ObjectIdentifier{{Key: aws.String("a")}, {Key: aws.String("b")}, {Key: aws.String("never")}}},
		})
		if err != nil || len(out.Deleted) != 3 || len(out.Errors) != 0 {
			t.Fatalf("%+v %v", out, err)
		}
		if diff := cmp.Diff([]string{"c"}, e.server.Keys(bucket, "")); diff != "" {
			t.Error(diff)
		}
	})
}

func TestMultipartUploadAssemblesItsParts(t *testing.T) {
	t.Parallel()
	onEachTransport(t, func(t *testing.T, e *endpoint) {
		body := randomBytes(5<<20 + 1000)
		id, parts := e.uploadParts("big", body, 5<<20)
		_, err := e.complete("big", id, parts, nil)
		wantCode(t, "complete", err, "")
		got, _, err := e.get("big")
		if err != nil || !bytes.Equal(got, body) {
			t.Errorf("%d bytes, %v", len(got), err)
		}
		id, parts = e.uploadParts("big", body[:2000], 1000)
		_, err = e.complete("big", id, parts, nil)
		wantCode(t, "small first part", err, "400 EntityTooSmall")
		_, err = e.complete("big", id, parts[:1], aws.String("*"))
		wantCode(t, "complete on a taken key", err, "412 PreconditionFailed")
		_, err = e.client.AbortMultipartUpload(t.Context(), &s3.AbortMultipartUploadInput{Bucket: aws.String(bucket), Key: aws.String("big"), UploadId: &id})
		wantCode(t, "abort", err, "")
		_, err = e.complete("big", id, parts[:1], nil)
		wantCode(t, "complete after abort", err, "404 NoSuchUpload")
	})
}

func (e *endpoint) uploadParts(key string, body []byte, size int) (id string, parts []types.CompletedPart) {
	e.t.Helper()
	created, err := e.client.CreateMultipartUpload(e.t.Context(), &s3.CreateMultipartUploadInput{Bucket: aws.String(bucket), Key: &key})
	if err != nil {
		e.t.Fatal(err)
	}
	for n := int32(1); len(body) > 0; n++ {
		part := body[:min(size, len(body))]
		body = body[len(part):]
		out, err := e.client.UploadPart(e.t.Context(), &s3.UploadPartInput{
			Bucket: aws.String(bucket), Key: &key, UploadId: created.UploadId, PartNumber: aws.Int32(n), Body: bytes.NewReader(part),
		})
		if err != nil {
			e.t.Fatal(err)
		}
		parts = append(parts, types.CompletedPart{ETag: out.ETag, PartNumber: aws.Int32(n), ChecksumCRC32: out.ChecksumCRC32})
	}
	return *created.UploadId, parts
}

func (e *endpoint) complete(key, id string, parts []types.CompletedPart, ifNoneMatch *string) (*s3.CompleteMultipartUploadOutput, error) {
	return e.client.CompleteMultipartUpload(e.t.Context(), &s3.CompleteMultipartUploadInput{
		Bucket: aws.String(bucket), Key: &key, UploadId: &id, IfNoneMatch: ifNoneMatch,
		MultipartUpload: &types.CompletedMultipartUpload{Parts: parts},
	})
}

func TestCopyAndPresignedRead(t *testing.T) {
	t.Parallel()
	e := connect(t, httptest.NewServer)
	e.mustPut("from", []byte("body"))
	_, err := e.client.CopyObject(t.Context(), &s3.CopyObjectInput{Bucket: aws.String(bucket), Key: aws.String("to"), CopySource: aws.String(bucket + "/from")})
	wantCode(t, "copy", err, "")
	signed, err := s3.NewPresignClient(e.client).PresignGetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String(bucket), Key: aws.String("to")})
	if err != nil {
		t.Fatal(err)
	}
	resp, err := e.http.Get(signed.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if got, _ := io.ReadAll(resp.Body); string(got) != "body" {
		t.Errorf("got %q", got)
	}
}

func TestFaultRefusesBeforeAndFaultAfterLosesTheAnswer(t *testing.T) {
	t.Parallel()
	e := connect(t, httptest.NewServer)
	onPut := func(r *http.Request) (int, string) {
		if r.Method == http.MethodPut {
			return http.StatusServiceUnavailable, "SlowDown"
		}
		return 0, ""
	}
	e.server.SetFault(onPut)
	_, err := e.put("refused", []byte("x"))
	wantCode(t, "fault", err, "503 SlowDown")
	e.server.SetFault(nil)
	e.server.SetFaultAfter(onPut)
	_, err = e.put("applied", []byte("x"))
	wantCode(t, "fault after", err, "503 SlowDown")
	if diff := cmp.Diff([]string{"applied"}, e.server.Keys(bucket, "")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]int{"PUT": 2}, e.server.Stats()); diff != "" {
		t.Error(diff)
	}
}

func TestFaultMayHangUntilTheClientGivesUp(t *testing.T) {
	t.Parallel()
	e := connect(t, httptest.NewServer)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	e.server.SetFault(func(r *http.Request) (int, string) {
		cancel()
		<-r.Context().Done()
		close(ended)
		return http.StatusInternalServerError, "InternalError"
	})
	_, err := e.client.PutObject(ctx, &s3.PutObjectInput{Bucket: aws.String(bucket), Key: aws.String("k"), Body: strings.NewReader("x")})
	if err == nil {
		t.Fatal("the request was answered")
	}
	<-ended
	if keys := e.server.Keys(bucket, ""); len(keys) != 0 {
		t.Errorf("stored %q", keys)
	}
}

func TestATableBucketNeitherDeletesNorLists(t *testing.T) {
	t.Parallel()
	s := objects.New("lake")
	s.Write("lake", "a", []byte("x"))
	s.KeepAll()
	for _, c := range []struct {
		method, path string
		want         int
	}{{"DELETE", "/lake/a", 405}, {"GET", "/lake?list-type=2", 405}, {"POST", "/lake?delete", 405}, {"GET", "/lake/a", 200}, {"PUT", "/lake/b", 200}} {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest(c.method, c.path, nil))
		if w.Code != c.want {
			t.Errorf("%s %s: got %d, want %d", c.method, c.path, w.Code, c.want)
		}
	}
	if _, there := s.Read("lake", "a"); !there {
		t.Error("the object is gone")
	}
}
