// Package athena has Amazon Athena run statements: it starts one, and tells what has become of it. It waits for none.
//
// Of what Athena says it passes on codes, never texts: those may have values of rows in them.
package athena

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/athena"
	"github.com/aws/aws-sdk-go-v2/service/athena/types"
	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/warehouse"
)

// Client speaks to Athena in the region of a catalog, with the credentials that the catalog is spoken to with.
type Client struct {
	api      *athena.Client
	settings config.Athena
}

// Open makes a client. It connects to nothing.
func Open(ctx context.Context, c config.Catalog, settings config.Athena) (*Client, error) {
	cfg, err := warehouse.AWS(ctx, c)
	if err != nil {
		return nil, err
	}
	return &Client{athena.NewFromConfig(cfg), settings}, nil
}

// ErrRefused says that Athena does not take such a request, or has had another one with its token.
var ErrRefused = errors.New("refused")

// Start has a statement run, in a database, and returns the id of its query. A request with a token that Athena has had is the
// same request, and makes no second query.
func (c *Client) Start(ctx context.Context, database, statement, token string) (string, error) {
	in := &athena.StartQueryExecutionInput{
		QueryString: &statement, ClientRequestToken: &token, WorkGroup: &c.settings.Workgroup,
		QueryExecutionContext: &types.QueryExecutionContext{Catalog: &c.settings.Catalog, Database: &database},
	}
	if c.settings.Output != "" {
		in.ResultConfiguration = &types.ResultConfiguration{OutputLocation: &c.settings.Output}
	}
	out, err := c.api.StartQueryExecution(ctx, in)
	var refused *types.InvalidRequestException
	switch {
	case errors.As(err, &refused):
		return "", fmt.Errorf("have Athena start a query: %w: %w", ErrRefused, err)
	case err != nil:
		return "", fmt.Errorf("have Athena start a query: %w", err)
	}
	return aws.ToString(out.QueryExecutionId), nil
}

// State is what has become of a query.
type State struct {
	Running bool          // or it waits for its turn
	Outcome string        // else: succeeded, failed, cancelled, or forgotten by Athena
	Code    string        // of a failure, as ICEBERG_OPTIMIZE_MORE_RUNS_NEEDED; "" if it has none
	Time    time.Duration // that it took
	Scanned int64         // bytes
}

// State asks for the state of a query.
func (c *Client) State(ctx context.Context, query string) (State, error) {
	out, err := c.api.GetQueryExecution(ctx, &athena.GetQueryExecutionInput{QueryExecutionId: &query})
	var unknown *types.InvalidRequestException
	switch {
	case errors.As(err, &unknown): // it keeps them for 45 days
		return State{Outcome: "forgotten"}, nil
	case err != nil:
		return State{}, fmt.Errorf("ask Athena for query %s: %w", query, err)
	case out.QueryExecution == nil || out.QueryExecution.Status == nil:
		return State{}, fmt.Errorf("ask Athena for query %s: it does not say its state", query)
	}
	status := out.QueryExecution.Status
	s := State{Outcome: outcomes[status.State], Code: code(aws.ToString(status.StateChangeReason))}
	s.Running = s.Outcome == ""
	if n := out.QueryExecution.Statistics; n != nil {
		s.Time, s.Scanned = time.Duration(aws.ToInt64(n.TotalExecutionTimeInMillis))*time.Millisecond, aws.ToInt64(n.DataScannedInBytes)
	}
	return s, nil
}

var outcomes = map[types.QueryExecutionState]string{
	types.QueryExecutionStateSucceeded: "succeeded", types.QueryExecutionStateFailed: "failed", types.QueryExecutionStateCancelled: "cancelled",
}

var codes = regexp.MustCompile(`^[A-Z][A-Z_]+`)

func code(reason string) string { return codes.FindString(reason) }
