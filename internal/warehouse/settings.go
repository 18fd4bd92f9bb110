package warehouse

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
)

// settings lets through of a catalog's own settings what says how its tables are asked for. Others would say where
// the store is, who signs and with what: that is the configuration's (P10).
type settings struct{ next http.RoundTripper }

// trusted are the settings of a catalog that count. An address (uri) beside the configured one is refused by signed.
var trusted = map[string]bool{"uri": true, "prefix": true, "namespace-separator": true, "view-endpoints-supported": true}

// longest bounds the settings, in bytes.
const longest = 1 << 20

func (s settings) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := s.next.RoundTrip(r)
	if err != nil || answer.StatusCode != http.StatusOK || !strings.HasSuffix(asked(r).URL.Path, "/v1/config") {
		return answer, err
	}
	text, err := io.ReadAll(io.LimitReader(answer.Body, longest))
	_ = answer.Body.Close()
	if err != nil {
		return nil, err
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil || all == nil {
		return nil, fmt.Errorf("the catalog's settings are no JSON object")
	}
	kept := map[string]json.RawMessage{} // of the names that are read without regard to case, those that are checked
	if list, ok := all["endpoints"]; ok {
		kept["endpoints"] = list
	}
	for _, layer := range []string{"defaults", "overrides"} {
		if kept[layer], err = onlyTrusted(all[layer]); err != nil {
			return nil, fmt.Errorf("the catalog's settings: %s are no texts", layer)
		}
	}
	if text, err = json.Marshal(kept); err != nil {
		return nil, err
	}
	answer.Body, answer.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	return answer, nil
}

// asked is the request that a client made before it was redirected.
func asked(r *http.Request) *http.Request {
	for r.Response != nil && r.Response.Request != nil {
		r = r.Response.Request
	}
	return r
}

func onlyTrusted(layer json.RawMessage) (json.RawMessage, error) {
	given := map[string]string{}
	if len(layer) > 0 {
		if err := json.Unmarshal(layer, &given); err != nil {
			return nil, err
		}
	}
	maps.DeleteFunc(given, func(name, _ string) bool { return !trusted[name] })
	return json.Marshal(given)
}
