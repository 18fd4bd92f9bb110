package main

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
)

// change is Debezium's envelope.
type change struct {
	Op            string
	Before, After *order
}

// order is a row, as Debezium has it.
type order struct {
	OrderID    int64  `json:"order_id"`
	CustomerID int64  `json:"customer_id"`
	Status     string `json:"status"`
	Country    string `json:"country"`
	SKU        string `json:"sku"`
	Quantity   int32  `json:"quantity"`
	Amount     cents  `json:"amount"`
	Tax        cents  `json:"tax"`
	CreatedAt  micros `json:"created_at"`
	UpdatedAt  micros `json:"updated_at"`
	Gift       bool   `json:"gift"`
	Address    string `json:"address"`
	Note       string `json:"note"`
}

// cents is a decimal(12,2).
type cents decimal128.Num

// UnmarshalJSON takes a number's text.
func (c *cents) UnmarshalJSON(b []byte) error {
	var text string
	if err := json.Unmarshal(b, &text); err != nil {
		return err
	}
	n, err := decimal128.FromString(text, 12, 2)
	*c = cents(n)
	return err
}

// micros is an instant.
type micros arrow.Timestamp

// UnmarshalJSON takes ISO's form.
func (m *micros) UnmarshalJSON(b []byte) error {
	var at time.Time
	if err := json.Unmarshal(b, &at); err != nil {
		return err
	}
	*m = micros(at.UnixMicro())
	return nil
}

// parse is the key of a change, and the row that it leaves; nil: none.
func parse(value []byte) (key int64, row *order, err error) {
	var c change
	if err := json.Unmarshal(value, &c); err != nil {
		return 0, nil, err
	}
	switch {
	case (c.Op == "c" || c.Op == "u" || c.Op == "r") && c.After != nil:
		return c.After.OrderID, c.After, nil
	case c.Op == "d" && c.Before != nil:
		return c.Before.OrderID, nil, nil
	}
	return 0, nil, fmt.Errorf("no change of a row that is known: op %q", c.Op)
}

func (o *order) appendTo(b *array.RecordBuilder) {
	b.Field(0).(*array.Int64Builder).Append(o.OrderID)
	b.Field(1).(*array.Int64Builder).Append(o.CustomerID)
	b.Field(2).(*array.StringBuilder).Append(o.Status)
	b.Field(3).(*array.StringBuilder).Append(o.Country)
	b.Field(4).(*array.StringBuilder).Append(o.SKU)
	b.Field(5).(*array.Int32Builder).Append(o.Quantity)
	b.Field(6).(*array.Decimal128Builder).Append(decimal128.Num(o.Amount))
	b.Field(7).(*array.Decimal128Builder).Append(decimal128.Num(o.Tax))
	b.Field(8).(*array.TimestampBuilder).Append(arrow.Timestamp(o.CreatedAt))
	b.Field(9).(*array.TimestampBuilder).Append(arrow.Timestamp(o.UpdatedAt))
	b.Field(10).(*array.BooleanBuilder).Append(o.Gift)
	b.Field(11).(*array.StringBuilder).Append(o.Address)
	b.Field(12).(*array.StringBuilder).Append(o.Note)
}
