//go:build ssh && !windows

package cmd_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// sshd is where the server lies on Linux and macOS; it has to be called by its whole path.
const sshd = "/usr/sbin/sshd"

// overSSH gives the command that runs another one on this machine as ssh runs it: on a
// terminal of the server's, with the login's environment. Nothing listens: each
// connection has a server of its own, on a pipe.
func overSSH(t *testing.T, command string) string {
	t.Helper()
	dir := t.TempDir()
	for _, key := range []string{"host", "user"} {
		run(t, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(dir, key))
	}
	conf := filepath.Join(dir, "sshd_config")
	check(t, os.WriteFile(conf, []byte(strings.Join([]string{"HostKey " + dir + "/host", "AuthorizedKeysFile " + dir + "/user.pub",
		"StrictModes no", "UsePAM no", "PrintMotd no", "PrintLastLog no", "PidFile none", "PermitRootLogin yes", ""}, "\n")), 0o600))
	return "ssh -q -tt -F none -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o IdentitiesOnly=yes -i " + dir + "/user" +
		" -o ProxyCommand='" + sshd + " -i -e -f " + conf + "' kgdiag.test '" + command + "'"
}

// run is what a program prints.
func run(t *testing.T, program string, args ...string) string {
	t.Helper()
	out, err := exec.Command(program, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", program, args, err, out)
	}
	return string(out)
}

// tmux is a server of tmux with one window of 80x24, in which a command runs.
type tmux struct {
	t      *testing.T
	socket string
}

// inTmux runs a command of the shell, and keeps the window when it has ended.
func inTmux(t *testing.T, command string) tmux {
	t.Helper()
	x := tmux{t, filepath.Join(t.TempDir(), "tmux")}
	check(t, os.WriteFile(x.socket+".conf", []byte("set -s set-clipboard on\n"), 0o600))
	run(t, "tmux", "-S", x.socket, "-f", x.socket+".conf", "new-session", "-d", "-x", "80", "-y", "24", command+`; echo "ended with $?"; exec cat`)
	t.Cleanup(func() { _ = exec.Command("tmux", "-S", x.socket, "kill-server").Run() }) // a fault may have ended it
	return x
}

func (x tmux) run(args ...string) string {
	x.t.Helper()
	return run(x.t, "tmux", append([]string{"-S", x.socket}, args...)...)
}

// await waits until what the window shows matches.
func (x tmux) await(pattern string) string {
	x.t.Helper()
	re := regexp.MustCompile(pattern)
	deadline := time.After(scriptTime)
	for {
		s := x.run("capture-pane", "-p")
		if re.MatchString(s) {
			return s
		}
		select {
		case <-deadline:
			x.t.Fatalf("the window never matched %q:\n%s", pattern, s)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// As from a bastion: top on the other end of ssh, in tmux, whatever the terminal calls
// itself. It fits, follows a resize, copies through both, uses the sixteen colours or
// none, and leaves the terminal as it was, with the page of why on it.
func TestTopThroughSSHInTmux(t *testing.T) {
	program, err := exec.LookPath("kgdiag")
	check(t, err)
	c := overrun(t)
	colour := regexp.MustCompile(`\x1b\[[0-9;]*m`)
	for _, term := range []string{"xterm", "screen", "linux", "xterm-256color", "NO_COLOR"} {
		t.Run(term, func(t *testing.T) {
			name, env := term, ""
			if term == "NO_COLOR" {
				name, env = "xterm", "NO_COLOR=1 "
			}
			x := inTmux(t, "TERM="+name+" "+overSSH(t, "HOME="+t.TempDir()+" TZ=UTC "+env+"exec "+program+" top -b "+c.Addrs()[0]))
			x.await(`(?s)2 groups .*LIVE.*>orders +\w+ .*exceeded poll interval.*q quit`)
			x.run("send-keys", "Enter")
			x.await(`(?s)-- orders: coordinator \d.*WHY   client consumer-orders-2.*FIX   if its host and what it calls are fast: max\.poll\.interval\.ms=300000`)
			painted := colour.FindAllString(x.run("capture-pane", "-e", "-p"), -1)
			hues := slices.DeleteFunc(painted, func(s string) bool { return !regexp.MustCompile(`[\[;][349]\d`).MatchString(s) })
			if wanted := term != "NO_COLOR"; wanted != slices.ContainsFunc(hues, func(s string) bool { return strings.Contains(s, "3") }) {
				t.Errorf("coloured %v: %q", !wanted, hues)
			}
			if i := slices.IndexFunc(hues, func(s string) bool { return regexp.MustCompile(`[34]8[;:]|4[0-7]`).MatchString(s) }); i >= 0 {
				t.Errorf("%q: not one of the sixteen colours on the terminal's own background", hues[i])
			}
			x.run("send-keys", "y")
			x.await(`sent to the clipboard, of orders: max\.poll\.interval\.ms=300000`)
			if got := x.run("show-buffer"); got != "# if its host and what it calls are fast\nmax.poll.interval.ms=300000" {
				t.Errorf("copied %q", got)
			}
			x.run("resize-window", "-x", "120", "-y", "40")
			x.await(`(?m)^-- orders: .*-{30}$`)
			x.run("resize-window", "-x", "60", "-y", "20")
			x.await(`(?m)^-- orders: .{49}$`)
			if got := x.run("display", "-p", "#{alternate_on} #{mouse_any_flag}"); got != "1 0\n" {
				t.Errorf("alternate screen, and the mouse taken: %s", got)
			}
			x.run("send-keys", "q")
			x.await(`ended with 0`)
			if got := x.run("display", "-p", "#{alternate_on} #{cursor_flag}"); got != "0 1\n" {
				t.Errorf("alternate screen, cursor: %s", got)
			}
			if page := x.run("capture-pane", "-p", "-J", "-S", "-"); !regexp.MustCompile(`(?s)orders  UNSTABLE: .*WHY   client consumer-orders-2 .*FIX   if its host and what it calls are fast: max\.poll\.interval\.ms=300000.*next  kgdiag watch orders`).MatchString(page) {
				t.Errorf("the page of why does not stay:\n%s", page)
			}
		})
	}
}
