package dockeragent_test

import _ "github.com/hookd/hookd/internal/contract/dialect" // the contract table: the tests of package dockeragent cannot import it
