package warehouse

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// Store is S3. Paths are s3:// addresses of any bucket. One client serves the whole process. Callers say in errors which
// path they are about.
type Store struct{ s3 *s3.Client }

// newStore takes the address, region and credentials from Iceberg's s3.* properties where they are there, else
// from the process's AWS configuration.
func newStore(cfg aws.Config, properties map[string]string) *Store {
	return &Store{s3.NewFromConfig(cfg, func(o *s3.Options) {
		if v := properties["s3.endpoint"]; v != "" {
			o.BaseEndpoint = &v
		}
		if v := properties["s3.region"]; v != "" {
			o.Region = v
		}
		if key := properties["s3.access-key-id"]; key != "" {
			o.Credentials = credentials.NewStaticCredentialsProvider(key, properties["s3.secret-access-key"], properties["s3.session-token"])
		}
		o.DisableLogOutputChecksumValidationSkipped = true // objects of other writers may have none
		// Names of buckets are no host names behind an address that is not AWS's own.
		o.UsePathStyle = o.BaseEndpoint != nil && properties["s3.path-style-access"] != "false"
	})}
}

func split(path string) (bucket, key *string, err error) {
	scheme, rest, _ := strings.Cut(path, "://")
	b, k, ok := strings.Cut(rest, "/")
	if !ok || b == "" || k == "" || scheme != "s3" && scheme != "s3a" && scheme != "s3n" {
		return nil, nil, fmt.Errorf("%q is no s3:// address of an object", path)
	}
	return &b, &k, nil
}

// Read returns a whole object.
func (s *Store) Read(ctx context.Context, path string) ([]byte, error) { return s.get(ctx, path, nil) }

// ReadRange returns n bytes of an object from offset off.
func (s *Store) ReadRange(ctx context.Context, path string, off, n int64) ([]byte, error) {
	b, err := s.get(ctx, path, aws.String(fmt.Sprintf("bytes=%d-%d", off, off+n-1)))
	if err == nil && int64(len(b)) != n {
		return nil, fmt.Errorf("%d bytes from %d on, not %d", len(b), off, n)
	}
	return b, err
}

func (s *Store) get(ctx context.Context, path string, part *string) (data []byte, err error) {
	bucket, key, err := split(path)
	if err != nil {
		return nil, err
	}
	out, err := s.s3.GetObject(ctx, &s3.GetObjectInput{Bucket: bucket, Key: key, Range: part})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, out.Body.Close()) }()
	buf := bytes.NewBuffer(make([]byte, 0, aws.ToInt64(out.ContentLength)+bytes.MinRead))
	if _, err := io.Copy(buf, out.Body); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

// Write stores a whole object.
func (s *Store) Write(ctx context.Context, path string, data []byte) error {
	bucket, key, err := split(path)
	if err != nil {
		return err
	}
	_, err = s.s3.PutObject(ctx, &s3.PutObjectInput{Bucket: bucket, Key: key, Body: bytes.NewReader(data)})
	return err
}

// Delete removes an object; one that is not there is no error.
func (s *Store) Delete(ctx context.Context, path string) error {
	bucket, key, err := split(path)
	if err != nil {
		return err
	}
	_, err = s.s3.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: bucket, Key: key})
	return cannot(err)
}
