// Package config is penstockd's configuration: the structs, their defaults, the TOML reader and the checks.
//
// penstockd.toml in this folder is the full commented sample; it is embedded, and a test proves that it equals Default and
// that it names every key. Reading never stops at the first fault: Parse and Config.Check collect all of them, so that a
// user repairs a file in one go.
package config
