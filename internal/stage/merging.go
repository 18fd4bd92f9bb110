package stage

// Merging is how a table's properties want its manifests to be merged.
type Merging struct {
	Off    bool
	Levels Levels // by the number of entries
	Target int64  // bytes that a merged manifest does not exceed
}

// Iceberg's default is to look at manifests when there are a hundred; by levels few do, at little cost.
const (
	defaultManifest = 8 << 20
	manyManifests   = 8
)

// NewMerging reads the properties that concern manifests. Values that are none are an error.
func NewMerging(properties map[string]string) (Merging, error) {
	r := reader{properties: properties}
	standard, ours := r.on("commit.manifest-merge.enabled"), r.on("frazil.care.manifests")
	m := Merging{
		Off:    !standard || !ours,
		Target: r.positive("commit.manifest.target-size-bytes", defaultManifest),
		Levels: Levels{[]int64{8, 64, 512, 4096}, int(r.atLeast(2, "commit.manifest.min-count-to-merge", manyManifests))},
	}
	return m, r.err
}
