package process

var (
	LimitFor  = limitFor
	LiveBytes = liveBytes
)
