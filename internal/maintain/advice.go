package maintain

import (
	"fmt"
	"strings"

	"github.com/frazil/frazil/internal/config"
)

// Advice is how an engine compacts a table, which is too much for a run: a statement of each that reaches the table's catalog.
func Advice(c config.Catalog, t config.Table, policy config.Compact) []string {
	namespace, name := strings.Join(t.Path[:len(t.Path)-1], "."), t.Path[len(t.Path)-1]
	options := fmt.Sprintf("'delete-ratio-threshold', '%g', 'delete-file-threshold', '%d'", float64(policy.Dead)/100, mostDeletes)
	if policy.Target > 0 {
		options += fmt.Sprintf(", 'target-file-size-bytes', '%d'", policy.Target)
	}
	spark := fmt.Sprintf("Spark: CALL %s.system.rewrite_data_files(table => '%s.%s', options => map(%s, 'partial-progress.enabled', 'true'))", t.Catalog, namespace, name, options)
	switch {
	case c.Auth.Type == "sigv4" && c.Auth.Service == "s3tables":
		return []string{fmt.Sprintf("S3 Tables: aws s3tables put-table-maintenance-configuration --table-bucket-arn %s --namespace %s --name %s --type icebergCompaction --value "+
			`'{"status":"enabled","settings":{"icebergCompaction":{"targetFileSizeMB":512}}}'`, c.Warehouse, namespace, name), spark}
	case c.Auth.Type == "sigv4" && c.Auth.Service == "glue":
		return []string{fmt.Sprintf(`Athena: OPTIMIZE "%s"."%s" REWRITE DATA USING BIN_PACK`, namespace, name), fmt.Sprintf(`Athena: VACUUM "%s"."%s"`, namespace, name),
			fmt.Sprintf("Glue: aws glue create-table-optimizer --catalog-id %s --database-name %s --table-name %s --type compaction --table-optimizer-configuration roleArn=ROLE,enabled=true", c.Warehouse, namespace, name), spark}
	}
	return []string{spark}
}
