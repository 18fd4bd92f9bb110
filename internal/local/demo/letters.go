package demo

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsconfig "github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/frazil/frazil/internal/deadletter"
	"github.com/frazil/frazil/internal/local/stack"
)

// Letters prints the dead letters below an s3:// address by their reasons, or, where record names one as
// topic/partition/offset, that one whole. store is the S3 endpoint; empty: AWS's, as the environment says.
func Letters(ctx context.Context, o Options, store, from, record string) error {
	client, err := s3Client(ctx, store)
	if err != nil {
		return err
	}
	letters, err := readLetters(ctx, client, from)
	if err != nil {
		return fmt.Errorf("dead letters below %s: %w", from, err)
	}
	p := printer{o.Out, o.Colour}
	if record == "" {
		p.reasons(letters, from)
		return nil
	}
	for i := range letters {
		if ref(&letters[i]) == record {
			p.letter(&letters[i])
			return nil
		}
	}
	return fmt.Errorf("there is no dead letter of %s below %s", record, from)
}

func s3Client(ctx context.Context, store string) (*s3.Client, error) {
	cfg, err := awsconfig.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, err
	}
	return s3.NewFromConfig(cfg, func(o *s3.Options) {
		if store != "" {
			o.BaseEndpoint, o.UsePathStyle, o.Region = &store, true, stack.Region
			o.Credentials = credentials.NewStaticCredentialsProvider(stack.AccessKey, stack.SecretKey, "")
		}
		o.DisableLogOutputChecksumValidationSkipped = true
	}), nil
}

// readLetters reads all letters, each record's first, in the order of records.
func readLetters(ctx context.Context, client *s3.Client, from string) ([]deadletter.Letter, error) {
	rest, ok := strings.CutPrefix(from, "s3://")
	if !ok {
		return nil, fmt.Errorf("is no s3:// address")
	}
	bucket, prefix, _ := strings.Cut(rest, "/")
	var all []deadletter.Letter
	for pages := s3.NewListObjectsV2Paginator(client, &s3.ListObjectsV2Input{Bucket: &bucket, Prefix: &prefix}); pages.HasMorePages(); {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, object := range page.Contents {
			letters, err := readObject(ctx, client, bucket, aws.ToString(object.Key))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", aws.ToString(object.Key), err)
			}
			all = append(all, letters...)
		}
	}
	slices.SortStableFunc(all, func(a, b deadletter.Letter) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition), cmp.Compare(a.Offset, b.Offset), a.At.Compare(b.At))
	})
	return slices.CompactFunc(all, func(a, b deadletter.Letter) bool { return a.Source == b.Source && ref(&a) == ref(&b) }), nil
}

func readObject(ctx context.Context, client *s3.Client, bucket, key string) ([]deadletter.Letter, error) {
	out, err := client.GetObject(ctx, &s3.GetObjectInput{Bucket: &bucket, Key: &key})
	if err != nil {
		return nil, err
	}
	defer func() { _ = out.Body.Close() }()
	data, err := io.ReadAll(out.Body)
	if err != nil {
		return nil, err
	}
	return deadletter.Decode(data)
}

func ref(l *deadletter.Letter) string {
	return fmt.Sprintf("%s/%d/%d", l.Topic, l.Partition, l.Offset)
}

// reasons prints each reason with how many records it has, and the first and the last of them.
func (p printer) reasons(letters []deadletter.Letter, from string) {
	type group struct {
		class, reason, first, last string
		records                    int
	}
	var groups []*group
	for i := range letters {
		l := &letters[i]
		at := slices.IndexFunc(groups, func(g *group) bool { return g.class == l.Class && g.reason == l.Reason })
		if at < 0 {
			at = len(groups)
			groups = append(groups, &group{class: l.Class, reason: l.Reason, first: ref(l)})
		}
		groups[at].records++
		groups[at].last = ref(l)
	}
	slices.SortStableFunc(groups, func(a, b *group) int { return cmp.Compare(b.records, a.records) })
	for _, g := range groups {
		p.line("%6d  %-8s %s  %s", g.records, g.class, g.reason, p.faint(g.first+" … "+g.last))
	}
	p.line("%d record(s) with dead letters below %s", len(letters), from)
}

// letter prints one whole.
func (p printer) letter(l *deadletter.Letter) {
	p.line("record   %s of source %s, of %s", ref(l), l.Source, instant(time.UnixMilli(l.Time)))
	p.line("table    %s\nclass    %s\ncolumn   %s\nreason   %s\nat       %s by frazil %s", l.Table, l.Class, l.Column, l.Reason, instant(l.At), l.Version)
	for _, h := range l.Headers {
		p.line("header   %s: %s", h.Key, text(h.Value))
	}
	p.line("key      %s\nvalue    %s", text(l.Key), text(l.Value))
}

func instant(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// text shows bytes as text where they are one.
func text(b []byte) string {
	switch {
	case b == nil:
		return "null"
	case utf8.Valid(b):
		return string(b)
	}
	return fmt.Sprintf("%d bytes, hex %x", len(b), b)
}
