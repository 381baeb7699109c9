package engine

const (
	// RedisVersion is the level of compatibility that INFO and HELLO report.
	RedisVersion = "7.2.4"
	// RedisVersionNum is RedisVersion as one number, 0xMMmmpp.
	RedisVersionNum = 0x00070204
	// Version is Godwit's own.
	Version = "0.1.0"
)
