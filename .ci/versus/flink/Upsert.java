import java.util.Map;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;

/** Brings a topic of Debezium's changes into a table, by Flink SQL in one process; it ends with the topic. The environment says where, and COLUMNS which. */
public class Upsert {
  public static void main(String[] args) throws Exception {
    Map<String, String> env = System.getenv();
    Configuration c = Configuration.fromMap(Map.of(
        "parallelism.default", "2",
        "execution.checkpointing.interval", "5 s",
        "execution.checkpointing.storage", "jobmanager",
        "state.backend.type", "hashmap",
        "pipeline.object-reuse", "true",
        "taskmanager.memory.managed.size", "128m"));
    StreamTableEnvironment t = StreamTableEnvironment.create(StreamExecutionEnvironment.createLocalEnvironment(c),
        EnvironmentSettings.newInstance().inStreamingMode().withConfiguration(c).build());
    t.getConfig().set("table.local-time-zone", "UTC");
    t.executeSql("CREATE CATALOG lake WITH ('type'='iceberg', 'catalog-type'='rest', 'uri'='" + env.get("CATALOG") + "', 'io-impl'='org.apache.iceberg.aws.s3.S3FileIO',"
        + "'s3.endpoint'='" + env.get("STORE") + "', 's3.path-style-access'='true', 's3.access-key-id'='" + env.get("ACCESS_KEY") + "',"
        + "'s3.secret-access-key'='" + env.get("SECRET_KEY") + "', 'client.region'='" + env.get("REGION") + "')");
    t.executeSql("CREATE TEMPORARY TABLE changes (" + env.get("COLUMNS") + ", PRIMARY KEY (" + env.get("KEY") + ") NOT ENFORCED) WITH ('connector'='kafka',"
        + "'topic'='" + env.get("TOPIC") + "', 'properties.bootstrap.servers'='" + env.get("BROKERS") + "', 'properties.group.id'='flink',"
        + "'scan.startup.mode'='earliest-offset', 'scan.bounded.mode'='latest-offset',"
        + "'format'='debezium-json', 'debezium-json.timestamp-format.standard'='ISO-8601')");
    t.executeSql("INSERT INTO lake." + env.get("TABLE") + " /*+ OPTIONS('upsert-enabled'='true') */ SELECT * FROM changes").await();
  }
}
