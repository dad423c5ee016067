//go:build realkafka

package realtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What the package needs, found once.
var (
	binary       string // kgdiag, built from this tree
	python       string // interpreter with the Python clients
	classpath    string // of the Java clients
	nodeModules  string // folder with KafkaJS
	saramaClient string // program
	repository   = filepath.Join("..", "..")
)

// franzEnv marks a run of this test binary as a franz-go client of the laboratory.
const franzEnv = "KGDIAG_LAB_FRANZ"

func TestMain(m *testing.M) {
	if os.Getenv(franzEnv) != "" {
		os.Exit(franzMain(os.Args[1:]))
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "kgdiag-realtest-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "kgdiag")
	build := exec.Command("go", "build", "-o", binary, repository)
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
		return 1
	}
	for name, into := range map[string]*string{"python": &python, "java": &classpath, "node": &nodeModules, "sarama": &saramaClient} {
		setup := exec.Command(filepath.Join(repository, "scripts", "lab", "setup"), name)
		setup.Stderr = os.Stderr
		out, err := setup.Output()
		if err != nil {
			fmt.Fprintf(os.Stderr, "scripts/lab/setup %s: %v\n", name, err)
			return 1
		}
		*into = strings.TrimSpace(string(out))
	}
	return m.Run()
}
