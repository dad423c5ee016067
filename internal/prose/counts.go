package prose

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Count is a number with commas, "41,320".
func Count(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// Plural is "1 broker", "2 brokers".
func Plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%s %ss", Count(int64(n)), word)
}

// Quoted is a list of quoted words, `"a", "b"`.
func Quoted(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = strconv.Quote(w)
	}
	return strings.Join(quoted, ", ")
}

// ShellWord quotes a word for the shell where it must be.
func ShellWord(s string) string {
	for _, r := range s {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune("._-/:=@,+", r), r >= 0x80:
		default:
			return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
		}
	}
	if s == "" {
		return "''"
	}
	return s
}

// Ranges joins names that end in a number, with runs as one: "orders-8..11, refunds-3".
// Of more than most runs it says how many there are.
func Ranges(names []string, most int) string {
	byStem := map[string][]int{}
	var stems []string
	for _, name := range names {
		i := strings.LastIndexByte(name, '-')
		n, err := strconv.Atoi(name[i+1:])
		if i <= 0 || err != nil {
			continue
		}
		stem := name[:i]
		if byStem[stem] == nil {
			stems = append(stems, stem)
		}
		byStem[stem] = append(byStem[stem], n)
	}
	slices.Sort(stems)
	var out []string
	for _, stem := range stems {
		numbers := byStem[stem]
		slices.Sort(numbers)
		for i, from := 1, 0; i <= len(numbers); i++ {
			switch {
			case i < len(numbers) && numbers[i] == numbers[i-1]+1:
				continue
			case i-1 > from:
				out = append(out, fmt.Sprintf("%s-%d..%d", stem, numbers[from], numbers[i-1]))
			default:
				out = append(out, fmt.Sprintf("%s-%d", stem, numbers[from]))
			}
			from = i
		}
	}
	return strings.Join(First(out, most), ", ")
}
