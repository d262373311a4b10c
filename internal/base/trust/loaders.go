package trust

import "strings"

// loaders are variables by which shells, the dynamic linker and interpreters load code that
// no argument names; a name that ends in * stands for all that begin so.
var loaders = []string{
	"BASH_ENV", "ENV", "ZDOTDIR", "SHELLOPTS", "BASHOPTS", "PS4", "BASH_FUNC_*", "FPATH", "KSH_*",
	"LD_*", "DYLD_*", "GCONV_PATH", "GLIBC_TUNABLES", "MALLOC_*",
	"PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PYTHONUSERBASE", "PYTHONBREAKPOINT", "PYTHONWARNINGS",
	"PYTHONINSPECT", "PYTHONPLATLIBDIR", "PYTHONEXECUTABLE",
	"PERL5*", "PERLLIB", "PERL_*", "RUBYOPT", "RUBYLIB", "RUBYSHELL", "GEM_HOME", "GEM_PATH", "BUNDLE_GEMFILE",
	"NODE_OPTIONS", "NODE_PATH", "NODE_REPL_*", "DENO_*", "BUN_*",
	"JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "CLASSPATH", "DOTNET_STARTUP_HOOKS", "DOTNET_*",
	"LUA_INIT*", "LUA_PATH*", "LUA_CPATH*", "PHPRC", "PHP_INI_SCAN_DIR", "R_PROFILE*", "R_ENVIRON*", "JULIA_*",
	"GUILE_*", "TCLLIBPATH", "ERL_*", "ELIXIR_*", "GIT_*", "OPENSSL_CONF", "OPENSSL_MODULES", "OPENSSL_ENGINES",
}

// LoadsCode reports whether a program loads code because of a variable of that name.
func LoadsCode(name string) bool {
	for _, known := range loaders {
		begin, open := strings.CutSuffix(known, "*")
		if name == known || open && strings.HasPrefix(name, begin) {
			return true
		}
	}
	return false
}
