/*
Package internal is the map of frazil: what each package is for, what it may know, and where a change goes.

# Words

One word per idea, in code, documentation and metrics.

	record      one Kafka record: source, topic, partition, offset, time, key, value, headers; null and empty are two things
	wire        how bytes carry values: JSON, Connect JSON
	envelope    the producer's message format: Debezium, CockroachDB, a flat row …
	change      one row change out of one record: upsert, delete or truncate; key, row, image before
	cell        a column's value in a change: a value, null, absent (not sent) or unavailable (sent as a placeholder)
	route       the configured way from topics to a table
	effect      what remains of all changes of one key in one delivery: put a row, or delete
	layer       a partial row of a delivery: cells that it keeps are those of the row under it
	patch       a row of which some cells come from layers under it, or from the table's row
	encoding    how rows are taken away: by position (files or vectors), by equality, or by a rewrite of their data file
	plan        the effects of one delivery for one table
	locate      finding the live rows (data file, position) of a plan's keys
	outcome     rows to write and positions to delete, settled against one snapshot
	stage       building data and delete files that no snapshot references yet
	commit      publishing staged files and the ledger as one snapshot
	dead letter a record that could not be applied, kept with its reason
	ledger      per table: the next expected offset of each source, topic and partition
	lease       the word of one drain, in a table, that it reads some topics into it; others leave that to it

# Promises

Comments cite these by number. Each has tests that fail when it is broken.

	P1   exactly once: a record's effect is in the table once, however often and in whatever slices it is delivered, by
	     however many writers. The ledger moves only together with main, in one catalog request; it is kept in the table's
	     properties. After a roll-back of main the ledger of the nearest ancestor holds, and a delivery that leaves out what
	     was lost is an error; so are records of another MSK cluster. At most 5,000 topic-partitions per table.
	P2   nothing is lost silently: what cannot be understood is an error or counted, never a guess
	P3   changes of one key apply in the offset order of their partition
	P4   all or nothing per table: one delivery makes at most one snapshot. Each attempt has a random snapshot id and file
	     names of its own; whether a delivery is in, the ledger tells; whether an attempt is, its id among the ancestors
	     of main. Files are deleted only after a proven rejection.
	P5   the algebra of merge (package merge)
	P6   the table is what MERGE INTO of the latest change per key makes of it, in every encoding of deletes and whatever its
	     partitions. On format version 3 rows keep their ids, unless they go by equality: carried ones also their
	     last-updated sequence number.
	P7   exact types: a value fits without loss or is refused
	P8   every snapshot is readable, with equal results, by engines that share no code with the writer
	P10  row values and secrets appear in no log or error; the store's address comes from no table's properties

# Rules

They settle what the message formats leave open.

	1    an absent key or value in Lambda's event is Kafka's null, "" is zero bytes. The text null and {"schema", "payload": null}
	     are the other forms of null; all three mean what null_value says.
	2    a record whose key and value name different rows is refused. Equality is that of typed values: 10.0 is 10.00. A
	     null in a key is refused. A scalar record key is compared, and a record key of other columns
	     than the key's refused, unless null values do not delete.
	3    a record with null key and null value is a control record
	4    duplicate members of a JSON object, at any depth, are refused
	5    an exact integral value fits an integer column however it is written; text only in plain digits; booleans are no numbers;
	     24:00:00 and offsets other than zero do not fit time
	6    fractions finer than the column are refused, or floored where the column says so
	10   one key in several partitions: they are applied in the order of topic and partition, counted, warned about once
	13   an absent cell of an insert is NULL, or the column's default; one of an update is kept, and as an insert's where there
	     is no row. An unavailable cell is kept; where there is no row its record is refused, once the table was looked at, and
	     the rest of the delivery is resolved without it.
	14   a key change keeps cells of the old key's row. Where it comes in two halves, a delete and an insert, they have to be in
	     one delivery and name each other: later there may be another row of that key. Of the same two keys there
	     may be one pair only, unless the source block tells pairs apart. What is sent again keeps cells of the row that it made.
	16   the ledger moves with every delivery that changed a row, passed over a bad record or is larger than an event, and with
	     offsets: dense with every one; also with one that changed nothing on a table that others have changed since, as it may
	     rest on what a roll-back can take. A hole before a delivery is then an error; with offsets: sparse it is logged, and a metric where one process
	     saw both of its sides. What a reader of Kafka met no records of is no hole;
	     what it read before the ledger was set back behind it is refused.
	17   a record below the ledger that is newer than all that the ledger has seen of its partition is a topic made anew: an error
	18   one bad record fails the delivery, and nothing of it is committed, in any of its tables. With report_failures each
	     partition is cut at its first bad record, which is reported; with dead letters bad records go there.
	19   heartbeats, transactions, resolved timestamps, schema changes and the like are skipped and counted by class
	20   dead letters are refused when all records of a topic are bad and none of it was ever applied, or when more than
	     max_ratio of at least min_records are; they are at least once and a superset

# Flow

One delivery flows down one line; imports go downwards only. Package ingest alone knows the line.

	functions/drain ─> drain ──┬─> consume, lease      topics of Kafka to records, from the ledgers on
	                           v
	functions/merge ─> ingest ─┬─> kafkaevent          Lambda's event to records, in place
	                           ├─> route               topic to table
	                           ├─> ledger              which records the table has already
	                           ├─> envelope ─> wire    bytes to values to changes; one file per producer
	                           ├─> coerce              values to typed rows; lossless or rejected
	                           ├─> merge ─> rows       rows to one effect per key; the algebra
	                           ├─> locate              keys to (file, position), past the deletes of any writer
	                           ├─> resolve             effects and hits to an outcome
	                           ├─> stage               outcome to data and delete files and their statistics
	                           ├─> commit              files and ledger to one snapshot
	                           └─> warehouse           catalogs and the object store

	functions/maintain ─> maintain ─> locate, stage, commit, warehouse: what is written again, and what goes; athena: what is too much for a run

# Packages

Light packages link neither Iceberg nor Arrow; ice packages link Arrow and iceberg-go's root package; heavy ones link
iceberg-go's table package, which costs start-up time and 15 MB. Nothing light or ice imports anything heavy, so that most
tests link in a second. The tests in this directory hold the table against the source.

	package     charter                                                                                   weight
	kafka       one record and where it stands                                                            light
	kafkaevent  Lambda's Kafka event to records                                                           light
	wire        bytes to a value tree, with the writer's types where it sends them                        light
	change      what happened to one row                                                                  light
	envelope    value tree to changes; one file per producer                                              light
	config      the YAML document and the six variables; all problems at once                             light
	route       topic to route                                                                            light
	ledger      what is applied: next offset and newest time per partition; its text form                 light
	deadletter  records that could not be applied, with the reason; their form                            light
	cluster     opens Kafka clusters; dead letters as records of a topic                                  light
	consume     reads topics of Kafka from given offsets on, in batches                                    light
	report      the metrics, as log lines that CloudWatch reads                                           light
	lease       who drains topics into a table, as a property of it: to save work, never for a row's sake      light
	schedule    the life of work that is done again and again, on Lambda or as a process                    light
	rows        all changes of one delivery for one table: typed columns, typed keys, one entry per change  ice
	coerce      values into typed rows; compiled once per table schema and route                          ice
	merge       rows to at most one effect per key; a pure function                                       ice
	tablefile   what is in a file of a table: keys, parts, cells, rows in today's shape, vectors; a memory of it  ice
	locate      keys to (file, position) in one snapshot; dead rows left out                              ice
	resolve     effects and hits to an outcome; a pure function                                           ice
	stage       outcome to files that nothing references yet, with Iceberg's metrics                      ice
	commit      files and ledger to one snapshot; landed, rejected or unknown                             heavy
	warehouse   opens catalogs and stores: addresses, signing, time-outs                                  heavy
	athena      has Athena start a statement, and tells what has become of it                             heavy
	environment a function's configuration, from the environment of its process                           heavy
	ingest      one delivery from records to snapshots; the only package that knows the flow              heavy
	drain       reads topics from where the ledgers of their tables stand, and has ingest apply them       heavy
	maintain    compaction, expiry, orphans; a table's health; commits of what changes no row              heavy
	local/…     embedded broker, objects, catalog, Lambda runtime, event source, scenarios, demo, what    heavy
	            is asked of catalogs (conformance), what owners do by hand (owner), what goes wrong (fault, trial, soak),
	            what is measured (shop, meter), what looks at tables afterwards (audit, verify) and at
	            those of databases (database);
	            never imported by functions

Third parties stay behind walls: aws-lambda-go in functions, the AWS SDK in warehouse and athena, franz-go in cluster, consume and local, iceberg-go's table
package in the heavy packages.

# Decisions

A refused change leaves no trace in a batch: coerce reads a change into cells and appends them only when all fit, so no dead
rows and no roll-back exist. Keys are interned by their exact typed bytes, whatever their hashes: equality is equality. An attempt after
a conflict decodes the delivery anew, for the ledger and the schema of the new head; it costs milliseconds and leaves one way
through the code. A delivery that waits for the one before it is decoded for the table as it was seen last and as if the ledger
had none of it; when that is not so at its turn, it is decoded anew as well. An outcome that changes nothing is believed only on a head that was loaded during the delivery: a cached one
may lack a row that a delete is meant for. Which files a commit cares for is told by manifests, before anything is read, and
one mechanism carries rows for whatever reason: a bad choice costs time. Small files and manifests are gathered by levels: a row
is written again once per level, and how many of them there are does not depend on the age of the table.

Files never change, so what is known of one is kept until the table lets go of it, as far as the budget goes: nothing that is
kept can be old. In memory a key is its ID and a row its fingerprint: exact for keys of fixed size up to 16 bytes, else 128 bits
of hash under a secret of the process. That a row is as it was is a saving and no promise: where to know it would cost more than
to write the row, the row is written.

# Where things go

	a producer                          one file in envelope, a line in its table of formats and in config's, a golden folder
	an encoding on the wire             one file in wire
	a type or unit rule                 one file in coerce; rows/types.go and column.go for its column
	partial rows                        coerce (what is kept), merge (layers), resolve (patches), stage/lay.go (their cells)
	fence, modes                        merge, resolve
	partitions, delete encodings,
	file layout, compaction in a commit stage, one file each; commit/manifests.go for what leaves the table, merge.go for manifests
	an index of keys                    locate
	a catalog's oddity                  warehouse; local/catalog plays it, local/conformance asks for it, .ci/interop/catalogs
	                                    expects it of the real one
	a metric                            report; template.yaml for its alarm
	what an owner says of offsets       ledger/move.go, local/owner
	what becomes of bad records         ingest/failures.go; deadletter for the form of the letters
	create and evolve tables            a schema difference, committed by commit
	upkeep of tables                    maintain: measure.go what is wrong, choose.go what is done about it; stage/compact.go,
	                                    engine.go for who else does it
	redrive                             functions/<name> on ingest
	a fault for tests                   local/fault, of wrong answers of local/catalog and local/objects; never hooks in production code.
	                                    local/trial plays all of them
*/
package internal
