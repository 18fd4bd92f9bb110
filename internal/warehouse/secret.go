package warehouse

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/frazil/frazil/internal/config"
)

// secrets reads what references name with the process's own credentials. Errors name the reference, never what is kept there.
type secrets struct{ aws aws.Config }

// read is the secret of a reference. A text that is none is the secret itself: package config lets none through, but
// local tools make configurations of their own.
func (s secrets) read(ctx context.Context, text string) (string, error) {
	r, ok := config.ParseReference(text)
	if !ok {
		return text, nil
	}
	value, err := s.fetch(ctx, r)
	if err != nil {
		return "", fmt.Errorf("read secret %s: %w", text, err)
	}
	if value == "" {
		return "", fmt.Errorf("read secret %s: it is empty", text)
	}
	return value, nil
}

func (s secrets) fetch(ctx context.Context, r config.Reference) (string, error) {
	if r.Service == "ssm" {
		out, err := ssm.NewFromConfig(s.aws).GetParameter(ctx, &ssm.GetParameterInput{Name: &r.Name, WithDecryption: aws.Bool(true)})
		if err != nil {
			return "", err
		}
		return aws.ToString(out.Parameter.Value), nil
	}
	out, err := secretsmanager.NewFromConfig(s.aws).GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: &r.Name})
	switch {
	case err != nil:
		return "", err
	case out.SecretString == nil:
		return "", fmt.Errorf("it holds bytes, not text")
	case r.Key == "":
		return *out.SecretString, nil
	}
	var members map[string]json.RawMessage
	var value *string
	if json.Unmarshal([]byte(*out.SecretString), &members) != nil || json.Unmarshal(members[r.Key], &value) != nil || value == nil {
		return "", fmt.Errorf("it is no JSON object with a text %s", r.Key)
	}
	return *value, nil
}

// Account is as whom the process runs at AWS, for what is no catalog.
type Account struct{ aws aws.Config }

// OpenAccount takes the process's AWS configuration.
func OpenAccount(ctx context.Context) (*Account, error) {
	cfg, err := loadAWS(ctx)
	return &Account{cfg}, err
}

// Secret reads what a reference names.
func (a *Account) Secret(ctx context.Context, reference string) (string, error) {
	return secrets{a.aws}.read(ctx, reference)
}

// Credentials are valid ones of the process.
func (a *Account) Credentials(ctx context.Context) (key, secret, session string, err error) {
	c, err := a.aws.Credentials.Retrieve(ctx)
	return c.AccessKeyID, c.SecretAccessKey, c.SessionToken, err
}

// ReadDocument reads a text from s3://BUCKET/KEY or ssm:/PARAMETER.
func ReadDocument(ctx context.Context, address string) ([]byte, error) {
	cfg, err := loadAWS(ctx)
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(address, "s3://") {
		return newStore(cfg, nil).Read(ctx, address)
	}
	r, ok := config.ParseReference(address)
	if !ok {
		return nil, fmt.Errorf("%s: must be s3://BUCKET/KEY or ssm:/PARAMETER", address)
	}
	text, err := secrets{cfg}.fetch(ctx, r)
	return []byte(text), err
}

// properties are a catalog's, with its secrets in place of references.
func (s secrets) properties(ctx context.Context, given map[string]string) (map[string]string, error) {
	out := make(map[string]string, len(given))
	for name, value := range given {
		if config.IsSecret(name) {
			var err error
			if value, err = s.read(ctx, value); err != nil {
				return nil, fmt.Errorf("property %s: %w", name, err)
			}
		}
		out[name] = value
	}
	return out, nil
}
