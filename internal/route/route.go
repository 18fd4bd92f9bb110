// Package route finds the way of a record: its topic's route.
package route

import (
	"fmt"
	"regexp"

	"github.com/frazil/frazil/internal/config"
)

// Routes finds routes by topic. It is safe for concurrent use.
type Routes struct {
	names    map[string]int
	patterns []pattern
}

type pattern struct {
	re    *regexp.Regexp
	route int
}

// New indexes the routes of a checked configuration.
func New(routes []config.Route) (*Routes, error) {
	r := &Routes{names: map[string]int{}}
	for i, route := range routes {
		for _, topic := range route.Topics {
			re, is, err := config.Pattern(topic)
			switch {
			case err != nil:
				return nil, err
			case is:
				r.patterns = append(r.patterns, pattern{re, i})
			default:
				r.names[topic] = i
			}
		}
	}
	return r, nil
}

// Of returns the index of the topic's route in the configuration. A topic of no route, or of two, is an error:
// its records would be lost, or guessed at.
func (r *Routes) Of(topic string) (int, error) {
	found, ok := r.names[topic]
	for _, p := range r.patterns {
		if !p.re.MatchString(topic) || ok && p.route == found {
			continue
		}
		if ok {
			return 0, fmt.Errorf("topic %s: routes[%d] and routes[%d] both want it", topic, found, p.route)
		}
		found, ok = p.route, true
	}
	if !ok {
		return 0, fmt.Errorf("topic %s: no route of the configuration has it", topic)
	}
	return found, nil
}
