package process

var (
	LimitFor  = limitFor
	UsedBytes = usedBytes
)
