# `make help` lists the targets. Only `validate` and `interop` need more than Go: Python 3.11 with venv, and `interop` Java 17
# and Maven too. What they install is under .cache.

SHELL := /bin/bash -eo pipefail
.DEFAULT_GOAL := help

# The race detector needs a C compiler; Go leaves cgo off where it finds none. RACE= turns it off, RACE=-race on.
RACE ?= $(if $(filter 1,$(shell go env CGO_ENABLED)),-race)
FUZZTIME ?= 30s
BENCHTIME ?= 1s
OUT ?= /dev/null
N ?= 10000

CACHE := .cache
COMMA := ,
CI_PROGRAMS := $(patsubst %/main.go,./%,$(wildcard .ci/*/main.go .ci/*/*/main.go))
FUNCTION_BUILD := CGO_ENABLED=0 GOOS=linux go build -trimpath -tags lambda.norpc -ldflags='-s -w'

.PHONY: help
help: # @HELP List the targets.
	@awk -F '# @HELP ' '/^[a-z]+:.*# @HELP/ {sub(/:.*/, "", $$1); printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: demo
demo: # @HELP Start everything on this machine, send the seeds' changes through the function, print and check the tables.
	@echo 'compiling (the first time takes minutes) …'
	@go run ./localstack demo

# The tests of ingest take minutes; less garbage collection saves an eighth of them.
.PHONY: test
test: # @HELP Run all Go tests, with the race detector where a C compiler is found (RACE= turns it off).
	go test -shuffle=on -timeout=20m -exec='env GOGC=300' $(RACE) ./... $(CI_PROGRAMS)

.PHONY: lint
lint: # @HELP Check formatting, go.mod, go vet and staticcheck.
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); [ -z "$$unformatted" ] || { echo "gofmt -w $$unformatted" >&2; exit 1; }
	go mod tidy -diff
	go vet ./... $(CI_PROGRAMS)
	go tool -modfile=.ci/tools.mod staticcheck -checks=all,-ST1003,-ST1021 ./... $(CI_PROGRAMS)

.PHONY: fuzz
fuzz: # @HELP Run every fuzz target of the module for FUZZTIME (30s).
	@grep -rE --include='*_test.go' '^func Fuzz[A-Z0-9_]\w*\(' functions internal localstack \
	| sed -E 's|^(.*)/[^/]*:func (Fuzz\w+).*|\1 \2|' | sort | while read -r dir target; do \
		echo "$$target in ./$$dir"; \
		go test -run='^$$' -fuzz="^$$target\$$" -fuzztime=$(FUZZTIME) "./$$dir" </dev/null; \
	done

.PHONY: bench
bench: build # @HELP Run the benchmarks and show their figures beside the marks (OUT=file keeps the output, BENCHTIME=1x is quick).
	{ go test -run='^$$' -bench=. -benchmem -benchtime=$(BENCHTIME) ./... && wc -c dist/*.zip dist/*/bootstrap; } | tee $(OUT) | awk -f .ci/figures.awk

.PHONY: build
build: $(foreach f,merge drain maintain,dist/$f-arm64.zip dist/$f-amd64.zip) # @HELP Build the zips of the functions with the licences of what they link, into dist/.

.PHONY: FORCE
dist/%/bootstrap: FORCE
	GOARCH=$(lastword $(subst -, ,$*)) $(FUNCTION_BUILD) -o $@ ./functions/$(firstword $(subst -, ,$*))

.PRECIOUS: dist/%/bootstrap
dist/%.zip: dist/%/bootstrap LICENSE NOTICE
	@go run ./.ci/zip -o $@ $<

# What `sam build` calls for the functions of template.yaml of these names.
build-Merge:
	GOARCH=arm64 $(FUNCTION_BUILD) -o "$(ARTIFACTS_DIR)/bootstrap" ./functions/merge
build-Drain:
	GOARCH=arm64 $(FUNCTION_BUILD) -o "$(ARTIFACTS_DIR)/bootstrap" ./functions/drain
build-Maintain:
	GOARCH=arm64 $(FUNCTION_BUILD) -o "$(ARTIFACTS_DIR)/bootstrap" ./functions/maintain

.PHONY: validate
validate: $(CACHE)/sam.stamp # @HELP Check template.yaml: SAM's transform, cfn-lint of its result, sam build.
	PATH="$(CURDIR)/$(CACHE)/sam/bin:$$PATH" python .ci/validate/validate.py

.PHONY: interop
interop: engines catalogs chain # @HELP Run engines, catalogs and chain: what others make of the tables, of the commits, and what they send.

.PHONY: engines
engines: $(CACHE)/engines.stamp $(CACHE)/jars.stamp # @HELP Let Spark, DuckDB, PyIceberg, iceberg-rust and ClickHouse judge frazil's tables (ENGINES='--only DuckDB').
	go build -o $(CACHE)/bin/tables ./.ci/interop/tables
	$(CACHE)/engines/bin/python -B .ci/interop/interop.py $(CACHE)/bin/tables $(CACHE)/jars README.md $(ENGINES)

.PHONY: versus
versus: $(CACHE)/engines.stamp $(CACHE)/jars.stamp # @HELP Measure MERGE beside DuckDB, Spark, PyIceberg and iceberg-go, then stream (30 minutes; VERSUS='--only frazil,DuckDB --keys 1000').
	go build -o $(CACHE)/bin/ ./.ci/versus/apply ./.ci/versus/world
	$(CACHE)/engines/bin/python -B .ci/versus/versus.py $(CACHE)/bin $(CACHE)/jars README.md $(VERSUS)
	$(MAKE) stream

.PHONY: stream
stream: $(CACHE)/engines.stamp $(CACHE)/jars.stamp $(CACHE)/flink.stamp $(CACHE)/connect.stamp # @HELP Measure drain beside Flink, Kafka Connect and iceberg-go, from Kafka to the table (VERSUS='--only frazil --changes 200000').
	go build -o $(CACHE)/bin/ ./.ci/versus/world ./.ci/versus/plain ./functions/drain
	$(CACHE)/engines/bin/python -B .ci/versus/stream.py $(CACHE) README.md $(VERSUS)

$(CACHE)/flink.stamp: .ci/versus/flink.xml .ci/versus/flink/Upsert.java
	rm -rf $(CACHE)/flink
	mvn -q -B -f $< dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory=$(CURDIR)/$(CACHE)/flink
	javac -cp '$(CACHE)/flink/*' -d $(CACHE)/flink/classes .ci/versus/flink/Upsert.java
	@touch $@

$(CACHE)/connect.stamp: .ci/versus/connect.xml
	rm -rf $(CACHE)/connect
	mvn -q -B -f $< dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory=$(CURDIR)/$(CACHE)/connect
	@touch $@

# Nessie needs a newer Java than the rest, and SeaweedFS is an hour's build on a busy machine.
CATALOGS ?= Fixture|Secrets|Athena|Nessie|SeaweedFS
JAVA21 ?= $(firstword $(wildcard $(foreach v,21 22 23 24 25,/usr/lib/jvm/*-$v-*/bin/java)) java21)

.PHONY: catalogs
catalogs: $(CACHE)/moto.stamp $(CACHE)/fixture.stamp $(if $(findstring Nessie,$(CATALOGS)),$(CACHE)/nessie.jar) $(if $(findstring SeaweedFS,$(CATALOGS)),$(CACHE)/bin/weed) # @HELP Commit to Apache's REST catalog, Nessie and SeaweedFS, with secrets and Athena of moto (CATALOGS='Fixture|Nessie').
	go test -count=1 -timeout=30m -run='$(CATALOGS)' ./.ci/interop/catalogs -fixture=$(CURDIR)/$(CACHE)/fixture \
		-nessie=$(CURDIR)/$(CACHE)/nessie.jar -java21=$(JAVA21) -weed=$(CURDIR)/$(CACHE)/bin/weed -moto=$(CURDIR)/$(CACHE)/moto/bin/moto_server

# Of Debian: postgresql, postgresql-contrib, mariadb-server.
POSTGRES ?= $(lastword $(sort $(wildcard /usr/lib/postgresql/*/bin)))
STEPS ?= 400

.PHONY: chain
chain: $(CACHE)/kafka.stamp # @HELP Mirror PostgreSQL and MariaDB through Debezium and Apache Kafka, with restarts, and compare all cells (STEPS=400).
	go build -o $(CACHE)/bin/ ./functions/merge ./functions/drain
	go test -count=1 -timeout=30m -v ./.ci/interop/chain -steps=$(STEPS) $(if $(SEED),-seed=$(SEED)) -broker=$(CURDIR)/$(CACHE)/kafka/broker -connect=$(CURDIR)/$(CACHE)/kafka/connect \
		-plugins=$(CURDIR)/$(CACHE)/kafka/plugins -postgres=$(POSTGRES) -merge=$(CURDIR)/$(CACHE)/bin/merge -drain=$(CURDIR)/$(CACHE)/bin/drain

# A plugin that brings its own copy of what the worker has fails with NoSuchMethodError.
LIBRARIES = mvn -q -B -f .ci/interop/chain/$(notdir $@).xml dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory=$(CURDIR)/$@
$(CACHE)/kafka.stamp: $(addprefix $(CACHE)/kafka/,broker connect plugins/debezium plugins/debezium-mariadb)
	@touch $@
$(CACHE)/kafka/%: $(wildcard .ci/interop/chain/*.xml)
	rm -rf $@
	$(LIBRARIES) $(if $(findstring plugins,$@),-DexcludeArtifactIds=connect-api$(COMMA)connect-json$(COMMA)kafka-clients$(COMMA)slf4j-api$(COMMA)lz4-java$(COMMA)snappy-java$(COMMA)zstd-jni)
	@touch $@

$(CACHE)/fixture.stamp: .ci/interop/catalogs/pom.xml
	rm -rf $(CACHE)/fixture
	mvn -q -B -f $< dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory=$(CURDIR)/$(CACHE)/fixture
	@touch $@

$(CACHE)/nessie.jar:
	mvn -q -B dependency:copy -Dartifact=org.projectnessie.nessie:nessie-quarkus:0.99.0:jar:runner -Dmdep.stripVersion=true -DoutputDirectory=$(CURDIR)/$(CACHE)
	mv $(CACHE)/nessie-quarkus-runner.jar $@

$(CACHE)/bin/weed: .ci/interop/catalogs/weed
	$< $@ v0.0.0-20261109003541-7506e5f91cd6

$(CACHE)/jars.stamp: .ci/interop/pom.xml
	rm -rf $(CACHE)/jars
	mvn -q -B -f $< dependency:copy-dependencies -DoutputDirectory=$(CURDIR)/$(CACHE)/jars
	@touch $@

# The venvs, made again when the versions change.
$(CACHE)/sam.stamp: .ci/validate/requirements.txt
$(CACHE)/engines.stamp: .ci/interop/requirements.txt
$(CACHE)/moto.stamp: .ci/interop/catalogs/requirements.txt
$(CACHE)/%.stamp:
	python3 -m venv --clear $(CACHE)/$*
	$(CACHE)/$*/bin/pip install --quiet --no-compile --disable-pip-version-check -r $<
	@touch $@

.PHONY: soak
soak: # @HELP Live through N (10000) faulted invocations from SEED on (a random one) and compare the tables with plain maps.
	@GOGC=300 go run ./localstack soak -n $(N) $(if $(SEED),-seed $(SEED))

.PHONY: rie
rie: dist/merge-amd64/bootstrap $(CACHE)/bin/aws-lambda-rie # @HELP Give the sample events to the built function behind AWS's Runtime Interface Emulator.
	go run ./.ci/rie -emulator $(CACHE)/bin/aws-lambda-rie -bootstrap $<

RIE := github.com/aws/aws-lambda-runtime-interface-emulator/cmd/aws-lambda-rie@v0.0.0-20261030222936-bef5c4ba774d
$(CACHE)/bin/aws-lambda-rie: Makefile
	CGO_ENABLED=0 GOBIN=$(CURDIR)/$(CACHE)/bin go install $(RIE)
