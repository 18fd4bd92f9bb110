package warehouse

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	awsconfig "github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/frazil/frazil/internal/config"
)

// The requests that one may become, and the longest rest between two.
const (
	awsTries = 4
	awsRest  = 2 * time.Second
)

// loadAWS is the process's AWS configuration, with bounded waits and tries.
func loadAWS(ctx context.Context) (aws.Config, error) {
	cfg, err := awsconfig.LoadDefaultConfig(ctx, awsconfig.WithHTTPClient(awshttp.NewBuildableClient()), awsconfig.WithRetryer(func() aws.Retryer {
		return retry.NewStandard(func(o *retry.StandardOptions) { o.MaxAttempts, o.MaxBackoff = awsTries, awsRest })
	}))
	if err != nil {
		return cfg, fmt.Errorf("load AWS configuration: %w", err)
	}
	client := cfg.HTTPClient
	if client == nil { // nobody has asked for another one than the SDK's own
		client = awshttp.NewBuildableClient()
	}
	cfg.HTTPClient = moving{client.Do, stall}
	return cfg, nil
}

// AWS is the configuration by which a catalog's account is spoken to, in the catalog's region.
func AWS(ctx context.Context, c config.Catalog) (aws.Config, error) {
	cfg, err := loadAWS(ctx)
	if err != nil {
		return cfg, err
	}
	cfg = assume(cfg, c.Role)
	cfg.Region = cmp.Or(c.Auth.Region, cfg.Region)
	return cfg, nil
}

// assume is the configuration with the credentials of a role, which are fetched when they are first needed and again
// before they end. Without a role it is the configuration itself.
func assume(cfg aws.Config, role string) aws.Config {
	if role == "" {
		return cfg
	}
	provider := stscreds.NewAssumeRoleProvider(sts.NewFromConfig(cfg), role, func(o *stscreds.AssumeRoleOptions) { o.RoleSessionName = "frazil" })
	cfg.Credentials = aws.NewCredentialsCache(provider, func(o *aws.CredentialsCacheOptions) { o.ExpiryWindow = time.Minute })
	return cfg
}
