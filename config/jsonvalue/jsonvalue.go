// Package jsonvalue has the values of YAML as JSON has them.
package jsonvalue

import (
	"encoding/json"
	"math"
	"strconv"

	"gopkg.in/yaml.v3"
)

// Of returns the value of a scalar; the error is for one that JSON cannot hold.
func Of(n *yaml.Node) (any, error) {
	switch n.ShortTag() {
	case "!!null":
		return nil, nil
	case "!!bool":
		var b bool
		err := n.Decode(&b)
		return b, err
	case "!!int", "!!float":
		return number(n)
	}
	return n.Value, nil
}

// number keeps integers, which YAML can write in more ways than JSON.
func number(n *yaml.Node) (any, error) {
	var i int64
	if n.ShortTag() == "!!int" && n.Decode(&i) == nil {
		return json.Number(strconv.FormatInt(i, 10)), nil
	}
	var f float64
	if err := n.Decode(&f); err != nil {
		return nil, err
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, strconv.ErrRange
	}
	return json.Number(strconv.FormatFloat(f, 'g', -1, 64)), nil
}
