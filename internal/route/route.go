// Package route finds the way of a record: its topic's route.
package route

import (
	"cmp"
	"fmt"
	"regexp"

	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/kafka"
)

// Routes finds routes by source and topic. It is safe for concurrent use.
type Routes struct {
	names    map[topic]int
	patterns []pattern
}

type topic struct{ source, name string }

type pattern struct {
	source string
	re     *regexp.Regexp
	route  int
}

// New indexes the routes of a checked configuration.
func New(routes []config.Route) (*Routes, error) {
	r := &Routes{names: map[topic]int{}}
	for i, route := range routes {
		source := cmp.Or(route.Source, kafka.MainSource)
		for _, name := range route.Topics {
			re, is, err := config.Pattern(name)
			switch {
			case err != nil:
				return nil, err
			case is:
				r.patterns = append(r.patterns, pattern{source, re, i})
			default:
				r.names[topic{source, name}] = i
			}
		}
	}
	return r, nil
}

// Of returns the index in the configuration of the route of a source's topic. A topic of no route, or of two, is an error:
// its records would be lost, or guessed at.
func (r *Routes) Of(source, name string) (int, error) {
	found, ok := r.names[topic{source, name}]
	for _, p := range r.patterns {
		if p.source != source || !p.re.MatchString(name) || ok && p.route == found {
			continue
		}
		if ok {
			return 0, fmt.Errorf("topic %s: routes[%d] and routes[%d] both want it", name, found, p.route)
		}
		found, ok = p.route, true
	}
	if !ok {
		return 0, fmt.Errorf("topic %s of source %s: no route of the configuration has it", name, source)
	}
	return found, nil
}
