"""Checks template.yaml as far as that can be done without an AWS account, and builds what it deploys.

It runs in the module's root, with the Python that has aws-sam-cli, whose sam and cfn-lint are in PATH.

For each of the deployments below: SAM's own transform; the CloudFormation that comes out, with every condition settled
as CloudFormation would settle it; cfn-lint on that. Without the transform cfn-lint passes SAM resources it cannot
read, and with open conditions it reads only a part. Then the whole template is linted with its conditions open, and
`sam build` has to give a static arm64 bootstrap.

It does not check what only AWS knows: whether the ARNs exist and the permissions suffice.
"""
import json
import os
import subprocess
import sys
import tempfile

from samcli.yamlhelper import yaml_parse
from samtranslator.parser.parser import Parser
from samtranslator.translator.translator import Translator

TEMPLATE = "template.yaml"
PSEUDO = {"AWS::Region": "eu-west-1", "AWS::Partition": "aws", "AWS::AccountId": "123456789012", "AWS::StackName": "frazil"}
MANAGED = {name: f"arn:aws:iam::aws:policy/service-role/{name}" for name in ("AWSLambdaBasicExecutionRole", "AWSLambdaVPCAccessExecutionRole")}
VARIABLES = {"FRAZIL_CATALOG_URI", "FRAZIL_WAREHOUSE", "FRAZIL_TOPICS", "FRAZIL_TABLE", "FRAZIL_FORMAT", "FRAZIL_KEY"}
SECRET = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:"

# What is deployed, the parameters that differ from the defaults, and the variables that the function then has.
DEPLOYMENTS = [
    ("MSK into Glue", {}, VARIABLES - {"FRAZIL_KEY"}),
    ("MSK, provisioned, with key", {"Provisioned": "true", "Key": "order_id"}, VARIABLES),
    ("MSK into S3 Tables", {"Catalog": "s3tables", "Warehouse": "arn:aws:s3tables:eu-west-1:123456789012:bucket/lake"}, VARIABLES - {"FRAZIL_KEY"}),
    ("self-managed", {"Source": "self-managed", "KafkaSecretArn": SECRET + "kafka-aaaaaa"}, VARIABLES - {"FRAZIL_KEY"}),
    ("self-managed in a VPC, private CA, provisioned",
     {"Source": "self-managed", "KafkaAuth": "CLIENT_CERTIFICATE_TLS_AUTH", "KafkaCaSecretArn": SECRET + "ca-aaaaaa",
      "KafkaSubnets": "subnet-0123456789abcdef0,subnet-0123456789abcdef1", "KafkaSecurityGroup": "sg-0123456789abcdef0", "Provisioned": "true"},
     VARIABLES - {"FRAZIL_KEY"}),
    ("another catalog, all functions in its VPC",
     {"Catalog": "rest", "DataBucket": "lake-bucket", "Config": "{catalogs: {}, routes: []}", "DrainSchedule": "rate(5 minutes)", "MaintainSchedule": "rate(1 hour)",
      "FunctionSubnets": "subnet-0123456789abcdef0,subnet-0123456789abcdef1", "FunctionSecurityGroup": "sg-0123456789abcdef0"}, {"FRAZIL_CONFIG"}),
    ("another catalog", {"Catalog": "rest", "DataBucket": "lake-bucket", "DataPrefix": "warehouse/"}, VARIABLES - {"FRAZIL_KEY", "FRAZIL_WAREHOUSE"}),
    ("configuration document", {"Config": "{catalogs: {}, routes: []}", "Table": "sales.*"}, {"FRAZIL_CONFIG"}),
    ("configuration document in S3, role, secrets, alarms",
     {"Config": "s3://settings/merge.yaml", "RoleArn": "arn:aws:iam::123456789012:role/lake", "SecretArns": SECRET + "lake-aaaaaa,arn:aws:s3:::settings/merge.yaml",
      "AlarmTopicArn": "arn:aws:sns:eu-west-1:123456789012:alarms", "DeadLetterBucket": "dead-letters"}, {"FRAZIL_CONFIG"}),
    ("drain in place of the mapping, MSK",
     {"Config": "{catalogs: {}, routes: []}", "DrainSchedule": "rate(5 minutes)", "KafkaSubnets": "subnet-0123456789abcdef0,subnet-0123456789abcdef1",
      "KafkaSecurityGroup": "sg-0123456789abcdef0"}, {"FRAZIL_CONFIG"}),
    ("drain in place of the mapping, self-managed", {"Source": "self-managed", "Config": "s3://settings/drain.yaml", "DrainSchedule": "cron(0 * * * ? *)"}, {"FRAZIL_CONFIG"}),
    ("maintain beside merge, S3 Tables", {"Catalog": "s3tables", "Warehouse": "arn:aws:s3tables:eu-west-1:123456789012:bucket/lake",
     "Config": "{catalogs: {}, routes: []}", "MaintainSchedule": "rate(1 hour)"}, {"FRAZIL_CONFIG"}),
    ("maintain beside drain", {"Source": "self-managed", "Config": "s3://settings/all.yaml", "DrainSchedule": "rate(5 minutes)", "MaintainSchedule": "rate(1 hour)",
     "DataPrefix": "warehouse/"}, {"FRAZIL_CONFIG"}),
    ("configuration document, self-managed", {"Source": "self-managed", "Config": "{catalogs: {}, routes: []}"}, {"FRAZIL_CONFIG"}),
]
NOTHING = object()  # AWS::NoValue


def read_template():
    with open(TEMPLATE, encoding="utf-8") as f:
        return yaml_parse(f.read())


def parameters(template, given):
    unknown = given.keys() - template["Parameters"].keys()
    if unknown:
        sys.exit(f"no such parameters: {sorted(unknown)}")
    return PSEUDO | {k: p["Default"] for k, p in template["Parameters"].items()} | given


def transform(values):
    template = read_template()
    for r in template["Resources"].values():
        if r["Type"] == "AWS::Serverless::Function":
            r["Properties"]["CodeUri"] = "s3://bucket/key"  # what `sam package` puts there
    return json.loads(json.dumps(Translator(MANAGED, Parser()).translate(template, dict(values)), default=str))


def holds(condition, conditions, values):
    """The value of a condition."""
    (name, args), = condition.items()
    if name == "Condition":
        return holds(conditions[args], conditions, values)
    if name == "Fn::Equals":
        a, b = (values[x["Ref"]] if isinstance(x, dict) else x for x in args)
        return a == b
    results = [holds(x, conditions, values) for x in args]
    return {"Fn::And": all(results), "Fn::Or": any(results), "Fn::Not": not results[0]}[name]


def settle(node, truth):
    """A part of the template without Fn::If."""
    if isinstance(node, list):
        return [v for v in (settle(x, truth) for x in node) if v is not NOTHING]
    if not isinstance(node, dict):
        return node
    if node == {"Ref": "AWS::NoValue"}:
        return NOTHING
    if node.keys() == {"Fn::If"}:
        condition, yes, no = node["Fn::If"]
        return settle(yes if truth[condition] else no, truth)
    return {k: v for k, v in ((k, settle(x, truth)) for k, x in node.items()) if v is not NOTHING}


def deployed(values):
    """The CloudFormation of one deployment: no conditions left, parameters with the values given."""
    template = transform(values)
    truth = {name: holds(c, template["Conditions"], values) for name, c in template["Conditions"].items()}
    template["Resources"] = {k: r for k, r in template["Resources"].items() if truth.get(r.pop("Condition", None), True)}
    del template["Conditions"]
    for name, parameter in template["Parameters"].items():
        parameter["Default"] = values[name]
    return settle(template, truth)


def lint(path):
    # W2001: a parameter that only the conditions, settled by now, have used.
    return subprocess.run(["cfn-lint", "--ignore-checks", "W2001", "--regions", "eu-west-1", "--", path]).returncode == 0


def check(name, given, variables, folder):
    template = deployed(parameters(read_template(), given))
    kinds = [r["Type"] for r in template["Resources"].values()]
    if kinds.count("AWS::Lambda::EventSourceMapping") != 1:
        sys.exit(f"{name}: not one event source mapping: {kinds}")
    mapped, = (r["Properties"]["Enabled"] for r in template["Resources"].values() if r["Type"] == "AWS::Lambda::EventSourceMapping")
    if mapped == ("Drain" in template["Resources"]):
        sys.exit(f"{name}: not either the mapping or drain")
    environment = template["Resources"]["Merge"]["Properties"]["Environment"]["Variables"]
    if environment.keys() != variables:
        sys.exit(f"{name}: the function has {sorted(environment)}, not {sorted(variables)}")
    path = os.path.join(folder, "template.json")
    with open(path, "w", encoding="utf-8") as f:
        json.dump(template, f, indent=1, sort_keys=True)
    if not lint(path):
        sys.exit(f"{name}: cfn-lint has found mistakes, see above")
    print(f"ok    {name}", flush=True)


def build(folder):
    """Builds where the source is: SAM would otherwise copy all of the checkout first."""
    subprocess.run(["sam", "build", "--build-in-source", "--template", TEMPLATE, "--build-dir", folder], check=True)
    for function in ("Merge", "Drain", "Maintain"):
        with open(os.path.join(folder, function, "bootstrap"), "rb") as f:
            machine, kinds = elf(f.read())
        if machine != 183:  # EM_AARCH64
            sys.exit(f"{function}: bootstrap is for machine {machine}, not for arm64 (183)")
        if 3 in kinds:  # PT_INTERP: a dynamic linker, which the runtime image need not have
            sys.exit(f"{function}: bootstrap is not static")
    print("ok    sam build: static arm64 bootstraps")


def elf(binary):
    """The machine of a 64-bit little-endian ELF file, and the kinds of its segments."""
    if binary[:6] != b"\x7fELF\x02\x01":
        sys.exit("bootstrap is no 64-bit ELF file")
    number = lambda at, size: int.from_bytes(binary[at:at + size], "little")
    start, size, count = number(32, 8), number(54, 2), number(56, 2)
    return number(18, 2), {number(start + i * size, 4) for i in range(count)}


def main():
    os.environ |= {"AWS_DEFAULT_REGION": PSEUDO["AWS::Region"], "SAM_CLI_TELEMETRY": "0"}
    with tempfile.TemporaryDirectory() as folder:
        for name, given, variables in DEPLOYMENTS:
            check(name, given, variables, folder)
        if not lint(TEMPLATE):
            sys.exit("cfn-lint has found mistakes, see above")
        print("ok    the template with open conditions", flush=True)
        build(folder)


if __name__ == "__main__":
    main()
