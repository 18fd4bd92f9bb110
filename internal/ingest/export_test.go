package ingest

// LeastPart has deliveries of fewer records decoded on several cores than it pays for.
func LeastPart(records int) { leastPart = records }
