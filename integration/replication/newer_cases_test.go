package replication

// newerCase is commands that Redis 7.0 does not know, alone or with such arguments. What they
// change goes to replicas, and to the log.
type newerCase struct {
	// of are the commands, or arguments of commands (command.argument), as package spec names them.
	of string
	// commands are separated by semicolons. @ stands for what the names of a run's keys begin with.
	commands string
}

// group makes a stream whose group has the entries pending.
const group = "XADD @x 0-2 f v; XDEL @x 0-2; XADD @x 1-1 f v; XADD @x 2-1 f v; XADD @x 3-1 f v; " +
	"XADD @x 4-1 f v; XGROUP CREATE @x g 0; XGROUP CREATE @x h 0; " +
	"XREADGROUP GROUP g c STREAMS @x >; XREADGROUP GROUP h d COUNT 3 STREAMS @x >; "

// square is a polygon around a place.
const square = "BYPOLYGON 4 12 37 14 37 14 39 12 39"

// translated are propagated in words that Redis 7.0 knows.
var translated = []newerCase{
	{"lmovem", "RPUSH @l a b c d 5 6 7 8 9; LMOVEM @l @k LEFT RIGHT; " +
		"LMOVEM @l @k LEFT RIGHT COUNT 2 OBO; LMOVEM @l @k LEFT LEFT EXACTLY 2 OBO; " +
		"LMOVEM @l @k RIGHT RIGHT COUNT 2 BULK; LMOVEM @l @k LEFT RIGHT COUNT 99 BULK"},
	{"lmovem", "RPUSH @l a b c d; PEXPIREAT @l 4102444800000; " +
		"LMOVEM @l @l LEFT RIGHT COUNT 9 OBO; LMOVEM @l @l LEFT LEFT EXACTLY 4 OBO; " +
		"LMOVEM @l @l RIGHT RIGHT COUNT 4 BULK; LMOVEM @l @l RIGHT LEFT COUNT 3 OBO; " +
		"LMOVEM @l @l LEFT LEFT COUNT 2 OBO; LMOVEM @l @l RIGHT RIGHT COUNT 2 OBO"},
	{"blmovem", "RPUSH @l a b c; BLMOVEM @l @k LEFT RIGHT 0; " +
		"BLMOVEM @l @k RIGHT LEFT 0 COUNT 2 BULK"},
	{"zunionstore.count zinterstore.count", "ZADD @a 5 x 6 y; ZADD @b 7 y 8 z; " +
		"ZUNIONSTORE @u 2 @a @b AGGREGATE COUNT; " +
		"ZINTERSTORE @i 2 @a @b WEIGHTS 0.1 inf AGGREGATE COUNT; SET @e 1; " +
		"ZINTERSTORE @e 2 @a @none AGGREGATE COUNT; " +
		"ZUNIONSTORE @none 1 @none AGGREGATE COUNT; ZUNIONSTORE @a 2 @a @b AGGREGATE COUNT"},
	{"bitop.diff bitop.diff1 bitop.andor bitop.one", "SET @a abc; SET @b bcde; SET @c 7; " +
		"BITOP DIFF @1 @a @b; BITOP DIFF1 @2 @a @b @c; BITOP ANDOR @3 @a @b @c; " +
		"BITOP ONE @4 @a @b; BITOP ONE @c @none @none; BITOP DIFF @none @none @none; " +
		"BITOP DIFF @a @a @b"},
	{"geosearchstore.polygon", "GEOADD @g 13.3 38.1 a 15.0 37.5 b; " +
		"GEOSEARCHSTORE @p @g " + square + "; GEOSEARCHSTORE @d @g " + square + " STOREDIST; " +
		"SET @e 1; GEOSEARCHSTORE @e @none " + square + "; GEOADD @f 1 1 a; " +
		"GEOSEARCHSTORE @f @f " + square},
	{"hsetex hsetex.key-condition", "HSETEX @h NX FIELDS 2 a 1 b 2; HSETEX @h XX FIELDS 1 b 3; " +
		"HSETEX @h FXX FIELDS 1 a 4; HSETEX @h FNX KEEPTTL FIELDS 1 c 5"},
	{"hgetdel", "HSET @h a 1 b 2; HGETDEL @h FIELDS 2 a z; HGETDEL @h FIELDS 1 b"},
	{"move.replace", "SET @m 1; SELECT 3; SET @m 2; SELECT 0; MOVE @m 3 REPLACE; SET @m 3; " +
		"MOVE @m 4 REPLACE"},
	{"set.ifeq-value set.ifne-value set.ifdeq-digest set.ifdne-digest",
		"SET @s a; SET @s b IFEQ a; SET @s c IFNE x EX 10000; SET @s d IFEQ c KEEPTTL; " +
			"SET @s e IFDNE 0000000000000000; SET @s a; SET @s f IFDEQ e6c632b61e964e1f GET"},
	{"delex delifeq", "SET @s a; DELEX @s IFEQ a; SET @s b; DELEX @s; SET @s c; DELIFEQ @s c"},
	{"increx", "INCREX @n; INCREX @n BYINT 5 EX 10000; INCREX @f BYFLOAT 1.5"},
	{"msetex", "MSETEX 2 @a 1 @b 2; MSETEX 2 @a 3 @b 4 PXAT 4102444800000 XX; " +
		"MSETEX 1 @a 5 KEEPTTL"},
	{"cl.throttle", "CL.THROTTLE @u 15 30 60; CL.THROTTLE @u 15 30 60 5"},
	{"xdelex", group + "XDELEX @x KEEPREF IDS 1 1-1; XDELEX @x DELREF IDS 2 1-1 2-1; " +
		"XACK @x g 3-1; XDELEX @x ACKED IDS 2 3-1 4-1; XACK @x h 3-1; " +
		"XDELEX @x ACKED IDS 2 3-1 4-1"},
	{"xackdel", group + "XACKDEL @x g KEEPREF IDS 1 1-1; XACKDEL @x g DELREF IDS 2 2-1 9-9; " +
		"XACKDEL @x g ACKED IDS 1 3-1; XACKDEL @x h ACKED IDS 1 3-1; XACKDEL @x g IDS 1 4-1"},
	{"xadd.condition", group + "XADD @x KEEPREF 5-1 f v; XADD @x ACKED 5-2 f v; " +
		"XADD @x KEEPREF MAXLEN 5 5-3 f v; XADD @x MAXLEN = 4 DELREF 5-4 f v; XACK @x g 2-1; " +
		"XACK @x g 1-1 3-1; XACK @x h 3-1; XADD @x ACKED MINID ~ 5 LIMIT 100 5-* f v; " +
		"XADD @x NOMKSTREAM ACKED MAXLEN 1 * f v; XADD @x DELREF MAXLEN 0 * f v"},
	{"xadd.condition", group + "XACK @x g 1-1 2-1 4-1; XACK @x h 2-1; " + // 2-1 goes, 1-1 stays
		"XADD @x ACKED MAXLEN 1 9-1 f v; XADD @x ACKED MINID = 9 9-2 f v"},
	{"xtrim.condition", group + "XACK @x g 1-1 3-1; XACK @x h 3-1; XTRIM @x ACKED MAXLEN 0; " +
		"XTRIM @x MAXLEN = 2 KEEPREF; XACK @x h 1-1; XTRIM @x MINID 2 ACKED; " +
		"XTRIM @x DELREF MAXLEN ~ 0 LIMIT 0; XTRIM @x DELREF MINID 99"},
	{"xreadgroup.min-idle-time xreadgroup.maxcount xreadgroup.maxsize", group +
		"XREADGROUP GROUP g e CLAIM 0 STREAMS @x >; " +
		"XREADGROUP GROUP h e MAXCOUNT 1 MAXSIZE 1000 STREAMS @x >"},
}

// special are what replicas may lack, by the word with which the log names it.
var special = map[string][]newerCase{
	"sketches": {
		{"", "BF.ADD @b a"}, {"", "CF.ADD @b a"}, {"", "CMS.INITBYDIM @b 10 2"},
		{"", "TOPK.RESERVE @b 3"}, {"", "TDIGEST.CREATE @b"},
	},
	"producers": {
		{"xadd.idmp", "XADD @x IDMP p i * f v; XADD @x IDMP p i * f v"},
		{"xadd.idmp", "XADD @x DELREF IDMPAUTO p * f v; XADD @x IDMPAUTO p MAXLEN 1 * f w"},
		{"xcfgset", "XADD @x 1-1 f v; XCFGSET @x IDMP-DURATION 200 IDMP-MAXSIZE 50"},
		{"xidmprecord", "XADD @x 1-1 f v; XIDMPRECORD @x p i 1-1"},
	},
	"NACKed": {
		{"xnack", group + "XNACK @x g FAIL IDS 1 1-1"},
		{"xnack", group + "XNACK @x g SILENT IDS 1 1-1; XNACK @x h FATAL IDS 1 2-1; " +
			"XREADGROUP GROUP g e CLAIM 0 STREAMS @x >; XACK @x h 2-1"},
	},
	"deadlines": fieldCases,
}

// fieldCases are known to Redis 8 and Valkey 9.
var fieldCases = []newerCase{
	{"hexpire", "HSET @h a 1 b 2; HEXPIRE @h 10000 FIELDS 1 a"},
	{"hexpireat", "HSET @h a 1 b 2; HEXPIREAT @h 4102444800 FIELDS 1 a; HINCRBYFLOAT @h a 0.5"},
	{"hpexpire hpersist", "HSET @h a 1 b 2; HPEXPIRE @h 10000000 FIELDS 2 a b; " +
		"HPERSIST @h FIELDS 1 a"},
	{"hpexpireat", "HSET @h a 1 b 2; HPEXPIREAT @h 4102444800000 FIELDS 1 a; HSET @h a 5"},
	{"hsetex", "HSETEX @h EX 10000 FIELDS 2 a 1 b 2; HSETEX @h KEEPTTL FIELDS 1 a 3; " +
		"HSETEX @h FIELDS 1 b 3"},
	{"hsetex.key-condition", "HSETEX @h NX PX 10000000 FIELDS 1 a 1; " +
		"HSETEX @h XX FXX EX 20000 FIELDS 1 a 2"},
	{"hgetex", "HSET @h a 1 b 2; HGETEX @h EX 10000 FIELDS 2 a b; HGETEX @h PERSIST FIELDS 1 a"},
}
