package warehouse

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// Listed is an object that a listing found.
type Listed struct {
	Path     string // under the scheme s3
	Size     int64
	Modified time.Time
}

// ErrCannot is what a store answers that does not let objects be listed or deleted, as a table bucket of S3 Tables, or not by us.
var ErrCannot = errors.New("the store does not do that for us")

// List lists the objects whose addresses begin with a prefix, in the order of their keys. It ends with the first error.
func (s *Store) List(ctx context.Context, prefix string) iter.Seq2[Listed, error] {
	return func(yield func(Listed, error) bool) {
		bucket, key, err := split(prefix)
		if err != nil {
			yield(Listed{}, err)
			return
		}
		pages := s3.NewListObjectsV2Paginator(s.s3, &s3.ListObjectsV2Input{Bucket: bucket, Prefix: key})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				yield(Listed{}, cannot(err))
				return
			}
			for _, o := range page.Contents {
				if !yield(Listed{"s3://" + *bucket + "/" + aws.ToString(o.Key), aws.ToInt64(o.Size), aws.ToTime(o.LastModified)}, nil) {
					return
				}
			}
		}
	}
}

// cannot marks an error as ErrCannot where it is one.
func cannot(err error) error {
	var answer *awshttp.ResponseError
	if errors.As(err, &answer) && (answer.HTTPStatusCode() == http.StatusForbidden || answer.HTTPStatusCode() == http.StatusMethodNotAllowed) {
		return errors.Join(ErrCannot, err)
	}
	return err
}

// Gone reports whether an error of reading an object says that there is none.
func Gone(err error) bool {
	var answer *awshttp.ResponseError
	return errors.As(err, &answer) && answer.HTTPStatusCode() == http.StatusNotFound
}

// Plain is an address of a file as List gives it, whatever of the schemes for S3 it has.
func Plain(path string) string {
	for _, scheme := range []string{"s3a://", "s3n://"} {
		if rest, ok := strings.CutPrefix(path, scheme); ok {
			return "s3://" + rest
		}
	}
	return path
}
