package spec

// These are arguments of CLIENT LIST and CLIENT KILL.
var (
	skipMe = OneOf("skipme", Tok("yes"), Tok("no")).Tokened("SKIPME").Opt()

	listedType = OneOf("client-type",
		Tok("normal"), Tok("master"), Tok("replica"), Tok("pubsub"),
	).Tokened("TYPE").Opt()

	killedType = OneOf("client-type",
		Tok("normal"), Tok("master").From("3.2.0"), Tok("slave"), Tok("replica").From("5.0.0"),
		Tok("pubsub"), Tok("primary").From("9.0.0"),
	).Tokened("TYPE").Opt()

	notListedType = OneOf("not-client-type",
		Tok("normal"), Tok("master"), Tok("replica"), Tok("pubsub"),
	).Tokened("NOT-TYPE").Opt().From("9.0.0")

	notKilledType = OneOf("not-client-type",
		Tok("normal"), Tok("master"), Tok("primary"), Tok("slave"), Tok("replica"), Tok("pubsub"),
	).Tokened("NOT-TYPE").Opt().From("9.0.0")
)

// withFilters appends the filters that Valkey 9.0 brought to CLIENT LIST and CLIENT KILL. notType
// is the opposite of TYPE.
func withFilters(notType Arg, args ...Arg) []Arg {
	args = append(args,
		Str("name").Tokened("NAME").Opt().From("9.0.0"),
		Int("idle").Tokened("IDLE").Opt().From("9.0.0"),
		Str("flags").Tokened("FLAGS").Opt().From("9.0.0"),
		Str("lib-name").Tokened("LIB-NAME").Opt().From("9.0.0"),
		Str("lib-ver").Tokened("LIB-VER").Opt().From("9.0.0"),
		Int("db").Tokened("DB").Opt().From("9.0.0"),
		Str("capa").Tokened("CAPA").Opt().From("9.0.0"),
		Str("ip").Tokened("IP").Opt().From("9.0.0"),
		notType,
		Int("not-client-id").Tokened("NOT-ID").Many().Opt().From("9.0.0"),
		Str("not-username").Tokened("NOT-USER").Opt().From("9.0.0"),
		Str("not-addr").Tokened("NOT-ADDR").Opt().From("9.0.0").Shown("ip:port"),
		Str("not-laddr").Tokened("NOT-LADDR").Opt().From("9.0.0").Shown("ip:port"),
		Str("not-name").Tokened("NOT-NAME").Opt().From("9.0.0"),
		Str("not-flags").Tokened("NOT-FLAGS").Opt().From("9.0.0"),
		Str("not-lib-name").Tokened("NOT-LIB-NAME").Opt().From("9.0.0"),
		Str("not-lib-ver").Tokened("NOT-LIB-VER").Opt().From("9.0.0"),
		Int("not-db").Tokened("NOT-DB").Opt().From("9.0.0"),
		Str("not-capa").Tokened("NOT-CAPA").Opt().From("9.0.0"),
		Str("not-ip").Tokened("NOT-IP").Opt().From("9.0.0"),
	)
	return args
}
