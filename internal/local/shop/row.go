package shop

import (
	"encoding/binary"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/frazil/frazil/internal/local/lake"
	"github.com/google/uuid"
)

// columns are those of the table, but for the type of the first.
var columns = []lake.Column{
	{Name: "order_id", Required: true}, {Name: "customer_id", Type: "long"}, {Name: "status", Type: "string"},
	{Name: "country", Type: "string"}, {Name: "sku", Type: "string"}, {Name: "quantity", Type: "int"},
	{Name: "amount", Type: "decimal(12,2)"}, {Name: "tax", Type: "decimal(12,2)"}, {Name: "created_at", Type: "timestamptz"},
	{Name: "updated_at", Type: "timestamptz"}, {Name: "gift", Type: "boolean"}, {Name: "address", Type: "string"}, {Name: "note", Type: "string"},
}

var (
	statuses  = []string{"new", "paid", "packed", "shipped", "delivered", "returned"}
	countries = []string{"DE", "FR", "GB", "US", "NL", "IT", "ES", "PL", "JP", "BR"}
	notes     = []string{"deliver to the side door", "call before arrival", "leave with neighbour", "gift wrap requested", "fragile items inside",
		"customer prefers morning", "second attempt needed", "signature required"}
)

// order is a row: a pure function of its number and its version.
type order struct {
	id, customer     int64
	uuid             uuid.UUID
	status, country  string
	sku              []byte
	quantity         int32
	amount, tax      int64 // cents
	created, updated int64 // microseconds since 1970
	gift             bool
	address, note    []byte
}

const (
	firstOrder = 1735689600000000
	day        = 86_400_000_000
)

// draw makes o the order of a number in a version.
func (o *order) draw(id, version int64) {
	r := rand.New(rand.NewPCG(uint64(id), uint64(version)))
	o.id, o.customer = id, r.Int64N(200_000)
	o.uuid = identity(id)
	o.status, o.country = statuses[r.IntN(len(statuses))], countries[id*7%int64(len(countries))]
	o.sku = append(o.sku[:0], "SKU-"...)
	o.sku = strconv.AppendInt(o.sku, 10_000_000+r.Int64N(50_000), 10)
	o.quantity, o.amount, o.tax = 1+r.Int32N(20), r.Int64N(100_000_000), r.Int64N(2_000_000)
	o.created = firstOrder + id*31_000_000
	o.updated = o.created + version*day + r.Int64N(1_000_000)
	o.gift = r.IntN(10) == 0
	o.address = strconv.AppendInt(o.address[:0], r.Int64N(900), 10)
	o.address = append(o.address, " Long Street, "...)
	o.address = hexadecimal(o.address, r)
	o.address = append(o.address, ", floor "...)
	o.address = strconv.AppendInt(o.address, r.Int64N(30), 10)
	o.note = o.note[:0]
	for range 3 {
		o.note = append(o.note, notes[r.IntN(len(notes))]...)
		o.note = append(o.note, "; "...)
	}
	o.note = hexadecimal(o.note, r)
}

// identity is the UUID of an order.
func identity(id int64) (u uuid.UUID) {
	r := rand.New(rand.NewPCG(uint64(id), 1<<63))
	binary.BigEndian.PutUint64(u[:8], r.Uint64())
	binary.BigEndian.PutUint64(u[8:], r.Uint64())
	u[6], u[8] = u[6]&0x0f|0x40, u[8]&0x3f|0x80
	return u
}

func hexadecimal(b []byte, r *rand.Rand) []byte {
	for range 2 {
		b = strconv.AppendUint(b, r.Uint64(), 16)
	}
	return b
}

// appendTo adds the order to a batch with the table's columns.
func (o *order) appendTo(b *array.RecordBuilder) {
	switch key := b.Field(0).(type) {
	case *array.Int64Builder:
		key.Append(o.id)
	case *extensions.UUIDBuilder:
		key.Append(o.uuid)
	}
	b.Field(1).(*array.Int64Builder).Append(o.customer)
	b.Field(2).(*array.StringBuilder).Append(o.status)
	b.Field(3).(*array.StringBuilder).Append(o.country)
	b.Field(4).(*array.StringBuilder).Append(string(o.sku))
	b.Field(5).(*array.Int32Builder).Append(o.quantity)
	b.Field(6).(*array.Decimal128Builder).Append(decimal128.FromI64(o.amount))
	b.Field(7).(*array.Decimal128Builder).Append(decimal128.FromI64(o.tax))
	b.Field(8).(*array.TimestampBuilder).Append(arrow.Timestamp(o.created))
	b.Field(9).(*array.TimestampBuilder).Append(arrow.Timestamp(o.updated))
	b.Field(10).(*array.BooleanBuilder).Append(o.gift)
	b.Field(11).(*array.StringBuilder).Append(string(o.address))
	b.Field(12).(*array.StringBuilder).Append(string(o.note))
}

// appendKey adds the key's columns as a JSON object.
func (o *order) appendKey(b []byte, key Key) []byte {
	b = append(b, '{')
	if key == Composite {
		b = append(b, `"country":"`...)
		b = append(b, o.country...)
		b = append(b, `",`...)
	}
	b = o.appendID(b, key)
	return append(b, '}')
}

func (o *order) appendID(b []byte, key Key) []byte {
	b = append(b, `"order_id":`...)
	if key != UUID {
		return strconv.AppendInt(b, o.id, 10)
	}
	b = append(b, '"')
	b = append(b, o.uuid.String()...)
	return append(b, '"')
}

// appendRow adds the order as a JSON object: decimals as text, times in ISO's form.
func (o *order) appendRow(b []byte, key Key) []byte {
	b = append(b, '{')
	b = o.appendID(b, key)
	b = append(b, `,"customer_id":`...)
	b = strconv.AppendInt(b, o.customer, 10)
	b = text(b, "status", o.status)
	b = text(b, "country", o.country)
	b = text(b, "sku", string(o.sku))
	b = append(b, `,"quantity":`...)
	b = strconv.AppendInt(b, int64(o.quantity), 10)
	b = text(b, "amount", decimal128.FromI64(o.amount).ToString(2))
	b = text(b, "tax", decimal128.FromI64(o.tax).ToString(2))
	b = text(b, "created_at", instant(o.created))
	b = text(b, "updated_at", instant(o.updated))
	b = append(b, `,"gift":`...)
	b = strconv.AppendBool(b, o.gift)
	b = text(b, "address", string(o.address))
	b = text(b, "note", string(o.note))
	return append(b, '}')
}

// text adds a member of which the value needs no escapes.
func text(b []byte, name, value string) []byte {
	b = append(b, `,"`...)
	b = append(b, name...)
	b = append(b, `":"`...)
	b = append(b, value...)
	return append(b, '"')
}

func instant(micros int64) string {
	return time.UnixMicro(micros).UTC().Format("2006-01-02T15:04:05.000000Z")
}
