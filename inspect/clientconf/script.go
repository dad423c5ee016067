package clientconf

import (
	"path/filepath"
	"strings"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/pattern"
)

// Shell scripts and Dockerfiles: the variables that they set and the options of the
// commands that they run.
var (
	_ = register(dialect{name: "script", sniff: sniffScript, read: readScript})

	dockerEnv   = pattern.New(`^(?:ENV|ARG)\s+(.*)$`)
	dockerPair  = pattern.New(`([A-Za-z_][A-Za-z0-9_.]*)(?:=|\s+)("[^"]*"|\S+)`)
	ofKcat      = pattern.New(`\bkafkacat\b|\bkcat\b`)
	commandWord = pattern.New(`"[^"]*"|'[^']*'|[^\s,\[\]]+`)
)

func sniffScript(name string, data []byte) int {
	ext := filepath.Ext(name)
	if _, program := languages[ext]; program || interpreted.Match(data) {
		return 0
	}
	if ext != ".sh" && ext != ".bash" && ext != ".bat" && ext != ".cmd" && ext != ".service" && !strings.HasPrefix(string(data), "#!") && !isDockerfile(name, data) {
		return 0
	}
	if configs, err := readScript(name, data, Options{}); err == nil && len(configs) > 0 {
		return 80
	}
	return 0
}

// interpreted is the first line of a program that no shell runs.
var interpreted = pattern.New(`^#![^\n]*\b(?:python|ruby|node|php|perl)`)

func isDockerfile(name string, data []byte) bool {
	return strings.HasPrefix(filepath.Base(name), "Dockerfile") || dockerLine.Match(data)
}

// readScript makes one consumer of all that a script says.
func readScript(name string, data []byte, o Options) ([]inspect.ClientConfig, error) {
	vars := envVariables(data)
	var words []variable
	for i, line := range strings.Split(string(data), "\n") {
		if comment.MatchString(line) {
			continue
		}
		if m := dockerEnv.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			for _, p := range dockerPair.FindAllStringSubmatch(m[1], -1) {
				vars = append(vars, variable{p[1], strings.Trim(p[2], `"`), i + 1})
			}
			continue
		}
		for _, w := range commandWord.FindAllString(line, -1) {
			words = append(words, variable{value: strings.Trim(w, `"'\`), line: i + 1})
		}
	}
	if o.Family == "" && ofKcat.Match(data) {
		o.Family = inspect.Librdkafka
	}
	return fromVariables(name, "script", "", append(vars, argumentsOf(words)...), 1, o), nil
}
