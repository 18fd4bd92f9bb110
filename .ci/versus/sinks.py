"""What brings the topic of the program world into a table: how each is started."""
import json
import os

from peers import COLUMNS, KEY

FLINK = {"TIMESTAMPTZ": "TIMESTAMP_LTZ(6)", "VARCHAR": "STRING", "INTEGER": "INT"}
WORKER = {  # of Kafka Connect: one process, which keeps nothing
    "offset.flush.interval.ms": 5000, "listeners": "http://127.0.0.1:0",
    "key.converter": "org.apache.kafka.connect.json.JsonConverter", "key.converter.schemas.enable": "false",
    "value.converter": "org.apache.kafka.connect.json.JsonConverter", "value.converter.schemas.enable": "false",
    "consumer.auto.offset.reset": "earliest", "consumer.max.poll.records": 5000, "consumer.fetch.max.bytes": 16 << 20,
}
SINK = {
    "connector.class": "org.apache.iceberg.connect.IcebergSinkConnector", "tasks.max": 2,
    "transforms": "rows", "transforms.rows.type": "org.apache.iceberg.connect.transforms.DebeziumTransform",
    "iceberg.control.commit.interval-ms": 5000, "iceberg.control.commit.timeout-ms": 30000, "iceberg.kafka.auto.offset.reset": "earliest",
    "iceberg.catalog.type": "rest", "iceberg.catalog.io-impl": "org.apache.iceberg.aws.s3.S3FileIO", "iceberg.catalog.s3.path-style-access": "true",
}


class Sinks:
    """Each gives a command and its environment. at: the document of the program world."""

    def __init__(self, cache, folder, at):
        self.cache, self.folder, self.at = cache, folder, at

    def drain(self, table, config, memory):
        main = config["Catalogs"]["main"]
        document = (f"{{catalogs: {{main: {{uri: '{main['URI']}', warehouse: '{main['Warehouse']}'}}}}, sources: {{main: {{brokers: ['{self.at['Brokers']}']}}}},"
                    f" routes: [{{topics: [{self.at['Topic']}], format: debezium, table: 'main:{table}'}}]}}")
        return [f"{self.cache}/bin/drain"], {"FRAZIL_CONFIG": document, "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(memory), "AWS_ENDPOINT_URL_S3": self.at["Store"]} | self.aws()

    def plain(self, _, config, __):
        return [f"{self.cache}/bin/plain", json.dumps(config), self.at["Brokers"], self.at["Topic"]], self.aws()

    def flink(self, table, _, memory):
        opens = [f"--add-opens=java.base/java.{p}=ALL-UNNAMED" for p in ("util", "lang", "nio", "time")]
        columns = ", ".join(f"{n} {FLINK.get(t, t)}" for n, t in COLUMNS.items())
        return self.java(memory, *opens, "-cp", f"{self.cache}/flink/classes:{self.cache}/flink/*", "Upsert"), {
            "CATALOG": self.at["Catalog"], "STORE": self.at["Store"], "ACCESS_KEY": self.at["AccessKey"], "SECRET_KEY": self.at["SecretKey"],
            "REGION": self.at["Region"], "BROKERS": self.at["Brokers"], "TOPIC": self.at["Topic"], "TABLE": table, "COLUMNS": columns, "KEY": KEY}

    def connect(self, table, _, memory):
        worker = self.write("worker", WORKER | {"bootstrap.servers": self.at["Brokers"], "offset.storage.file.filename": f"{self.folder}/offsets"})
        sink = self.write("sink", SINK | {
            "name": "iceberg", "topics": self.at["Topic"], "iceberg.tables": table, "iceberg.catalog.uri": self.at["Catalog"],
            "iceberg.catalog.s3.endpoint": self.at["Store"], "iceberg.catalog.s3.access-key-id": self.at["AccessKey"],
            "iceberg.catalog.s3.secret-access-key": self.at["SecretKey"], "iceberg.catalog.client.region": self.at["Region"]})
        return self.java(memory, "-cp", f"{self.cache}/connect/*", "org.apache.kafka.connect.cli.ConnectStandalone", worker, sink), {}

    def java(self, memory, *arguments):
        return ["java", f"-Xmx{memory}m", "-Dorg.slf4j.simpleLogger.defaultLogLevel=error", f"-Daws.region={self.at['Region']}", *arguments]

    def aws(self):
        return {"AWS_ACCESS_KEY_ID": self.at["AccessKey"], "AWS_SECRET_ACCESS_KEY": self.at["SecretKey"], "AWS_REGION": self.at["Region"]}

    def write(self, name, properties):
        path = os.path.join(self.folder, name + ".properties")
        with open(path, "w", encoding="utf-8") as f:
            f.writelines(f"{k}={v}\n" for k, v in properties.items())
        return path
