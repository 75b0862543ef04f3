package google

import "time"

func init() { firstPause = time.Millisecond }
