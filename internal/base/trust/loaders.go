package trust

import (
	"slices"
	"strings"
)

// loaders are variables by which shells, the dynamic linker and interpreters load code that
// no argument names; a name that ends in * stands for all that begin so.
var loaders = []string{
	"BASH_*", "ENV", "ZDOTDIR", "SHELLOPTS", "BASHOPTS", "PS4", "FPATH", "KSH_*", "CDPATH", "PSMODULEPATH",
	"LD_*", "DYLD_*", "GCONV_PATH", "GLIBC_TUNABLES", "MALLOC_*", "GTK_MODULES", "GIO_*_MODULES", "QT_PLUGIN_PATH",
	"PYTHON*", "PERL*", "RUBY*", "JRUBY_OPTS", "GEM_*", "BUNDLE_*",
	"NODE_OPTIONS", "NODE_PATH", "NODE_REPL_*", "ELECTRON_*", "NPM_CONFIG_*", "DENO_*", "BUN_*",
	"JAVA_*", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "CLASSPATH", "MAVEN_*", "GRADLE_*",
	"DOTNET_*", "CORECLR_*", "COR_*", "COMPLUS_*",
	"LUA_*", "PHP*", "R_PROFILE*", "R_ENVIRON*", "R_LIBS*", "JULIA_*", "AWKPATH", "AWKLIBPATH",
	"GUILE_*", "TCL*", "ERL_*", "ELIXIR_*", "OCAML*", "CAML_*", "GHC*", "GIT_*", "OPENSSL_CONF", "OPENSSL_MODULES",
	"OPENSSL_ENGINES", "MAKEFLAGS", "MAKEFILES", "GNUMAKEFLAGS", "GOFLAGS", "CARGO_*", "RUSTC*", "RUSTFLAGS",
	"LESSOPEN", "PAGER", "*_PAGER", "EDITOR", "VISUAL", "*_EDITOR", "*_ASKPASS", "RIPGREP_CONFIG_PATH",
	"CURL_HOME", "WGETRC",
}

// harmless are names that loaders have and that load nothing.
var harmless = []string{
	"PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", "PYTHONIOENCODING", "PYTHONUTF8", "PYTHONHASHSEED", "JAVA_HOME",
	"GIT_TERMINAL_PROMPT", "CARGO_TERM_COLOR",
}

// LoadsCode reports whether a program loads code because of a variable of that name.
func LoadsCode(name string) bool {
	name = strings.ToUpper(name) // npm and PowerShell know theirs in any case
	return !slices.Contains(harmless, name) && slices.ContainsFunc(loaders, func(known string) bool {
		begin, end, open := strings.Cut(known, "*")
		fits := strings.HasPrefix(name, begin) && strings.HasSuffix(name[len(begin):], end)
		return name == known || open && fits
	})
}
