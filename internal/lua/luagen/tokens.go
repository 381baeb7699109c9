package luagen

import "regexp"

// token matches a token of Lua and the white space before it. Long strings have at most two signs.
var token = regexp.MustCompile(`(?s)\s*(?:--\[\[.*?\]\]|--[^\n]*|\[\[.*?\]\]|\[=\[.*?\]=\]|` +
	`\[==\[.*?\]==\]|'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|[A-Za-z_]\w*|0[xX][0-9a-fA-F]+|` +
	`(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|\.\.\.|\.\.|[=~<>]=|.|$)`)

// Tokens splits a script into its tokens, each with the white space before it. Joined they are the
// script again.
func Tokens(src string) []string { return token.FindAllString(src, -1) }
