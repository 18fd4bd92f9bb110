-- Every type that Debezium sends whole; keys are id, which INSERT … SELECT makes more of.
CREATE DATABASE shop;
USE shop;
CREATE TABLE types (
  id int PRIMARY KEY,
  c_tiny tinyint, c_tiny1 tinyint(1), c_bool boolean, c_utiny tinyint unsigned, c_small smallint, c_usmall smallint unsigned, c_medium mediumint, c_umedium mediumint unsigned,
  c_int int, c_uint int unsigned, c_big bigint, c_ubig bigint unsigned, c_zerofill int(8) unsigned zerofill,
  c_dec_10_2 decimal(10,2), c_dec_38_10 decimal(38,10), c_udec decimal(10,2) unsigned, c_float float, c_double double,
  c_bit1 bit(1), c_bit5 bit(5), c_bit64 bit(64),
  c_char char(5), c_varchar varchar(50), c_latin1 varchar(20) CHARACTER SET latin1, c_text text, c_longtext longtext, c_binary binary(4), c_varbinary varbinary(10), c_blob blob, c_longblob longblob,
  c_enum enum('sad','ok','fine'), c_set set('a','b','c'), c_json json, c_uuid uuid,
  c_date date, c_time time, c_time3 time(3), c_time6 time(6), c_datetime datetime, c_datetime3 datetime(3), c_datetime6 datetime(6), c_ts timestamp NULL, c_ts6 timestamp(6) NULL, c_year year,
  c_point point,
  d_int int DEFAULT 42, d_dec decimal(10,2) DEFAULT 9.99, d_text varchar(10) NOT NULL DEFAULT 'dflt', g_sum int AS (c_small + 1) STORED
) CHARACTER SET utf8mb4;
INSERT INTO types VALUES
 (1, -5, 1, true, 250, 12345, 54321, -8000000, 16000000, 2147483647, 4294967295, 9007199254740993, 18446744073709551615, 42,
  12345678.90, 1234567890123456789012345678.0123456789, 19.90, 0.1, 0.1,
  b'1', b'10000', b'1000000000000000000000000000000000000000000000000000000000000001',
  'ab', 'ü € 😀', 'é', 'line1\nline2', 'long', x'00ff', x'00ff10', x'deadbeef', x'', 'ok', 'c,a', '{"b": 1, "a":  [1, 2.50, 1e3]}', '6f9619ff-8b86-d011-b42d-00c04fc964ff',
  '2024-03-05', '06:07:08', '06:07:08.123', '06:07:08.123456', '2024-03-05 06:07:08', '2024-03-05 06:07:08.123', '2024-03-05 06:07:08.123456', '2024-03-05 06:07:08', '2024-03-05 06:07:08.123456', 2024,
  ST_PointFromText('POINT(1.5 -2)'), DEFAULT, DEFAULT, DEFAULT, DEFAULT),
 (2, -128, 0, false, 0, -32768, 0, 8388607, 0, -2147483648, 2147483648, -9223372036854775808, 9223372036854775808, 0,
  -0.01, -0.0000000001, 0, 1.5, 1.7976931348623157e308,
  b'0', b'11111', 0,
  '', '', '', '', '', x'', x'', x'', x'00', 'fine', '', 'null', 'ffffffff-ffff-ffff-ffff-ffffffffffff',
  '9999-12-31', '838:59:59', '838:59:59.000', '-838:59:59.000000', '9999-12-31 23:59:59', '9999-12-31 23:59:59.999', '9999-12-31 23:59:59.999999', '2038-01-19 03:14:07', '2038-01-19 03:14:07.999999', 2155,
  ST_PointFromText('POINT(0 0)'), 0, 0, '', DEFAULT),
 (3, 127, 2, 5, 1, 0, 1, 0, 1, 0, 0, 0, 0, 99999999,
  0, 0, 0, -2.25, 5e-324,
  b'1', b'00001', 1,
  'x', 'y', 'z', NULL, NULL, x'deadbeef', x'01', NULL, NULL, 'ok', 'a,b,c', '"text"', NULL,
  '1000-01-01', '-00:00:01', '-12:34:56.789', '-00:00:00.000001', '1000-01-01 00:00:00', '1969-12-31 23:59:59.999', '1969-12-31 23:59:59.999999', '1970-01-01 00:00:01', '1970-01-01 00:00:01.000001', 1901,
  NULL, -1, -1, 'n', DEFAULT);
INSERT INTO types (id, d_int, d_dec) VALUES (4, NULL, NULL);
CREATE TABLE orders (id int PRIMARY KEY, customer varchar(40) NOT NULL, amount decimal(12,2), note text, created timestamp(6) NOT NULL DEFAULT '2024-01-01 00:00:00');
INSERT INTO orders (id, customer, amount, note) VALUES (1, 'ann', 10.00, 'first'), (2, 'bob', 20.50, NULL), (3, 'cid', NULL, 'third');
CREATE TABLE order_lines (id int, line_no int, sku varchar(20) NOT NULL, qty int NOT NULL DEFAULT 1, PRIMARY KEY (id, line_no));
INSERT INTO order_lines VALUES (1, 1, 'a-1', 2), (1, 2, 'b-2', 1), (2, 1, 'c-3', 0);
