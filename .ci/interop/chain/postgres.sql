-- Every type that Debezium sends whole; keys are id, which INSERT … SELECT makes more of.
CREATE EXTENSION hstore; CREATE EXTENSION ltree; CREATE EXTENSION citext;
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE DOMAIN price AS numeric(10,2) CHECK (VALUE >= 0);
CREATE TABLE types (
  id integer PRIMARY KEY,
  c_smallint smallint, c_bigint bigint, c_oid oid,
  c_num_10_2 numeric(10,2), c_num_38_10 numeric(38,10), c_num_neg numeric(5,-2), c_domain price,
  c_real real, c_double double precision, c_money money, c_bool boolean,
  c_text text, c_varchar varchar(20), c_char char(5), c_citext citext,
  c_bytea bytea, c_uuid uuid, c_json json, c_jsonb jsonb, c_xml xml,
  c_ints int[], c_texts text[], c_nums numeric(10,2)[], c_tstzs timestamptz[], c_dates date[], c_uuids uuid[], c_bools boolean[], c_byteas bytea[],
  c_hstore hstore,
  c_date date, c_time time, c_time3 time(3), c_timetz timetz,
  c_ts timestamp, c_ts3 timestamp(3), c_ts0 timestamp(0), c_tstz timestamptz, c_tstz3 timestamptz(3),
  c_inet inet, c_cidr cidr, c_macaddr macaddr, c_ltree ltree, c_enum mood,
  c_bit1 bit(1), c_bit5 bit(5), c_varbit bit varying(20), c_tsvector tsvector, c_point point,
  c_int4range int4range, c_numrange numrange, c_tstzrange tstzrange,
  d_text text NOT NULL DEFAULT 'dflt', d_num numeric(10,2) DEFAULT 9.99, d_ts timestamptz NOT NULL DEFAULT '2001-02-03 04:05:06+00', d_int int DEFAULT 42
);
INSERT INTO types VALUES
 (1, 12345, 9007199254740993, 4294967295, 12345678.90, 1234567890123456789012345678.0123456789, 12300, 19.90,
  0.1, 0.1, '$1,234.56', true, 'plain "quoted" \ back ü € 😀', 'varchar', 'ab', 'MiXed',
  '\x00ff10', '6F9619FF-8B86-D011-B42D-00C04FC964FF', '{"b": 1, "a":  [1, 2.50, 1e3]}', '{"b": 1, "a": [1, 2.50, 1e3], "b": 2}', '<a x="1">t</a>',
  '{1,2,NULL,-3}', '{"a","b c",NULL,"NULL",""}', '{1.50,NULL,-0.01}', '{"2024-03-05 06:07:08.123456+00",NULL}', '{2024-03-05,1969-12-31}', '{6f9619ff-8b86-d011-b42d-00c04fc964ff}', '{t,f,NULL}', '{"\\x00ff","\\x"}',
  'a=>1, b=>NULL, "c d"=>"e\"f"',
  '2024-03-05', '06:07:08.123456', '06:07:08.123', '06:07:08.123456+02',
  '2024-03-05 06:07:08.123456', '2024-03-05 06:07:08.123', '2024-03-05 06:07:08', '2024-03-05 06:07:08.123456+00', '2024-03-05 08:07:08.12+02',
  '192.168.1.5/24', '10.0.0.0/8', '08:00:2b:01:02:03', 'Top.Science.Astronomy', 'happy',
  B'1', B'10000', B'10110000000001', 'a fat cat sat', '(1.5,-2)', '[1,5)', '(0.5,1.75]', '["2024-01-01 00:00:00+00",)', DEFAULT, DEFAULT, DEFAULT, DEFAULT),
 (2, 32767, 9223372036854775807, 0, 99999999.99, 9999999999999999999999999999.9999999999, 99900, 99999999.99,
  3.4028235e38, 1.7976931348623157e308, '92233720368547758.07', false, '', '', '', '',
  '\x', 'ffffffff-ffff-ffff-ffff-ffffffffffff', 'null', '"text"', NULL,
  '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '',
  '9999-12-31', '24:00:00', '23:59:59.999', '24:00:00-15:59',
  '9999-12-31 23:59:59.999999', '9999-12-31 23:59:59.999', '9999-12-31 23:59:59', '9999-12-31 23:59:59.999999+00', '9999-12-31 23:59:59.999+00',
  '::1', '2001:db8::/32', 'ff:ff:ff:ff:ff:ff', '', 'sad',
  B'0', B'11111', B'', '', '(0,0)', 'empty', '(,)', 'empty', 'x', 0, '1970-01-01 00:00:00+00', 0),
 (3, -32768, -9223372036854775808, 1, -0.01, -0.0000000001, -100, 0,
  -1.17549435e-38, 5e-324, '-$0.01', NULL, 'line1
line2	tab', 'é', 'abcde', 'x',
  '\xdeadbeef', '00000000-0000-0000-0000-000000000000', '[]', '{}', '<a/>',
  '{7}', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
  '1969-12-31', '00:00:00.000001', '00:00:00.001', '00:00:00.000001+15:59',
  '1969-12-31 23:59:59.999999', '1969-12-31 23:59:59.999', '1969-12-31 23:59:59', '1969-12-31 23:59:59.999999+00', '0001-01-01 00:00:00+00',
  '10.1.2.3', '0.0.0.0/0', '00:00:00:00:00:00', 'a', 'ok',
  B'1', B'00001', B'1', 'x', '(-1e-5,1e20)', '(,5]', '[0,0]', '("1969-12-31 23:59:59.999999+00","2024-03-05 06:07:08.1+00"]', 'y', -1, '1969-12-31 23:59:59.5+00', -1);
INSERT INTO types (id, d_num, d_int) VALUES (4, NULL, NULL);

CREATE TABLE orders (id int PRIMARY KEY, customer text NOT NULL, amount numeric(12,2), note text, created timestamptz NOT NULL DEFAULT '2024-01-01 00:00+00');
INSERT INTO orders VALUES (1, 'ann', 10.00, 'first'), (2, 'bob', 20.50, NULL), (3, 'cid', NULL, 'third');
CREATE TABLE order_lines (id int, line_no int, sku varchar(20) NOT NULL, qty int NOT NULL DEFAULT 1, PRIMARY KEY (id, line_no));
INSERT INTO order_lines VALUES (1, 1, 'a-1', 2), (1, 2, 'b-2', DEFAULT), (2, 1, 'c-3', 0);
-- An update leaves what is stored apart out of its event.
CREATE TABLE toast (id int PRIMARY KEY, small int, b_text text, b_bytea bytea, b_texts text[]);
ALTER TABLE toast ALTER b_text SET STORAGE EXTERNAL, ALTER b_bytea SET STORAGE EXTERNAL, ALTER b_texts SET STORAGE EXTERNAL;
INSERT INTO toast VALUES (1, 1, repeat('t', 2100), decode(repeat('0a', 2100), 'hex'), ARRAY[repeat('x', 2100), NULL]), (2, 2, 'short', NULL, NULL), (3, 3, repeat('u', 2100), NULL, '{}');
