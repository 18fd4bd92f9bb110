package config

import (
	"bytes"
	"strings"

	"go.yaml.in/yaml/v3"
)

// DeadLetter says where records go that cannot be applied. Without an address there are no dead letters.
type DeadLetter struct {
	To string // s3://bucket/prefix, or kafka://topic
	// A delivery of at least MinRecords records of which more than MaxRatio are bad fails: so many are no accident (rule
	// 20).
	MaxRatio   float64
	MinRecords int
}

// Topic is the topic of the letters, empty when they go to S3 or nowhere.
func (d DeadLetter) Topic() string {
	topic, ok := strings.CutPrefix(d.To, "kafka://")
	if !ok {
		return ""
	}
	return topic
}

func deadLetter(n yaml.Node, p *problems) DeadLetter {
	out := DeadLetter{MaxRatio: 0.5, MinRecords: 100}
	var doc deadLetterDoc
	switch n.Kind {
	case 0:
		return out
	case yaml.ScalarNode:
		doc.To = n.Value
	default:
		if err := strict(n, &doc); err != nil {
			p.add("dead_letter: must be an address, or a map of to (an address), max_ratio (a number) and min_records (a whole number)")
			return out
		}
	}
	out.To = doc.To
	if topic := out.Topic(); topic == "" && !prefix.MatchString(doc.To) || topic != "" && !topicName.MatchString(topic) {
		p.add("dead_letter: must be s3://bucket/prefix or kafka://topic")
	}
	if doc.MaxRatio != nil {
		out.MaxRatio = *doc.MaxRatio
	}
	if doc.MinRecords != nil {
		out.MinRecords = *doc.MinRecords
	}
	if !(out.MaxRatio > 0 && out.MaxRatio <= 1) { // YAML's .nan is none of both
		p.add("dead_letter.max_ratio: must be above 0 and at most 1")
	}
	if out.MinRecords < 1 {
		p.add("dead_letter.min_records: must be at least 1")
	}
	return out
}

// strict decodes a part of the document, in which unknown keys are errors as in the whole.
func strict(n yaml.Node, into any) error {
	text, err := yaml.Marshal(&n)
	if err != nil {
		return err
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	return d.Decode(into)
}
